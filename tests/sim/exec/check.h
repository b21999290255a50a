// check.h - what the programs of this folder share: a failed CHECK ends the program with 1.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#define CHECK(c) do { if (!(c)) { printf("%s:%d: %s is not so\n", __FILE__, __LINE__, #c); exit(1); } } while (0)
#define CUDA(call) do { cudaError_t error_ = (call); if (error_ != cudaSuccess) { \
  printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); exit(1); } } while (0)

/*
** fake_cuda.h - what the test double of libcuda.so.1 lets a test see and set. Its
** "device memory" is host memory and its kernels are four: "poke" writes one byte
** (arguments: address, value), "fault" leaves a sticky error, "heavy" only has limits,
** "cawb_sweep" stands for the one that the device itself brings.
*/
#ifndef CAWB_FAKE_CUDA_H
#define CAWB_FAKE_CUDA_H

#include <cuda.h>
#include <stdint.h>

typedef struct fake_cuda {
  int live;                    /* things made and not yet undone */
  unsigned calls, fail_call;   /* of fallible calls; the fail_call-th gives fail_with */
  CUresult fail_with;
  CUresult sticky;             /* what every fallible call gives from now on */
  unsigned late;               /* that many samples or queues find the flush or the wait already over */
  unsigned slow;               /* that many readings of the SM clock find 1 GHz, not 2 */
  uint64_t cycles, ns;         /* of the SM */
  unsigned launches, clusters, memsets, graphs, resets;
  unsigned waits;              /* queues of launches that were timed one by one */
  int empty;                   /* the last launch was of a kernel that does nothing: an event behind it has less time */
  int opted_shared;            /* the last opt-in to dynamic shared memory */
  uint32_t counter;            /* the one __device__ variable: launches since it was put back */
  CUresult init, attach;       /* what cuInit and cuIpcOpenMemHandle give */
  int maps;                    /* 1: memory can be mapped; a kernel's write outside faults */
} fake_cuda;

#endif

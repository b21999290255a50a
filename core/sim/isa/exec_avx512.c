/* exec_avx512.c - the executor for x86-64 with AVX-512. See exec_body.h. */
#if defined(__x86_64__)
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt,lzcnt,f16c," \
  "avx512f,avx512vl,avx512bw,avx512dq,avx512cd"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt,lzcnt,f16c", \
  "avx512f,avx512vl,avx512bw,avx512dq,avx512cd,prefer-vector-width=512")
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math")
#endif
#define SIM_ISA sim_isa_avx512
#define SIM_ISA_NAME "AVX-512"
#include "sim/isa/exec_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
#include "sim/isa/isas.h"
const sim_isa sim_isa_avx512 = { 0, 0, 0, 0, 0, 0 };    /* never chosen: see isas.c */
#endif

/* isas.c - which instruction sets this machine has. */
#include "sim/isa/isas.h"

const sim_isa *sim_isa_best(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd")) return &sim_isa_avx512;
  if (v3) return &sim_isa_avx2;
#endif
  return &sim_isa_base;
}

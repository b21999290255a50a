/* exec_base.c - the executor for any machine. See exec_body.h. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math")
#endif
#define SIM_ISA sim_isa_base
#define SIM_ISA_NAME "generic"
#include "sim/isa/exec_body.h"

/* isas.h - the instruction sets that the executor is compiled for. */
#ifndef CAWB_SIM_ISA_ISAS_H
#define CAWB_SIM_ISA_ISAS_H

#include "sim/exec/isa.h"

extern const sim_isa sim_isa_base, sim_isa_avx2, sim_isa_avx512;
const sim_isa *sim_isa_best(void);      /* that this machine has */

#endif

/*
** mbarrier.h - barrier objects in shared memory. An object is 64 bits: arrivals still due (20 bits),
** arrivals of a phase (20), bytes still due (22, signed), the phase's parity, and whether it is one
** at all.
*/
#ifndef CAWB_SIM_ACCESS_MBARRIER_H
#define CAWB_SIM_ACCESS_MBARRIER_H

#include "sim/exec/exec.h"

/* Where a lane's barrier object is, and in which block. NULL: the fault has been noted. */
unsigned char *sim_mbarrier_at(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, sim_exec **owner, int how);

/* What the object of lane l holds, it being one: SIM_NEXT or SIM_FAULT. */
int sim_mbarrier_read(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, unsigned char **place,
                      uint64_t *value);

void sim_mbarrier_bytes(unsigned char *place, int64_t bytes);       /* more of them are due, or less */

#endif

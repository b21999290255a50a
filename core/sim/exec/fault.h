/* fault.h - what ends a launch is noted here; sim/watch/report.c puts it into words. */
#ifndef CAWB_SIM_EXEC_FAULT_H
#define CAWB_SIM_EXEC_FAULT_H

#include "sim/exec/exec.h"

/* Each returns SIM_FAULT. An access by a lane to a space; `write` is READ, WRITE or ATOMIC. */
int sim_fault_memory(sim_warp *w, const sim_insn *in, int kind, unsigned lane, uint64_t addr, unsigned size,
                     int space, int write);
int sim_fault_text(sim_warp *w, const sim_insn *in, const char *text);       /* of the first lane of w->mask */
int sim_fault_no_room(sim_warp *w, const sim_insn *in);

/* "softmax_rows, kernel.cu line 12", or without the line where PTX says none. */
void sim_place(char *out, size_t room, const char *kernel, uint32_t line);

#endif

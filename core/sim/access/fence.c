/* fence.c - fences and waits for other launches; memory has one order here, so that all they do is to be noted. */
#include "sim/instructions/functions.h"
#include "sim/watch/ahead.h"
#include "sim/watch/order.h"

int op_fence(sim_warp *w, const sim_insn *in) {
  if (in->mode) sim_order_fence(w);
  return SIM_NEXT;
}

int op_grid_wait(sim_warp *w, const sim_insn *in) {
  (void)in;
  sim_ahead_waited(w);
  return SIM_NEXT;
}

/* fence.c - fences; memory has one order here, so that all they do is to be noted. */
#include "sim/instructions/functions.h"
#include "sim/watch/order.h"

int op_fence(sim_warp *w, const sim_insn *in) {
  if (in->mode) sim_order_fence(w);
  return SIM_NEXT;
}

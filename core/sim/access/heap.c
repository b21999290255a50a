/* heap.c - malloc and free of kernels; see sim/memory/heap.h. Kernels with these have one block after the other. */
#include "sim/memory/heap.h"

#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/lanes.h"

/* The lanes of a warp come one after the other, and so do all calls on the device (sim/time/model.c). */
static void spend(sim_warp *w) {
  const sim_model *m = w->exec->device->model;
  int lanes = __builtin_popcount(w->mask);
  w->exec->counts.calls += (unsigned)lanes;
  sim_spend_seconds(w, m->heap_call + (lanes - 1) * m->heap_lane);
}

int op_heap_alloc(sim_warp *w, const sim_insn *in) {
  const u64 *size = SIM_PLACE(u64, w, in->r[1]);
  u64 *d = SIM_PLACE(u64, w, in->r[0]);
  for (unsigned l = 0; l < SIM_LANES; l++)
    if (w->mask >> l & 1) d[l] = sim_heap_alloc(w->exec->device, size[l]);
  spend(w);
  return SIM_NEXT;
}

int op_heap_free(sim_warp *w, const sim_insn *in) {
  const u64 *a = SIM_PLACE(u64, w, in->r[1]);
  spend(w);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1) || a[l] == 0 || sim_heap_free(w->exec->device, a[l])) continue;
    w->mask = 1u << l;
    return sim_fault_text(w, in, "free() of an address that malloc() has not given, or that is free already");
  }
  return SIM_NEXT;
}

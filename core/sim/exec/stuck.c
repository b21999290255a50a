/* stuck.c - nobody of a block can go on: who waits where, in words. */
#include "sim/exec/barrier.h"
#include "sim/exec/fault.h"
#include "sim/exec/groups.h"

#include <stdio.h>

/* Warps of a warpgroup that wait at wgmma.mma_async for those that never come. */
static int stuck_group(sim_exec *x) {
  for (unsigned i = 0; i < x->nwarps; i++)
    for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
      sim_warp *w = &x->warps[i];
      if (w->group[k].state != SIM_AT_GROUP) continue;
      char text[200];
      unsigned first = i & ~3u, here = 0;
      for (unsigned q = first; q < first + 4; q++) here += sim_group_waiting(&x->warps[q], w->group[k].pc) != NULL;
      snprintf(text, sizeof text, "wgmma.mma_async was reached by %u of the warps %u to %u, the others wait elsewhere "
               "or have ended: all four warps of a warpgroup must execute it, whole", here, first, first + 3);
      w->mask = w->group[k].mask;
      return sim_fault_text(w, &x->function->code[w->group[k].pc], text);
    }
  return SIM_NEXT;
}

/* Nobody can go on: say who waits where. */
int sim_stuck(sim_exec *x) {
  char text[200];
  if (stuck_group(x) != SIM_NEXT) return SIM_FAULT;
  for (unsigned id = 0; id < 16; id++) {
    const sim_barrier *b = &x->barrier[id];
    if (b->arrived == 0) continue;
    snprintf(text, sizeof text, "barrier %u was reached by %u of %u threads of the block; the others wait "
             "elsewhere: every thread must reach every __syncthreads()", id, b->arrived, sim_barrier_expects(x, b));
    for (unsigned i = 0; i < x->nwarps; i++)
      for (unsigned k = 0; k < x->warps[i].ngroups; k++) {
        const sim_group *g = &x->warps[i].group[k];
        if (g->state != SIM_AT_BLOCK || g->barrier != id) continue;
        x->warps[i].mask = g->mask;
        return sim_fault_text(&x->warps[i], &x->function->code[g->pc], text);
      }
  }
  for (unsigned i = 0; i < x->nwarps; i++)
    if (x->warps[i].ngroups > 0) {
      const sim_group *g = &x->warps[i].group[0];
      x->warps[i].mask = g->mask;
      if (g->state == SIM_AT_CLUSTER)
        return sim_fault_text(&x->warps[i], &x->function->code[g->pc], "not all threads of the cluster come to "
                             "its barrier: every thread of every block must reach every cluster.sync()");
      snprintf(text, sizeof text, "a warp-wide instruction waits for lanes that never come to it "
               "(lanes 0x%08x are there): its mask must name exactly the lanes that execute it", g->mask);
      return sim_fault_text(&x->warps[i], &x->function->code[g->pc], text);
    }
  return SIM_FAULT;
}

/* groups.c - the groups of lanes of a warp. See groups.h. */
#include "sim/exec/groups.h"

/* The lowest pc of the ready groups that do not run. */
static void find_next(sim_warp *w) {
  w->next = UINT32_MAX;
  for (unsigned i = 0; i < w->ngroups; i++)
    if (w->group[i].state == SIM_READY && w->group[i].pc < w->next) w->next = w->group[i].pc;
}

void sim_group_park(sim_warp *w, uint32_t pc, uint32_t mask, unsigned state, unsigned barrier) {
  if (mask == 0) return;
  for (unsigned i = 0; i < w->ngroups; i++) {
    sim_group *g = &w->group[i];
    if (g->pc == pc && g->state == state) { g->mask |= mask; return; }
  }
  w->group[w->ngroups++] = (sim_group){ pc, mask, (uint16_t)state, (uint16_t)barrier };
}

/* Groups that wait for lanes which have exited since may go on. */
static void retry_waiting(sim_warp *w) {
  if (w->live == w->waited) return;
  w->waited = w->live;
  for (unsigned i = 0; i < w->ngroups; i++)
    if (w->group[i].state == SIM_AT_WARP) w->group[i].state = SIM_READY;
}

/* Run the ready group with the lowest pc, and all that are there. 0: none is ready. */
int sim_group_choose(sim_warp *w) {
  find_next(w);
  if (w->next == UINT32_MAX) {
    retry_waiting(w);
    find_next(w);
  }
  w->active = 0;
  if (w->next == UINT32_MAX) return 0;
  w->pc = w->next;
  for (unsigned i = 0; i < w->ngroups;) {
    if (w->group[i].state == SIM_READY && w->group[i].pc == w->pc) {
      w->active |= w->group[i].mask;
      w->group[i] = w->group[--w->ngroups];
    } else i++;
  }
  find_next(w);
  return 1;
}

/* The ready group behind the one that has run for so long, else the first one. */
void sim_group_switch(sim_warp *w) {
  sim_group *found = NULL;
  if (w->active == 0) return;
  for (unsigned i = 0; i < w->ngroups; i++) {
    sim_group *g = &w->group[i];
    if (g->state == SIM_READY && g->pc > w->pc && (found == NULL || g->pc < found->pc)) found = g;
  }
  for (unsigned i = 0; found == NULL && i < w->ngroups; i++)
    if (w->group[i].state == SIM_READY && w->group[i].pc == w->next) found = &w->group[i];
  if (found == NULL) return;
  sim_group next = *found;
  *found = w->group[--w->ngroups];
  sim_group_park(w, w->pc, w->active, SIM_READY, 0);
  w->pc = next.pc;
  w->active = next.mask;
  w->next = UINT32_MAX;                        /* it does not wait for those behind it */
}

/* Lanes `w->mask` go to w->target, the rest of the group goes on. */
void sim_group_split(sim_warp *w) {
  uint32_t stay = w->active & ~w->mask;
  w->exec->counts.divergent++;
  sim_group_park(w, w->target, w->mask, SIM_READY, 0);
  sim_group_park(w, w->pc + 1, stay, SIM_READY, 0);
  w->active = 0;
}

/* brx leaves the lanes of other targets at the same instruction. */
void sim_group_scatter(sim_warp *w, uint32_t guarded) {
  sim_group_park(w, w->target, w->mask, SIM_READY, 0);
  sim_group_park(w, w->pc, guarded & ~w->mask, SIM_READY, 0);
  sim_group_park(w, w->pc + 1, w->active & ~guarded, SIM_READY, 0);
  w->active = 0;
}

/* The group of lanes of a warp that waits for the others of its warpgroup here, or NULL. */
sim_group *sim_group_waiting(sim_warp *q, uint32_t pc) {
  for (unsigned i = 0; i < q->ngroups; i++)
    if (q->group[i].state == SIM_AT_GROUP && q->group[i].pc == pc) return &q->group[i];
  return NULL;
}

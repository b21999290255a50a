/*
** warpgroup.c - how the four warps of a warpgroup come together for a product, and what must not
** happen around it. A product is carried out when the last of the four has come to it, the earliest
** that hardware may. Until it is waited for, it may still read its factors: a store there is
** reported, and so is a look at the accumulators. Stores that a product reads need
** fence.proxy.async behind them, by their warp or by one of the four.
*/
#include "sim/access/async.h"
#include "sim/access/operand.h"
#include "sim/access/shared.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/groups.h"
#include "sim/exec/isa.h"
#include "sim/exec/operands.h"
#include "sim/exec/warp.h"
#include "sim/memory/device.h"
#include "sim/watch/race.h"

#include <stdio.h>

static sim_warp *wg_first(const sim_warp *w) { return w->exec->warps + (w->index & ~3u); }

/* SIM_NEXT: all four are here, and the others go on behind it. */
static int wg_meet(sim_warp *w, const sim_insn *in) {
  sim_warp *q = wg_first(w);
  if ((w->index | 3) >= w->exec->nwarps || q[3].lanes != SIM_ALL)
    return sim_fault_text(w, in, "wgmma needs warpgroups of four whole warps: a block's threads must be a multiple of "
                          "128");
  if (w->live != SIM_ALL) return sim_fault_text(w, in, "wgmma needs all threads of a warp, and some have exited");
  for (unsigned i = 0; i < 4; i++)
    if (q + i != w && sim_group_waiting(q + i, w->pc) == NULL) return SIM_WAIT_GROUP;
  for (unsigned i = 0; i < 4; i++) {
    if (q + i == w) continue;
    sim_group *g = sim_group_waiting(q + i, w->pc);
    g->state = SIM_READY;
    g->pc++;
  }
  w->exec->regrouped = 1;
  return SIM_NEXT;
}

/* The descriptor that all threads of the warpgroup have, and whether D is added to. 0: they differ. */
static int wg_agree(const sim_warp *q, sim_ref r, uint64_t *out) {
  *out = lane_of(q, r, 8, 0);
  for (unsigned i = 0; i < 4; i++)
    for (unsigned l = 0; l < SIM_LANES; l++) if (lane_of(q + i, r, 8, l) != *out) return 0;
  return 1;
}

static int wg_agree_keep(const sim_warp *q, const sim_insn *in, int *keep) {
  uint32_t first = SIM_MASK_OF(q, in->r[3]);
  *keep = (first != 0) != ((in->flags & WG_KEEP_NOT) != 0);
  for (unsigned i = 0; i < 4; i++) if (SIM_MASK_OF(q + i, in->r[3]) != first) return 0;
  return first == 0 || first == SIM_ALL;
}

/* Whether a factor lies in the block's shared memory. */
static int wg_inside(sim_warp *w, const sim_insn *in, const wg_tile *t, char which) {
  char text[200];
  uint32_t size = w->exec->shared_size, most = 0;
  for (unsigned i = 0; i < t->pieces; i++) if (t->at[i] > most) most = t->at[i];
  w->exec->counts.operands += t->pieces * WG_PIECE / 128;
  if (most + WG_PIECE <= size) return SIM_NEXT;
  snprintf(text, sizeof text, "wgmma reads %c up to byte %u of the block's %u bytes of shared memory: its descriptor "
           "has start %u, leading offset %u, stride offset %u, swizzle %u", which, most + WG_PIECE, size, t->start,
           t->leading, t->stride, t->swizzle == 1 ? 0 : t->swizzle * WG_PIECE);
  return sim_fault_text(w, in, text);
}

/* ----------------------------------------------------------------- findings */

/* Plain stores are for the generic proxy; see the head of this file. */
static int wg_fenced(const sim_warp *w, uint32_t note) {
  uint32_t epoch = note >> 8;
  if (epoch == 0 || epoch < w->exec->first_epoch || (note & (SHADOW_MANY | SHADOW_ATOMIC))) return 1;
  const sim_warp *q = wg_first(w);
  int fenced = w->exec->warps[note & SHADOW_WARP].fenced >= epoch;
  for (unsigned i = 0; i < 4; i++) fenced |= q[i].fenced >= epoch;
  return fenced;
}

static void wg_check_fences(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n) {
  sim_exec *x = w->exec;
  for (uint32_t i = first; i < first + n; i++) {
    if (wg_fenced(w, x->writers[i])) continue;
    if (!sim_race_first(w, in, SIM_RACE_PROXY, READ)) return;
    x->race.place = (uint64_t)i << x->grain;
    x->race.other = x->lines[i];
    x->race.other_warp = (int)(x->writers[i] & SHADOW_WARP);
    return;
  }
}

static void wg_hold(sim_exec *x, const wg_tile *t, int begins) {
  uint32_t units = WG_PIECE >> x->grain;
  for (unsigned i = 0; i < t->pieces; i++)
    for (uint32_t k = t->at[i] >> x->grain, end = k + units; k < end; k++) {
      if (begins && x->reading[k] < 255) x->reading[k]++, x->flying++;
      else if (!begins && x->reading[k] > 0) x->reading[k]--, x->flying--;
    }
}

/* A factor is read, a piece by the warp that has its rows, or (of B) by all four: two of them
   are as many as the notes tell apart. */
static void wg_read(sim_warp *w, const sim_insn *in, const wg_tile *t, int shared) {
  sim_exec *x = w->exec;
  sim_warp *q = wg_first(w), *other = q + (w == q ? 1 : 0);
  uint32_t units = WG_PIECE >> x->grain;
  for (unsigned i = 0; i < t->pieces; i++) {
    uint32_t first = t->at[i] >> x->grain;
    unsigned rows = t->turned ? i % t->along / 2 : i / t->along / WG_QUARTER;
    if (x->flying > 0) sim_shared_check_units(w, in, first, units, READ);
    shadow_range(shared ? w : q + rows, in, first, units, READ);
    if (shared) shadow_range(other, in, first, units, READ);
    wg_check_fences(w, in, first, units);
  }
}

/* More products that nobody waits for are not followed. */
enum { WG_PRODUCTS = 1 << 16 };

/* 0: out of memory. */
static int wg_begin(sim_warp *w, const sim_insn *in, uint64_t a, uint64_t b) {
  sim_exec *x = w->exec;
  if (x->nproducts == x->products_room) {
    uint32_t room = x->products_room == 0 ? 16 : 2 * x->products_room;
    sim_product *grown = realloc(x->products, room * sizeof *grown);
    if (grown == NULL) return 0;
    x->products = grown;
    x->products_room = room;
  }
  x->products[x->nproducts++] = (sim_product){ in, a, b, w->closed, (uint8_t)(w->index & ~3u), 15, 1 };
  return 1;
}

/* All that is looked at when a product begins. */
static int wg_watch(sim_warp *w, const sim_insn *in, const wg_tile *ta, const wg_tile *tb, uint64_t a, uint64_t b) {
  sim_exec *x = w->exec;
  const sim_warp *q = wg_first(w);
  if (!x->checks) return SIM_NEXT;
  if (!(q[0].ordered & q[1].ordered & q[2].ordered & q[3].ordered)) sim_race_first(w, in, SIM_RACE_ORDER, READ);
  if (!(in->flags & WG_REGISTERS)) wg_read(w, in, ta, 0);
  wg_read(w, in, tb, 1);
  if (x->nproducts == WG_PRODUCTS) return SIM_NEXT;
  if (!wg_begin(w, in, a, b)) return sim_fault_no_room(w, in);
  if (!(in->flags & WG_REGISTERS)) wg_hold(x, ta, 1);
  wg_hold(x, tb, 1);
  return SIM_NEXT;
}

/* One warp has waited for it: hardware is done with the memory of all four. */
static void wg_return(sim_exec *x, sim_product *l) {
  wg_tile t;
  if (!l->reads) return;
  l->reads = 0;
  sim_wg_places_b(&t, l->in, l->b);
  wg_hold(x, &t, 0);
  if (l->in->flags & WG_REGISTERS) return;
  sim_wg_places_a(&t, l->in, l->a);
  wg_hold(x, &t, 0);
}

/* --------------------------------------------------------------- operations */

int op_wgmma(sim_warp *w, const sim_insn *in) {
  wg_tile ta, tb;
  uint64_t a = 0, b;
  int keep, event;
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  if ((event = wg_meet(w, in)) != SIM_NEXT) return event;
  sim_warp *q = wg_first(w);
  int registers = in->flags & WG_REGISTERS;
  if ((!registers && !wg_agree(q, in->r[1], &a)) || !wg_agree(q, in->r[2], &b) || !wg_agree_keep(q, in, &keep))
    return sim_fault_text(w, in, "wgmma needs the same descriptors, and the same scale-d, in all 128 threads of a "
                          "warpgroup");
  if (!registers) sim_wg_places_a(&ta, in, a);
  sim_wg_places_b(&tb, in, b);
  if (!registers && wg_inside(w, in, &ta, 'A') != SIM_NEXT) return SIM_FAULT;
  if (wg_inside(w, in, &tb, 'B') != SIM_NEXT || wg_watch(w, in, &ta, &tb, a, b) != SIM_NEXT) return SIM_FAULT;
  w->exec->device->isa->product(q, in, &ta, &tb, keep);
  return SIM_NEXT;
}

int op_wgmma_fence(sim_warp *w, const sim_insn *in) {
  (void)in;
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  w->ordered = 1;
  return SIM_NEXT;
}

int op_wgmma_commit(sim_warp *w, const sim_insn *in) {
  (void)in;
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  w->closed++;
  return SIM_NEXT;
}

/* All groups but the last `imm` that the warp has closed are done. */
int op_wgmma_wait(sim_warp *w, const sim_insn *in) {
  sim_exec *x = w->exec;
  uint32_t kept = 0, bit = 1u << (w->index & 3);
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  for (uint32_t i = 0; i < x->nproducts; i++) {
    sim_product l = x->products[i];
    if (l.first == (w->index & ~3u) && l.group + in->value < w->closed) {
      wg_return(x, &l);
      l.left &= (uint8_t)~bit;
    }
    if (l.left != 0) x->products[kept++] = l;
  }
  x->nproducts = kept;
  return SIM_NEXT;
}

/* Whether a register is an accumulator of a product that the warp has not waited for. */
static const sim_product *wg_under_way(const sim_warp *w, sim_ref r) {
  const sim_exec *x = w->exec;
  for (uint32_t i = 0; i < x->nproducts; i++) {
    const sim_product *l = &x->products[i];
    if (l->first != (w->index & ~3u) || !(l->left >> (w->index & 3) & 1)) continue;
    const sim_ref *d = x->function->extras + l->in->extra;
    for (unsigned k = 0; k < sim_accumulators(l->in); k++) if (d[k].base == r.base && d[k].off == r.off) return l;
  }
  return NULL;
}

/* Around instructions that read accumulators (sim/read/wgmma.c), which may be too early. */
int op_wgmma_early(sim_warp *w, const sim_insn *in) {
  const sim_product *l = NULL;
  if (w->exec->nproducts == 0) return in->inner(w, in);
  for (unsigned k = 0; k < 5 && l == NULL; k++)
    if (sim_reads(in, k)) l = wg_under_way(w, in->r[k]);
  if (l != NULL && sim_race_first(w, in, SIM_RACE_EARLY, READ)) w->exec->race.other = l->in->line;
  return in->inner(w, in);
}

int op_fence_proxy(sim_warp *w, const sim_insn *in) {
  (void)in;
  w->fenced = w->exec->epoch;
  return SIM_NEXT;
}

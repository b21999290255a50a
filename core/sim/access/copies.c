/* copies.c - cp.async: copies of a thread, in groups. See async.h. */
#include "sim/access/async.h"

#include "sim/access/global.h"
#include "sim/access/shared.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/watch/uninitialised.h"

void sim_copy_flight(sim_exec *x, uint32_t at, uint32_t size, int begins) {
  if (!x->checks) return;
  for (uint32_t i = at >> x->grain; i < (at + size) >> x->grain; i++) {
    if (begins && x->flight[i] < 255) x->flight[i]++;
    else if (!begins && x->flight[i] > 0) x->flight[i]--;
  }
  uint32_t units = size >> x->grain;
  x->flying = begins ? x->flying + units : x->flying > units ? x->flying - units : 0;
}

/* Room for 32 more copies of a warp; NULL when memory ends. */
static sim_copy *copies_of(sim_warp *w) {
  if (w->ncopies + SIM_LANES > w->copies_room) {
    uint32_t room = w->copies_room == 0 ? 256 : 2 * w->copies_room;
    sim_copy *grown = realloc(w->copies, room * sizeof *grown);
    if (grown == NULL) return NULL;
    w->copies = grown;
    w->copies_room = room;
  }
  return w->copies;
}

/* Bytes that each lane takes. Mode 1: r[3] has them, 2: none where it holds. */
static void taken(const sim_warp *w, const sim_insn *in, unsigned size, uint8_t *take) {
  const u32 *asked = in->mode == 1 ? SIM_PLACE(u32, w, in->r[3]) : NULL;
  uint32_t skip = in->mode == 2 ? SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0) : 0;
  for (unsigned l = 0; l < SIM_LANES; l++)
    take[l] = (uint8_t)(skip >> l & 1 ? 0 : asked != NULL && asked[l] < size ? asked[l] : size);
}

/* A lane that takes a part reads no further than that. */
static int read_part(sim_warp *w, const sim_insn *in, uint64_t from, unsigned take, const unsigned char **host) {
  const sim_region *r = sim_region_at(w->exec->device, from);
  unsigned lane = (unsigned)__builtin_ctz(w->mask);
  if (r == NULL || from - r->base >= r->size || r->size - (from - r->base) < take)
    return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, lane, from, take, SIM_GLOBAL, READ);
  sim_global_range(w, r, from - r->base, from - r->base + take, READ);
  *host = r->host + (from - r->base);
  return SIM_NEXT;
}

/* Lanes that take nothing have no address: pipelines fill what lies beyond a tensor with zeros. */
static int read_sources(sim_warp *w, const sim_insn *in, const uint64_t *from, unsigned size, const uint8_t *take,
                        const unsigned char **host) {
  uint32_t mask = w->mask, whole = 0;
  sim_where at = { 0 };
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES; l++) whole |= (mask >> l & 1 && take[l] == size ? 1u : 0u) << l;
  w->mask = whole;
  if (whole != 0) event = global_access(w, in, from, size, READ, 1, &at);
  if (event == SIM_NEXT && at.written != NULL) sim_uninitialised_check(w, in, &at, from);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    host[l] = whole >> l & 1 ? at.host + (from[l] - at.base) : NULL;
    w->mask = 1u << l;
    if ((mask & ~whole) >> l & 1 && take[l] > 0) event = read_part(w, in, from[l], take[l], &host[l]);
  }
  w->mask = mask;
  return event;
}

int op_cp_async(sim_warp *w, const sim_insn *in) {
  uint32_t to[SIM_LANES];
  uint64_t from[SIM_LANES];
  uint8_t take[SIM_LANES];
  const unsigned char *host[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = shared_addresses(w, in, in->r[2], in->wide & 4, (int32_t)in->to_offset, size, WRITE, to);
  addresses(w, in, in->r[1], in->wide & 2, in->offset, from);
  taken(w, in, size, take);
  if (event == SIM_NEXT) event = read_sources(w, in, from, size, take, host);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_cp_async);
  if (event == SIM_NEXT) event = shared_access(w, in, to, size, WRITE, &pattern);
  if (event != SIM_NEXT) return event;
  if (copies_of(w) == NULL) return sim_fault_no_room(w, in);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    w->copies[w->ncopies++] = (sim_copy){ host[l], to[l], w->commits[l], in->line, (uint8_t)l, (uint8_t)size, take[l] };
    sim_copy_flight(w->exec, to[l], size, 1);
  }
  return SIM_NEXT;
}

static void deliver(sim_warp *w, const sim_insn *in, const sim_copy *c) {
  sim_exec *x = w->exec;
  if (c->take > 0) memcpy(x->shared + c->to, c->from, c->take);
  memset(x->shared + c->to + c->take, 0, c->size - c->take);
  sim_copy_flight(x, c->to, c->size, 0);
  shadow_range(w, in, c->to >> x->grain, c->size >> x->grain, WRITE);
  w->fenced = x->epoch;                        /* wgmma may read it as it is */
}

void sim_copy_deliver(sim_warp *w, const sim_insn *in, uint32_t keep) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->ncopies; i++) {
    const sim_copy *c = &w->copies[i];
    int due = keep == UINT32_MAX || c->group + keep < w->commits[c->lane];
    if ((w->mask >> c->lane & 1) && due) deliver(w, in, c);
    else w->copies[kept++] = *c;
  }
  w->ncopies = kept;
}

int op_cp_commit(sim_warp *w, const sim_insn *in) {
  (void)in;
  for (unsigned l = 0; l < SIM_LANES; l++) w->commits[l] += w->mask >> l & 1;
  return SIM_NEXT;
}

int op_cp_wait(sim_warp *w, const sim_insn *in) {
  if (w->ncopies > 0) sim_copy_deliver(w, in, (uint32_t)in->value);
  return SIM_NEXT;
}

/* undefined.c - where undefined values come from, and what of them is left in shared and local memory. See undefined.h. */
#include "sim/watch/undefined_note.h"

#include "sim/watch/shadow.h"
#include "sim/watch/uninitialised.h"

/* Nothing is undefined yet. NULL: it cannot be followed. */
static struct sim_undefined *begin(sim_warp *w) {
  struct sim_undefined *u = w->undefined_kept;
  uint32_t size = w->exec->function->regs_size / 4 + 1;
  if (w->exec->function->nframes > 0) return NULL;         /* calls put registers away, and get them back */
  if (u == NULL) u = w->undefined_kept = calloc(1, sizeof *u + (size_t)size * 5);
  else if (u->registers > 0) memset(u->lanes, 0, (size_t)size * 4);
  if (u == NULL) return NULL;
  u->size = size;
  u->from = (uint8_t *)(u->lanes + size);
  u->registers = u->carry = u->norigins = 0;
  return u;
}

/* This load's; NULL: there are too many. */
static sim_origin *origin_of(struct sim_undefined *u, const sim_insn *in, int space) {
  uint32_t i = 0;
  while (i < u->norigins && (u->origins[i].in != in || u->origins[i].space != space)) i++;
  if (i == SIM_ORIGINS) return NULL;
  if (i == u->norigins) u->origins[u->norigins++] = (sim_origin){ .in = in, .space = space };
  return &u->origins[i];
}

static void note(sim_warp *w, const sim_insn *in, sim_origin *from, unsigned lane, unsigned k, uint64_t place, int space) {
  struct sim_undefined *u = w->undefined;
  if (from == NULL) { sim_uninitialised_note(w, in, space, lane, place); return; }
  if (!(from->lanes >> lane & 1)) from->place[lane] = place;
  from->lanes |= 1u << lane;
  undefined_put(u, element(in, k).off, 1u << lane, 1u << lane, (uint32_t)(from - u->origins));
}

static int unset_in_shared(const sim_exec *x, uint32_t addr, unsigned width) {
  for (uint32_t i = addr >> x->grain; i <= (addr + width - 1) >> x->grain; i++)
    if (x->writers[i] >> 8 < x->first_epoch) return 1;
  return 0;
}

static int unset_in_local(const sim_warp *w, uint64_t addr, unsigned width) {
  for (unsigned i = 0; i < width; i++) if (w->local_set[addr + i]) return 0;
  return 1;
}

/* `near`: addresses in shared memory; else `far`, in the warp's local memory. */
static int load(sim_warp *w, const sim_insn *in, const uint32_t *near, const uint64_t *far) {
  int space = near != NULL ? SIM_SHARED : SIM_LOCAL, begins = w->undefined == NULL;
  if (begins) w->undefined = begin(w);
  sim_origin *from = w->undefined != NULL ? origin_of(w->undefined, in, space) : NULL;
  if (from != NULL) from->lanes &= ~w->mask;
  for (unsigned l = 0; l < SIM_LANES; l++)
    for (unsigned k = 0; k < in->vec && (w->mask >> l & 1); k++) {
      uint64_t at = (near != NULL ? near[l] : far[l]) + (uint64_t)k * in->width;
      int unset = near != NULL ? unset_in_shared(w->exec, (uint32_t)at, in->width) : unset_in_local(w, at, in->width);
      if (!unset) continue;
      note(w, in, from, l, k, near != NULL ? at : at - (uint64_t)l * w->exec->local_stride, space);
      if (from == NULL) return SIM_NEXT;
    }
  return begins ? SIM_UNDEFINED : SIM_NEXT;
}

int sim_undefined_shared(sim_warp *w, const sim_insn *in, const uint32_t *addr) {
  w->exec->unset = 0;
  return load(w, in, addr, NULL);
}

int sim_undefined_local(sim_warp *w, const sim_insn *in, const uint64_t *addr) { return load(w, in, NULL, addr); }

static uint32_t undefined_lanes(const sim_warp *w, const sim_insn *in, unsigned k) {
  sim_ref r = element(in, k);
  return r.base == SIM_REGS ? w->undefined->lanes[r.off / 4] & w->mask : 0;
}

void sim_undefined_kept(sim_warp *w, const sim_insn *in, const uint32_t *addr) {
  const sim_exec *x = w->exec;
  for (unsigned k = 0; k < in->vec; k++)
    for (uint32_t left = undefined_lanes(w, in, k); left != 0; left &= left - 1) {
      uint32_t at = addr[__builtin_ctz(left)] + k * in->width;
      for (uint32_t i = at >> x->grain; i <= (at + in->width - 1) >> x->grain; i++) x->writers[i] = 0;
    }
}

void sim_undefined_kept_local(sim_warp *w, const sim_insn *in, const uint64_t *addr) {
  for (unsigned k = 0; k < in->vec; k++)
    for (uint32_t left = undefined_lanes(w, in, k); left != 0; left &= left - 1)
      memset(w->local_set + addr[__builtin_ctz(left)] + (size_t)k * in->width, 0, in->width);
}

void sim_undefined_free(sim_warp *w) {
  free(w->undefined_kept);
  w->undefined = w->undefined_kept = NULL;
}

/*
** body_memory.h - loads, stores and what they cost. A warp's 32 addresses are
** looked at together: all of them side by side (dense), all the same, or mixed.
*/

/* CROSSED: mixed, and some lanes share a place. */
enum { MIXED, DENSE, SAME, CROSSED };
enum { READ, WRITE, ATOMIC };
enum { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC };

static int memory_fault(sim_warp *w, const sim_insn *in, int kind, unsigned lane,
                        uint64_t addr, unsigned size, int space, int write) {
  sim_fault *f = &w->exec->fault;
  f->kind = kind;
  f->insn = in;
  f->warp = w->index;
  f->lane = lane;
  f->addr = addr;
  f->size = size;
  f->space = (unsigned)space;
  f->write = write;
  return SIM_FAULT;
}

static inline void addresses(const sim_warp *w, const sim_insn *in, sim_ref r, int wide,
                             int64_t offset, uint64_t *out) {
  if (wide) {
    const u64 *a = SIM_PLACE(u64, w, r);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = a[l] + (uint64_t)offset;
  } else {
    const u32 *a = SIM_PLACE(u32, w, r);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = (uint32_t)(a[l] + (uint32_t)offset);
  }
  (void)in;
}

static inline int pattern_of(const uint64_t *addr, uint32_t mask, unsigned size) {
  if (mask != SIM_ALL) return MIXED;
  uint64_t first = addr[0], uneven = 0, differ = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uneven |= addr[l] ^ (first + (uint64_t)l * size);
    differ |= addr[l] ^ first;
  }
  return uneven == 0 ? DENSE : differ == 0 ? SAME : MIXED;
}

static inline void touch_range(uint64_t *bits, uint64_t first, uint64_t last) {
  for (uint64_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t m = UINT64_MAX;
    if (word == first >> 6) m &= UINT64_MAX << (first & 63);
    if (word == last >> 6) m &= UINT64_MAX >> (63 - (last & 63));
    bits[word] |= m;
  }
}

/* Lowest and highest address, and the bits that any address has. */
static inline void extent(const uint64_t *addr, uint32_t mask, uint64_t *lo, uint64_t *hi, uint64_t *any) {
  uint64_t least = UINT64_MAX, most = 0, all = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(mask >> l & 1)) continue;
    least = addr[l] < least ? addr[l] : least;
    most = addr[l] > most ? addr[l] : most;
    all |= addr[l];
  }
  *lo = least;
  *hi = most;
  *any = all;
}

/* ------------------------------------------- between memory and registers */

typedef uint32_t quad __attribute__((vector_size(16)));

static inline sim_ref element(const sim_insn *in, unsigned k) { return in->r[k == 0 ? 0 : k + 1]; }

/* 32-bit elements of lanes that lie side by side, or all at one place. */
#define SPREAD(n) \
  for (unsigned k = 0; k < (n); k++) { \
    u32 *d = SIM_PLACE(u32, w, element(in, k)); \
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = from[l * (n) + k]; \
  } \
  return
#define COLLECT(n) \
  for (unsigned k = 0; k < (n); k++) { \
    const u32 *d = SIM_PLACE(u32, w, element(in, k)); \
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) to[l * (n) + k] = d[l]; \
  } \
  return

static inline void fetch_dense(sim_warp *w, const sim_insn *in, const u32 *from) {
  switch (in->vec) {
    case 1: memcpy(SIM_PLACE(u32, w, in->r[0]), from, 128); return;
    case 2: SPREAD(2);
    default: SPREAD(4);
  }
}
static inline void put_dense(sim_warp *w, const sim_insn *in, u32 *to) {
  switch (in->vec) {
    case 1: memcpy(to, SIM_PLACE(u32, w, in->r[0]), 128); return;
    case 2: COLLECT(2);
    default: COLLECT(4);
  }
}
static inline void fetch_same(sim_warp *w, const sim_insn *in, const u32 *from) {
  for (unsigned k = 0; k < in->vec; k++) {
    u32 *d = SIM_PLACE(u32, w, element(in, k)), v = from[k];
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = v;
  }
}

#define ADDR uint64_t
#define NAME(x) x##_far
#include "sim/memory/body_fetch.h"
#undef ADDR
#undef NAME
#define ADDR uint32_t
#define NAME(x) x##_near
#include "sim/memory/body_fetch.h"
#undef ADDR
#undef NAME

/* Where the lanes of a global access are. */
typedef struct sim_where {
  unsigned char *host;       /* of the region; lane l is at host + (addr[l] - base) */
  uint64_t base;
  sim_notes *blocks;         /* see sim/watch/body_race.h; NULL: nobody looks */
  uint64_t *written;         /* see sim/watch/body_unset.h; NULL: nobody looks */
  int pattern;
} sim_where;

/* Run `fn` for one lane at a time. */
static int one_by_one(sim_warp *w, const sim_insn *in, sim_fn fn) {
  uint32_t mask = w->mask;
  int event = SIM_NEXT;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(mask >> l & 1)) continue;
    w->mask = 1u << l;
    event = fn(w, in);
  }
  w->mask = mask;
  return event;
}

/* ------------------------------------------------------ local, parameters */

static void check_local(sim_warp *w, const sim_insn *in, const uint64_t *addr, int how);   /* sim/watch/body_unset.h */

/* A small memory of the thread's own (stride bytes apart) or of all threads. */
static int small_access(sim_warp *w, const sim_insn *in, int space, unsigned char *host,
                        uint64_t limit, uint64_t stride, int how) {
  uint64_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (addr[l] >> SIM_SLOT_BITS == (unsigned)space) addr[l] -= SIM_WINDOW(space);
    if (addr[l] >= limit || limit - addr[l] < size)
      return memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, space, how);
    if (addr[l] & (size - 1))
      return memory_fault(w, in, SIM_FAULT_ALIGN, l, addr[l], size, space, how);
    addr[l] += l * stride;
  }
  if (space == SIM_LOCAL && w->exec->checks) check_local(w, in, addr, how);
  w->exec->counts.local_requests += space == SIM_LOCAL;
  if (how == READ) fetch_far(w, in, host, 0, addr, MIXED);
  else put_far(w, in, host, 0, addr, MIXED);
  return SIM_NEXT;
}

static int op_ld_local(sim_warp *w, const sim_insn *in) {
  uint32_t n = w->exec->local_stride;
  return small_access(w, in, SIM_LOCAL, w->local, w->exec->function->local_size, n, READ);
}
static int op_st_local(sim_warp *w, const sim_insn *in) {
  uint32_t n = w->exec->local_stride;
  return small_access(w, in, SIM_LOCAL, w->local, w->exec->function->local_size, n, WRITE);
}
static int op_ld_param(sim_warp *w, const sim_insn *in) {
  return small_access(w, in, SIM_PARAM, w->exec->params, w->exec->function->args_size, 0, READ);
}

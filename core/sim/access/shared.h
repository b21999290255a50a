/*
** shared.h - accesses to shared memory: addresses, checks, counts. What is done for every access
** is here, for the instruction set of whoever includes it; the rest is in shape.c and shared.c.
*/
#ifndef CAWB_SIM_ACCESS_SHARED_H
#define CAWB_SIM_ACCESS_SHARED_H

#include "sim/exec/shape.h"
#include "sim/exec/traffic.h"
#include "sim/instructions/variants.h"
#include "sim/watch/shadow.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* shape.c: passes that an access takes (two neighbouring groups of lanes go in one where their banks
   allow it), and without conflicts; and all that follows from the distances of the lanes. */
unsigned sim_shape_wavefronts(const uint32_t *addr, uint32_t mask, unsigned size, unsigned *least);
void     sim_shape_fill(sim_exec *x, sim_shape *s, const uint32_t *addr, const uint32_t *apart);

/* The first lane that is wrong: SIM_FAULT, or SIM_NEXT where none is. */
int sim_shared_fault(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how);

/* Lane by lane: some are in the window of generic addresses, others not; or wrong, or inactive. */
int sim_shared_mixed(sim_warp *w, const sim_insn *in, const uint64_t *a, int64_t offset, unsigned size, int how,
                     uint32_t *out);

/* An access to where a copy is still under way, or a store to what a warpgroup product may still
   read. Whether nothing of the kind was found. */
int  sim_shared_check_units(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how);
void sim_shared_check_lanes(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how);

/* Whether 32 addresses are below 4 GiB; whether two lists of 32 words are the same. */
#ifdef __AVX512F__
static inline int all_short(const uint64_t *v) {
  __m512i any = _mm512_or_si512(_mm512_or_si512(_mm512_loadu_si512(v), _mm512_loadu_si512(v + 8)),
                                _mm512_or_si512(_mm512_loadu_si512(v + 16), _mm512_loadu_si512(v + 24)));
  return _mm512_test_epi64_mask(any, _mm512_set1_epi64((long long)~UINT64_C(0xffffffff))) == 0;
}
static inline int same_words(const uint32_t *a, const uint32_t *b) {
  __m512i low = _mm512_xor_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
  __m512i high = _mm512_xor_si512(_mm512_loadu_si512(a + 16), _mm512_loadu_si512(b + 16));
  __m512i any = _mm512_or_si512(low, high);
  return _mm512_test_epi32_mask(any, any) == 0;
}
#else
static inline int all_short(const uint64_t *v) {
  uint64_t any = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) any |= v[l];
  return any <= UINT32_MAX;
}
static inline int same_words(const uint32_t *a, const uint32_t *b) {
  uint32_t differ = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) differ |= a[l] ^ b[l];
  return differ == 0;
}
#endif

static inline int shared_addresses(sim_warp *w, const sim_insn *in, sim_ref ref, int wide, int64_t offset,
                                   unsigned size, int how, uint32_t *out) {
  if (!wide) {
    const u32 *a = SIM_PLACE(u32, w, ref);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = a[l] + (uint32_t)offset;
    return SIM_NEXT;
  }
  const u64 *a = SIM_PLACE(u64, w, ref);
  uint64_t far[SIM_LANES], first = a[__builtin_ctz(w->mask)] + (uint64_t)offset;
  uint64_t delta = (uint64_t)offset - (first >> SIM_SLOT_BITS == SIM_SHARED ? SIM_WINDOW(SIM_SHARED) : 0);
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) {
    far[l] = a[l] + delta;
    out[l] = (uint32_t)far[l];
  }
  if (__builtin_expect(!all_short(far), 0)) return sim_shared_mixed(w, in, a, offset, size, how, out);
  return SIM_NEXT;
}

/*
** The cost and the units of an access depend on the lanes' distances only, and those are
** mostly as they were when this register was the address last. NULL: it faults.
*/
static inline const sim_shape *shape_of(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  sim_exec *x = w->exec;
  sim_shape *s = &x->shapes[((in->r[1].off >> 7) * 32 + size) * 0x9e3779b1u >> 25 & (SIM_SHAPES - 1)];
  uint32_t apart[SIM_LANES], mask = w->mask, first = addr[__builtin_ctz(mask)], low = size < 4 ? first & 3 : 0;
  if (mask == SIM_ALL) SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) apart[l] = addr[l] - first;
  else for (unsigned l = 0; l < SIM_LANES; l++) apart[l] = mask & lane_bit[l] ? addr[l] - first : 0;
  if (__builtin_expect(s->mask == mask && s->size == size && s->low == low && same_words(apart, s->apart), 1)) return s;
  if (sim_shared_fault(w, in, addr, size, how) != SIM_NEXT) return NULL;
  s->mask = mask;
  s->size = size;
  s->low = low;
  sim_shape_fill(x, s, addr, apart);
  return s;
}

/* Whether the whole access lies in shared memory, and aligned. */
static inline int shape_fits(const sim_shape *s, uint32_t start, uint32_t limit) {
  return (int64_t)start + s->from >= 0 && (int64_t)start + s->to + s->size <= (int64_t)limit &&
         ((start | s->odd) & (s->size - 1)) == 0;
}

/* Check and count an access; its shape is left in *shape, unless it faults. */
static inline int shared_shape(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                               int how, const sim_shape **shape) {
  sim_exec *x = w->exec;
  const sim_shape *s = *shape = shape_of(w, in, addr, size, how);
  uint32_t start = addr[__builtin_ctz(w->mask)];
  if (s == NULL) return SIM_FAULT;
  if (!shape_fits(s, start, x->shared_size)) return sim_shared_fault(w, in, addr, size, how);
  x->counts.shared_requests++;
  x->counts.shared_wavefronts += s->waves;
  x->counts.shared_least += s->least;
  if (__builtin_expect(x->by_line, 0)) sim_traffic_shared(x, in, s->waves, s->least);
  if (!x->checks) return SIM_NEXT;
  if (x->flying > 0) sim_shared_check_lanes(w, in, addr, size, how);
  if (how == READ && in->strong) how = LOOK;         /* ld.relaxed, ld.acquire */
  else if (how == WRITE && in->strong) how = ATOMIC;
  else if (how == ATOMIC && in->mode == A_CAS) how = SWAP;
  shadow_shape(w, in, s, start, how);
  return SIM_NEXT;
}

static inline int shared_access(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size,
                         int how, int *pattern) {
  const sim_shape *s;
  int event = shared_shape(w, in, addr, size, how, &s);
  if (event == SIM_NEXT) *pattern = s->pattern;
  return event;
}

static inline void widened(const uint32_t *addr, uint64_t *out) {
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) out[l] = addr[l];
}

#endif

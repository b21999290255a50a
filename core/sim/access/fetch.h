/*
** fetch.h - between memory and registers, the access being checked.
** Included twice: with 64-bit addresses (global) and with 32-bit ones (shared).
** ADDR is their type; NAME(x) names the functions.
*/

/* A lane's address in the host's memory. */
#define HOST(l) (host + (addr[l] - base))

#define FETCH(T, D) \
  for (unsigned k = 0; k < in->vec; k++) { \
    D *d = SIM_PLACE(D, w, element(in, k)); \
    for (unsigned l = 0; l < SIM_LANES; l++) if (w->mask >> l & 1) { \
      T v; memcpy(&v, HOST(l) + k * sizeof v, sizeof v); d[l] = (D)v; } \
  } \
  break
#define PUT(T, D) \
  for (unsigned k = 0; k < in->vec; k++) { \
    const D *d = SIM_PLACE(D, w, element(in, k)); \
    for (unsigned l = 0; l < SIM_LANES; l++) if (w->mask >> l & 1) { \
      T v = (T)d[l]; memcpy(HOST(l) + k * sizeof v, &v, sizeof v); } \
  } \
  break

/* float4 from anywhere: four lanes' worth turned into four registers' worth. */
static inline void NAME(fetch_quads)(sim_warp *w, const sim_insn *in, const unsigned char *host, ADDR base,
                                     const ADDR *addr) {
  u32 *d0 = SIM_PLACE(u32, w, in->r[0]), *d1 = SIM_PLACE(u32, w, in->r[2]);
  u32 *d2 = SIM_PLACE(u32, w, in->r[3]), *d3 = SIM_PLACE(u32, w, in->r[4]);
  for (unsigned l = 0; l < SIM_LANES; l += 4) {
    quad a, b, c, e;
    memcpy(&a, HOST(l), 16);
    memcpy(&b, HOST(l + 1), 16);
    memcpy(&c, HOST(l + 2), 16);
    memcpy(&e, HOST(l + 3), 16);
    quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
    quad AB = __builtin_shufflevector(a, b, 2, 6, 3, 7), CE = __builtin_shufflevector(c, e, 2, 6, 3, 7);
    quad r0 = __builtin_shufflevector(ab, ce, 0, 1, 4, 5), r1 = __builtin_shufflevector(ab, ce, 2, 3, 6, 7);
    quad r2 = __builtin_shufflevector(AB, CE, 0, 1, 4, 5), r3 = __builtin_shufflevector(AB, CE, 2, 3, 6, 7);
    memcpy(d0 + l, &r0, 16);
    memcpy(d1 + l, &r1, 16);
    memcpy(d2 + l, &r2, 16);
    memcpy(d3 + l, &r3, 16);
  }
}

static inline void NAME(fetch_words)(sim_warp *w, const sim_insn *in, const unsigned char *host, ADDR base,
                                     const ADDR *addr) {
  for (unsigned k = 0; k < in->vec; k++) {
    u32 *d = SIM_PLACE(u32, w, element(in, k));
    for (unsigned l = 0; l < SIM_LANES; l++) memcpy(d + l, HOST(l) + (size_t)4 * k, 4);
  }
}

static inline void NAME(fetch)(sim_warp *w, const sim_insn *in, const unsigned char *host, ADDR base,
                        const ADDR *addr, int pattern) {
  if (in->width == 4 && in->lane == 4 && w->mask == SIM_ALL) {
    if (pattern == DENSE) fetch_dense(w, in, (const u32 *)(const void *)HOST(0));
    else if (pattern == SAME) fetch_same(w, in, (const u32 *)(const void *)HOST(0));
    else if (in->vec == 4) NAME(fetch_quads)(w, in, host, base, addr);
    else NAME(fetch_words)(w, in, host, base, addr);
    return;
  }
  if (in->lane == 4)
    switch (in->width | in->sext << 4) {
      case 1: FETCH(uint8_t, u32);
      case 2: FETCH(uint16_t, u32);
      case 17: FETCH(int8_t, u32);
      case 18: FETCH(int16_t, u32);
      default: FETCH(uint32_t, u32);
    }
  else
    switch (in->width | in->sext << 4) {
      case 1: FETCH(uint8_t, u64);
      case 2: FETCH(uint16_t, u64);
      case 4: FETCH(uint32_t, u64);
      case 17: FETCH(int8_t, u64);
      case 18: FETCH(int16_t, u64);
      case 20: FETCH(int32_t, u64);
      default: FETCH(uint64_t, u64);
    }
}

static inline void NAME(put)(sim_warp *w, const sim_insn *in, unsigned char *host, ADDR base,
                      const ADDR *addr, int pattern) {
  if (in->width == 4 && in->lane == 4 && pattern == DENSE) {
    put_dense(w, in, (u32 *)(void *)HOST(0));
    return;
  }
  if (in->lane == 4)
    switch (in->width) {
      case 1: PUT(uint8_t, u32);
      case 2: PUT(uint16_t, u32);
      default: PUT(uint32_t, u32);
    }
  else
    switch (in->width) {
      case 1: PUT(uint8_t, u64);
      case 2: PUT(uint16_t, u64);
      case 4: PUT(uint32_t, u64);
      default: PUT(uint64_t, u64);
    }
}

/* After a store: the lanes whose value is not there, another lane's being there. */
static inline uint32_t NAME(lost)(const sim_warp *w, const sim_insn *in, const unsigned char *host, ADDR base,
                                  const ADDR *addr) {
  uint64_t low = in->width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * in->width)) - 1;
  uint32_t lost = 0;
  for (unsigned k = 0; k < in->vec; k++) {
    const u32 *d = SIM_PLACE(u32, w, element(in, k));
    for (unsigned l = 0; l < SIM_LANES; l++) {
      if (!(w->mask >> l & 1)) continue;
      uint64_t there = 0;
      if (in->width == 4) {
        uint32_t v;
        memcpy(&v, HOST(l) + (size_t)4 * k, 4);
        lost |= (v != d[in->lane == 4 ? l : 2 * l] ? 1u : 0u) << l;
        continue;
      }
      memcpy(&there, HOST(l) + (size_t)k * in->width, in->width);
      if (there != (lane_of(w, element(in, k), in->lane, l) & low)) lost |= 1u << l;
    }
  }
  return lost;
}

#undef HOST
#undef FETCH
#undef PUT

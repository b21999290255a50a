/*
** body_access.h - loads and stores of global, shared, local and constant memory. Checks, counts and
** findings are in sim/access and sim/watch.
*/

/* Where another thread may write; again at one place: nothing has come of it so far. */
static void look(sim_warp *w, uint64_t place) {
  w->polls++;
  w->vain |= place == w->look;
  w->look = place;
}

static int op_ld_global(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, READ, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_ld_global);
  if (event != SIM_NEXT) return event;
  if (in->strong) look(w, addr[__builtin_ctz(w->mask)]);
  if (at.written != NULL) sim_uninitialised_check(w, in, &at, addr);
  if (at.blocks != NULL) {
    if (in->strong) sim_order_access(w, in, addr, READ);
    sim_race_load(w, in, &at, addr);
  }
  fetch_far(w, in, at.host, at.base, addr, at.pattern);
  return SIM_NEXT;
}

static int op_ld_const(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, READ, 0, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_ld_const);
  if (event == SIM_NEXT) fetch_far(w, in, at.host, at.base, addr, at.pattern);
  return event;
}

static int op_st_global(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, (unsigned)in->width * in->vec, WRITE, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_st_global);
  if (event != SIM_NEXT) return event;
  if (at.blocks != NULL) {
    if (w->exec->order != NULL) sim_order_access(w, in, addr, WRITE);
    if (!in->strong) sim_race_store(w, in, &at, addr);
  }
  w->look = 0;
  if (at.written != NULL) sim_uninitialised_mark(w, in, &at, addr);
  put_far(w, in, at.host, at.base, addr, at.pattern);
  if (at.pattern != DENSE && w->exec->checks) {
    uint32_t lost = lost_far(w, in, at.host, at.base, addr);
    if (lost != 0) sim_race_lanes(w, in, lost, SIM_GLOBAL, addr[__builtin_ctz(lost)]);
  }
  return SIM_NEXT;
}

/* ------------------------------------------------------------------- shared */

/* 4-byte elements of all lanes, from two places. */
static inline void fetch_pair(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t start) {
  uint32_t other = s->to != 0 ? (uint32_t)s->to : (uint32_t)s->from;
  const u32 *here = (const u32 *)(const void *)(w->exec->shared + start);
  const u32 *there = (const u32 *)(const void *)(w->exec->shared + (start + other));
  for (unsigned k = 0; k < in->vec; k++) {
    u32 *d = SIM_PLACE(u32, w, element(in, k)), p = here[k], q = there[k];
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = s->apart[l] != 0 ? q : p;
  }
}

/* Up to 64 words `from` here on (256 bytes are readable), in s->word the first of each lane: a table in
   registers, which AVX-512 looks up in one step and compilers do not find. 0: not here. */
#ifdef __AVX512F__
static inline int look_up(sim_warp *w, const sim_insn *in, const sim_shape *s, const unsigned char *from) {
  __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
  __m512i left = _mm512_loadu_si512(s->word), right = _mm512_loadu_si512(s->word + 16), one = _mm512_set1_epi32(1);
  if (s->words <= 32)
    for (unsigned k = 0; k < in->vec; k++) {
      u32 *d = SIM_PLACE(u32, w, element(in, k));
      _mm512_store_si512(d, _mm512_permutex2var_epi32(low, left, high));
      _mm512_store_si512(d + 16, _mm512_permutex2var_epi32(low, right, high));
      left = _mm512_add_epi32(left, one);
      right = _mm512_add_epi32(right, one);
    }
  else {
    __m512i low2 = _mm512_loadu_si512(from + 128), high2 = _mm512_loadu_si512(from + 192), bit = _mm512_set1_epi32(32);
    for (unsigned k = 0; k < in->vec; k++) {
      u32 *d = SIM_PLACE(u32, w, element(in, k));
      __mmask16 ml = _mm512_test_epi32_mask(left, bit), mr = _mm512_test_epi32_mask(right, bit);
      __m512i l = _mm512_permutex2var_epi32(low, left, high), r = _mm512_permutex2var_epi32(low, right, high);
      l = _mm512_mask_mov_epi32(l, ml, _mm512_permutex2var_epi32(low2, left, high2));
      r = _mm512_mask_mov_epi32(r, mr, _mm512_permutex2var_epi32(low2, right, high2));
      _mm512_store_si512(d, l);
      _mm512_store_si512(d + 16, r);
      left = _mm512_add_epi32(left, one);
      right = _mm512_add_epi32(right, one);
    }
  }
  return 1;
}
#else
static inline int look_up(sim_warp *w, const sim_insn *in, const sim_shape *s, const unsigned char *from) {
  (void)w, (void)in, (void)s, (void)from;
  return 0;
}
#endif

static int op_ld_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  const sim_shape *s;
  int event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, READ, addr);
  if (event == SIM_NEXT) event = shared_shape(w, in, addr, size, READ, &s);
  if (event != SIM_NEXT) return event;
  if (in->looks | in->keeps) sim_lanes_access(w, in, addr, size, READ);
  if (__builtin_expect(w->exec->unset, 0)) event = sim_undefined_shared(w, in, addr);
  if (in->width == 4 && in->lane == 4 && w->mask == SIM_ALL && s->pattern != DENSE && s->pattern != SAME) {
    if (s->pair) { fetch_pair(w, in, s, addr[0]); return event; }
    if (s->words > 0 && look_up(w, in, s, w->exec->shared + (int64_t)addr[0] + s->from)) return event;
  }
  fetch_near(w, in, w->exec->shared, 0, addr, s->pattern);
  return event;
}

static int op_st_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  unsigned size = (unsigned)in->width * in->vec;
  sim_exec *x = w->exec;
  int pattern, event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, size, WRITE, addr);
  x->collecting = 1;
  if (event == SIM_NEXT) event = shared_access(w, in, addr, size, WRITE, &pattern);
  x->collecting = 0;
  if (event != SIM_NEXT) return event;
  if (in->looks | in->keeps) sim_lanes_access(w, in, addr, size, WRITE);
  put_near(w, in, x->shared, 0, addr, pattern);
  if (x->nwaw > 0) sim_shadow_settle(w, in);
  if (x->checks && (pattern == SAME || pattern == CROSSED)) {
    uint32_t lost = lost_near(w, in, x->shared, 0, addr);
    if (lost != 0) sim_race_lanes(w, in, lost, SIM_SHARED, addr[__builtin_ctz(lost)]);
  }
  if (__builtin_expect(w->undefined != NULL, 0)) sim_undefined_kept(w, in, addr);
  return SIM_NEXT;
}

/* ------------------------------------------------------ local, parameters */

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
      return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, space, how);
    if (addr[l] & (size - 1))
      return sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr[l], size, space, how);
    addr[l] += l * stride;
  }
  int checks = space == SIM_LOCAL && w->exec->checks, event = SIM_NEXT;
  if (checks && sim_uninitialised_local(w, in, addr, how)) event = sim_undefined_local(w, in, addr);
  if (checks && how == WRITE && w->undefined != NULL) sim_undefined_kept_local(w, in, addr);
  w->exec->counts.local_requests += space == SIM_LOCAL;
  if (how == READ) fetch_far(w, in, host, 0, addr, MIXED);
  else put_far(w, in, host, 0, addr, MIXED);
  return event;
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

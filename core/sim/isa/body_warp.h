/* body_warp.h - what the lanes of a warp do together: shuffles, votes, reductions. See sim/exec/warp.h. */

static int op_shfl(sim_warp *w, const sim_insn *in) {
  uint32_t ranges = 0, copy[SIM_LANES];
  if (!gathered(w, in->r[4])) return SIM_WAIT_WARP;
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  const u32 *a = SIM_PLACE(u32, w, in->r[1]), *b = SIM_PLACE(u32, w, in->r[2]);
  const u32 *c = SIM_PLACE(u32, w, in->r[3]);
  memcpy(copy, a, sizeof copy);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    int ok;
    unsigned from = shuffle_from(in->mode, l, b[l], c[l], &ok);
    d[l] = copy[from];
    if (ok) ranges |= 1u << l;
  }
  set_second(w, in, ranges);
  return SIM_NEXT;
}

static int op_vote(sim_warp *w, const sim_insn *in) {
  if (!gathered(w, in->r[4])) return SIM_WAIT_WARP;
  uint32_t here = w->mask, left = here, lanes;
  uint32_t p = SIM_MASK_OF(w, in->r[1]) ^ (in->negate ? SIM_ALL : 0);
  while (left != 0) {
    w->mask = next_tile(w, in->r[4], &left, &lanes);
    uint32_t yes = p & lanes;
    int all = yes == lanes, any = yes != 0;
    if (in->mode == 0) {
      u32 *d = SIM_PLACE(u32, w, in->r[0]);
      SIM_EACH(w, d[l] = yes);
    } else set_mask(w, in->r[0], (in->mode == 1 ? all : in->mode == 2 ? any : all || !any) ? SIM_ALL : 0);
    w->mask = here;
  }
  return SIM_NEXT;
}

SIM_BEGIN(activemask)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint32_t m = w->mask;
  SIM_EACH(w, d[l] = m);
SIM_END

static void match_tile(sim_warp *w, const sim_insn *in, uint32_t lanes) {
  uint32_t equal[SIM_LANES];
  for (unsigned l = 0; l < SIM_LANES; l++) {
    equal[l] = 0;
    for (unsigned k = 0; k < SIM_LANES; k++)
      if ((lanes >> k & 1) && lane_of(w, in->r[1], in->width, k) == lane_of(w, in->r[1], in->width, l))
        equal[l] |= 1u << k;
  }
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  int all = equal[__builtin_ctz(w->mask)] == lanes;
  if (in->mode) SIM_EACH(w, d[l] = all ? lanes : 0);
  else SIM_EACH(w, d[l] = equal[l]);
  set_second(w, in, all ? SIM_ALL : 0);
}

static void redux_tile(sim_warp *w, const sim_insn *in, uint32_t lanes) {
  static const uint8_t ops[] = { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR };
  const u32 *a = SIM_PLACE(u32, w, in->r[1]);
  unsigned first = (unsigned)__builtin_ctz(lanes ? lanes : w->mask);
  uint64_t v = a[first];
  for (unsigned l = first + 1; l < SIM_LANES; l++)
    if (lanes >> l & 1) v = atomic_int(ops[in->mode], v & UINT32_MAX, a[l], 0, 4, in->sext);
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  SIM_EACH(w, d[l] = (uint32_t)v);
}

static void elect_tile(sim_warp *w, const sim_insn *in, uint32_t lanes) {
  uint32_t leader = (uint32_t)__builtin_ctz(lanes ? lanes : w->mask);
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  SIM_EACH(w, d[l] = leader);
  set_second(w, in, 1u << leader);
}

/* Each tile by itself. */
static int by_tile(sim_warp *w, const sim_insn *in, void (*fn)(sim_warp *, const sim_insn *, uint32_t)) {
  if (!gathered(w, in->r[4])) return SIM_WAIT_WARP;
  uint32_t here = w->mask, left = here, lanes;
  while (left != 0) {
    uint32_t tile = next_tile(w, in->r[4], &left, &lanes);
    w->mask = tile;
    fn(w, in, lanes);
    w->mask = here;
  }
  return SIM_NEXT;
}

static int op_match(sim_warp *w, const sim_insn *in) { return by_tile(w, in, match_tile); }
static int op_redux(sim_warp *w, const sim_insn *in) { return by_tile(w, in, redux_tile); }
static int op_elect(sim_warp *w, const sim_insn *in) { return by_tile(w, in, elect_tile); }

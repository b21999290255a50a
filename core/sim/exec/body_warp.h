/*
** body_warp.h - what the lanes of a warp do together. An instruction with a
** member mask waits until the lanes that it names have come to it; lanes that
** have exited are not waited for.
*/

/* Whether all of `named` are here, those that have exited apart. */
static inline int all_here(sim_warp *w, uint32_t named) {
  uint32_t absent = named & w->live & ~w->mask;
  if (absent == 0) return 1;
  for (unsigned i = 0; i < w->ngroups;) {     /* others may be waiting right here */
    sim_group *g = &w->group[i];
    if (g->state == SIM_AT_WARP && g->pc == w->pc) {
      w->active |= g->mask;
      w->mask |= g->mask;
      *g = w->group[--w->ngroups];
    } else i++;
  }
  return (named & w->live & ~w->mask) == 0;
}

/* Whether all lanes that the masks of these lanes name are here. */
static inline int gathered(sim_warp *w, sim_ref mask) {
  const u32 *m = SIM_PLACE(u32, w, mask);
  uint32_t before, named = 0;
  if (w->mask == SIM_ALL) return 1;
  do {
    before = w->mask;
    for (unsigned l = 0; l < SIM_LANES; l++) named |= before >> l & 1 ? m[l] : 0;
    if (!all_here(w, named)) return 0;
  } while (w->mask != before);               /* those who waited name others, perhaps */
  return 1;
}

/* Tiles of a warp come with masks of their own: the lanes of `left` whose mask is that of
   the first of them, which leave `left`. `members`: the lanes that it names and that are here. */
static inline uint32_t next_tile(const sim_warp *w, sim_ref mask, uint32_t *left, uint32_t *members) {
  const u32 *m = SIM_PLACE(u32, w, mask);
  uint32_t named = m[__builtin_ctz(*left)], same = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) same |= m[l] == named ? lane_bit[l] : 0;
  same &= *left;
  *left &= ~same;
  *members = named & w->mask;
  return same;
}

static int op_bar_warp(sim_warp *w, const sim_insn *in) {
  return gathered(w, in->r[1]) ? SIM_NEXT : SIM_WAIT_WARP;
}

/* Where lane l of a shuffle reads, or beyond its segment: itself, and not in range. */
static inline unsigned shuffle_from(int mode, unsigned l, uint32_t b, uint32_t c, int *in_range) {
  uint32_t segment = c >> 8 & 31, clamp = c & 31, from;
  uint32_t low = l & segment, high = low | (clamp & ~segment);
  b &= 31;
  int ok;
  if (mode == 0) { from = l - b; ok = (int)from >= (int)high; }
  else if (mode == 1) { from = l + b; ok = from <= high; }
  else if (mode == 2) { from = l ^ b; ok = from <= high; }
  else { from = low | (b & ~segment); ok = from <= high; }
  *in_range = ok;
  return ok ? from & 31 : l;
}

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

/* --------------------------------------------------------------- the clock */

/* Time is the number of instructions executed: it grows, and nothing more is promised. */
SIM_BEGIN(clock_u32)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint64_t t = w->exec->clock;
  SIM_EACH(w, d[l] = (uint32_t)(t >> (in->mode ? 32 : 0)));
SIM_END
SIM_BEGIN(clock_u64)
  u64 *d = SIM_PLACE(u64, w, in->r[0]);
  uint64_t t = w->exec->clock;
  SIM_EACH(w, d[l] = t);
SIM_END
SIM_BEGIN(smid)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  uint32_t sm = w->exec->serial % (uint32_t)w->exec->device->model->sms;
  SIM_EACH(w, d[l] = sm);
SIM_END

/* ------------------------------------------------------------------ control */

static int op_nop(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_NEXT;
}

static int op_bra(sim_warp *w, const sim_insn *in) {
  w->target = (uint32_t)in->target;
  return SIM_JUMP;
}

static int op_target(sim_warp *w, const sim_insn *in) { return op_nop(w, in); }

/* The table is a row of targets. One target at a time. */
static int op_brx(sim_warp *w, const sim_insn *in) {
  const u32 *a = SIM_PLACE(u32, w, in->r[1]);
  const sim_function *f = w->exec->function;
  uint32_t which = a[__builtin_ctz(w->mask)], same = 0;
  for (unsigned l = 0; l < SIM_LANES; l++) if (a[l] == which) same |= 1u << l;
  uint64_t entry = (uint64_t)in->target + which;
  if (entry >= f->count || f->code[entry].op != SIM_OP_target)
    return memory_fault(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), which, 0, 0, READ);
  w->target = (uint32_t)f->code[entry].target;
  w->mask &= same;
  return SIM_JUMP;
}

static int op_exit(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_EXIT;
}
static int op_trap(sim_warp *w, const sim_insn *in) {
  return memory_fault(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}
static int op_assertion(sim_warp *w, const sim_insn *in) {
  return memory_fault(w, in, SIM_FAULT_ASSERT, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}
static int op_unknown(sim_warp *w, const sim_insn *in) {
  return memory_fault(w, in, SIM_FAULT_TRAP, (unsigned)__builtin_ctz(w->mask), 0, 0, 0, READ);
}
static int op_bar(sim_warp *w, const sim_insn *in) {
  (void)w, (void)in;
  return SIM_WAIT_BLOCK;
}

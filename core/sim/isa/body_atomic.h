/* body_atomic.h - atomics: lane after lane. */

static inline uint64_t atomic_int(int op, uint64_t old, uint64_t b, uint64_t c, unsigned bytes,
                                  int is_signed) {
  unsigned drop = 64 - 8 * bytes;
  int64_t so = (int64_t)(old << drop), sb = (int64_t)(b << drop);
  int less = is_signed ? sb < so : b < old;
  switch (op) {
    case A_ADD: return old + b;
    case A_MIN: return less ? b : old;
    case A_MAX: return less ? old : b;
    case A_AND: return old & b;
    case A_OR: return old | b;
    case A_XOR: return old ^ b;
    case A_EXCH: return b;
    case A_CAS: return old == b ? c : old;
    case A_INC: return old >= b ? 0 : old + 1;
    default: return old == 0 || old > b ? b : old - 1;
  }
}

static inline uint64_t atomic_float(const sim_insn *in, uint64_t old, uint64_t b) {
  uint32_t o = (uint32_t)old, v = (uint32_t)b;
  int op = in->mode;
  switch (in->type[0]) {
    case 'h': return op == A_ADD ? add_h(o, v, 0) : op == A_MIN ? min_h(o, v, 0) : max_h(o, v, 0);
    case 'H': return op == A_ADD ? add_h_2(o, v, 0) : op == A_MIN ? min_h_2(o, v, 0) : max_h_2(o, v, 0);
    case 'b': return op == A_ADD ? add_b(o, v, 0) : op == A_MIN ? min_b(o, v, 0) : max_b(o, v, 0);
    case 'B': return op == A_ADD ? add_b_2(o, v, 0) : op == A_MIN ? min_b_2(o, v, 0) : max_b_2(o, v, 0);
    default: break;
  }
  if (in->width == 8) return bits_of64(double_of(old) + double_of(b));
  return bits_of(float_of(o) + float_of(v));
}

static inline uint64_t atomic_result(const sim_insn *in, uint64_t old, uint64_t b, uint64_t c) {
  int whole = in->mode == A_EXCH || in->mode == A_CAS || in->type[0] == 'u' || in->type[0] == 's';
  if (whole) return atomic_int(in->mode, old, b, c, in->width, in->type[0] == 's');
  return atomic_float(in, old, b);
}

static void atomic_lanes(sim_warp *w, const sim_insn *in, unsigned char *host, uint64_t base,
                         const uint64_t *addr) {
  uint32_t swapped = in->mode != A_CAS;
  uint64_t low = in->width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * in->width)) - 1;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    uint64_t old = 0;
    uint64_t b = lane_of(w, in->r[2], in->lane, l) & low;
    uint64_t c = lane_of(w, in->r[3], in->lane, l) & low;
    memcpy(&old, host + (addr[l] - base), in->width);
    uint64_t now = atomic_result(in, old, b, c);
    memcpy(host + (addr[l] - base), &now, in->width);
    put_lane(w, in->r[0], in->lane, l, old);
    swapped |= old == b;
  }
  if (!swapped) w->fails++;                  /* a lock is waited for */
}

/* Two values of an atomic operation, where there is no third. */
static uint64_t atomic_pair(const sim_insn *in, uint64_t old, uint64_t v) { return atomic_result(in, old, v, 0); }

static int op_atom_global(sim_warp *w, const sim_insn *in) {
  uint64_t addr[SIM_LANES];
  sim_where at;
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  int event = global_access(w, in, addr, in->width, ATOMIC, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_atom_global);
  if (event != SIM_NEXT) return event;
  w->polls++;
  if (at.blocks != NULL) {
    sim_order_access(w, in, addr, ATOMIC);
    sim_race_atomic(w, in, &at, addr);
  }
  if (at.written != NULL && in->mode != A_EXCH) sim_uninitialised_check(w, in, &at, addr);
  if (at.written != NULL) sim_uninitialised_mark(w, in, &at, addr);
  atomic_lanes(w, in, at.host, at.base, addr);
  return SIM_NEXT;
}

static int op_atom_shared(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t wide[SIM_LANES];
  int pattern, event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, in->width, ATOMIC, addr);
  if (event == SIM_NEXT) event = shared_access(w, in, addr, in->width, ATOMIC, &pattern);
  if (event != SIM_NEXT) return event;
  widened(addr, wide);
  atomic_lanes(w, in, w->exec->shared, 0, wide);
  return SIM_NEXT;
}

/* body_stretches.h - stretches of code without guards and branches; see sim/read/stretches.c. */

/* Multiply-adds one behind the other, of all lanes. */
static void fma_chain(const sim_warp *w, const sim_insn *in, uint32_t n) {
  for (; n > 0; n--, in++) {
    f32 *d = SIM_PLACE(f32, w, in->r[0]);
    const f32 *a = SIM_PLACE(f32, w, in->r[1]), *b = SIM_PLACE(f32, w, in->r[2]), *c = SIM_PLACE(f32, w, in->r[3]);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) d[l] = __builtin_fmaf(a[l], b[l], c[l]);
  }
}

/*
** The stretch of code at w->pc, up to where another group waits. Where something other than
** the next instruction follows, w->pc is left there: what lies behind it was not executed.
*/
static inline int run_stretch(sim_warp *w, uint64_t *threads) {
  const sim_insn *in = w->exec->function->code + w->pc;
  uint64_t *hits = w->exec->hits;
  uint32_t from = w->pc, m = w->active, n = w->next - from < in->run ? w->next - from : in->run, left = n;
  int event = SIM_NEXT;
  w->mask = m;
  while (left > 0) {
    if (in->chain > 1 && m == SIM_ALL) {
      uint32_t k = in->chain < left ? in->chain : left;
      fma_chain(w, in, k);
      in += k;
      left -= k;
      continue;
    }
    w->pc = from + n - left;
    event = in->fn(w, in);
    if (event != SIM_NEXT) break;
    in++;
    left--;
  }
  hits[from]++;
  w->pc = from + n - left;
  uint32_t done = n - left + (event != SIM_NEXT);
  hits[w->pc + (event != SIM_NEXT)]--;
  const sim_price *prices = w->exec->function->prices;
  sim_spend(&w->spent, prices + from, prices + w->pc + (event != SIM_NEXT));
  *threads += (uint64_t)__builtin_popcount(m) * done;
  return event;
}

/*
** body_wgmma.h - products of warpgroups (wgmma.mma_async): the arithmetic, which is that of
** body_dot.h. Warp i of the four has rows 16 i and on. Where factors lie is in sim/access/operand.h.
**
** `type` has the codes of D, A and B; `flags` how (WG_...); r[1], r[2] the descriptors, r[3] whether
** D is added; extras the registers of D and A.
*/

static unsigned wg_n(const sim_insn *in) { return in->shape.n; }
static unsigned wg_k(const sim_insn *in) { return in->shape.k; }

/* A factor from shared memory: element (row or column e, k) goes to e * by_edge + k * by_deep. */
static void wg_load(const sim_exec *x, const wg_tile *t, int code, unsigned by_edge, unsigned by_deep, double *f,
                    int32_t *whole) {
  unsigned bytes = code_bits(code) / 8, each = WG_PIECE / bytes;
  for (unsigned i = 0; i < t->pieces; i++) {
    unsigned line = i / t->along, first = i % t->along * each;
    unsigned to = t->turned ? line * by_deep + first * by_edge : line * by_edge + first * by_deep;
    unsigned step = t->turned ? by_edge : by_deep;
    for (unsigned e = 0; e < each; e++, to += step) {
      uint64_t v = 0;
      memcpy(&v, x->shared + t->at[i] + (size_t)e * bytes, bytes);
      if (f != NULL) f[to] = factor_in(v, code);
      else whole[to] = whole_in(v, code);
    }
  }
}

/* A quarter of the product, as if of one warp. */
static mma_shape wg_shape(const sim_warp *w, const sim_insn *in) {
  mma_shape s = { .m = WG_QUARTER, .n = wg_n(in), .k = wg_k(in), .at = w->exec->function->extras + in->extra };
  s.d = registers_of(s.m * s.n, in->type[0], 0);
  s.a = in->flags & WG_REGISTERS ? 4 : 0;
  return s;
}

static dot_kind wg_kind(const sim_insn *in) {
  int eight = code_bits(in->type[1]) == 8;
  return (dot_kind){ .step = wg_k(in), .bits = eight ? DOT_BITS_8 : DOT_BITS,
                     .kept = in->type[0] != 'f' ? 52 : eight ? DOT_BITS_8 : 23,
                     .least_a = dot_least(in->type[1]), .least_b = dot_least(in->type[2]) };
}

/* Changes the sign of `a` where the instruction does. */
static void wg_multiply(sim_warp *q, const sim_insn *in, const mma_shape *s, double *a, const double *b, int keep) {
  double c[WG_QUARTER * WG_COLUMNS];
  dot_kind kind = wg_kind(in);
  memset(c, 0, (size_t)s->m * s->n * sizeof *c);
  if (keep) mma_read(q, s, 0, 2, in->type[0], s->at, s->d, c, NULL);
  if (in->flags & WG_MINUS)
    for (unsigned i = 0; i < s->m * s->k; i++) a[i] = -a[i];
  dot_product(&kind, c, a, b, s->m, s->k, s->n);
  mma_write(q, s, 0, in->type[0], c, NULL);
}

static void wg_multiply_wholes(sim_warp *q, const sim_insn *in, const mma_shape *s, const int32_t *a, const int32_t *b,
                               int keep) {
  int32_t c[WG_QUARTER * WG_COLUMNS];
  memset(c, 0, (size_t)s->m * s->n * sizeof *c);
  if (keep) mma_read(q, s, 0, 2, in->type[0], s->at, s->d, NULL, c);
  for (unsigned i = 0; i < s->m; i++)
    for (unsigned j = 0; j < s->n; j++) {
      int64_t sum = c[i * s->n + j];
      for (unsigned k = 0; k < s->k; k++) sum += (int64_t)a[i * s->k + k] * b[k * s->n + j];
      c[i * s->n + j] = saturated_sum(sum, in->flags & WG_SATURATES);
    }
  mma_write(q, s, 0, in->type[0], NULL, c);
}

/* Of the four warps `q`; `a` is not looked at where registers hold that factor. */
static void wg_floats(sim_warp *q, const sim_insn *in, const wg_tile *ta, const wg_tile *tb, int keep) {
  double a[WG_ROWS * WG_DEEP], b[WG_DEEP * WG_COLUMNS];
  mma_shape s = wg_shape(q, in);
  if (s.a == 0) wg_load(q->exec, ta, in->type[1], s.k, 1, a, NULL);
  wg_load(q->exec, tb, in->type[2], 1, s.n, b, NULL);
  for (unsigned i = 0; i < 4; i++) {
    double *rows = a + (size_t)i * s.m * s.k;
    if (s.a > 0) mma_read(q + i, &s, 0, 0, in->type[1], s.at + s.d, s.a, rows, NULL);
    wg_multiply(q + i, in, &s, rows, b, keep);
  }
}

static void wg_wholes(sim_warp *q, const sim_insn *in, const wg_tile *ta, const wg_tile *tb, int keep) {
  int32_t a[WG_ROWS * WG_DEEP], b[WG_DEEP * WG_COLUMNS];
  mma_shape s = wg_shape(q, in);
  if (s.a == 0) wg_load(q->exec, ta, in->type[1], s.k, 1, NULL, a);
  wg_load(q->exec, tb, in->type[2], 1, s.n, NULL, b);
  for (unsigned i = 0; i < 4; i++) {
    int32_t *rows = a + (size_t)i * s.m * s.k;
    if (s.a > 0) mma_read(q + i, &s, 0, 0, in->type[1], s.at + s.d, s.a, NULL, rows);
    wg_multiply_wholes(q + i, in, &s, rows, b, keep);
  }
}

static void wg_product(sim_warp *q, const sim_insn *in, const wg_tile *a, const wg_tile *b, int keep) {
  if (in->type[0] == 'i') wg_wholes(q, in, a, b, keep);
  else wg_floats(q, in, a, b, keep);
}

/*
** body_wgmma.h - products of warpgroups (wgmma.mma_async): where factors lie in shared memory,
** and the arithmetic, which is that of body_dot.h. Warp i of the four has rows 16 i and on.
**
** A factor in shared memory is made of pieces of 16 bytes, side by side along K, or (turned)
** along M or N; eight lines of pieces make a core matrix. A descriptor has, in units of 16
** bytes, the start (bits 0-13), the leading (16-29) and the stride offset (32-45); the start's
** place in a pattern that is not aligned (49-51, in units of 128 bytes); how pieces are mixed
** (62-63): by 16 (not at all), 128, 64 or 32 bytes.
**
** `type` has the codes of D, A and B; `flags` how (WG_...); r[1], r[2] the descriptors, r[3] whether D is added; extras the registers of D
** and A.
*/

enum { WG_SATURATES = 1, WG_REGISTERS = 2, WG_TURN_A = 4, WG_TURN_B = 8, WG_MINUS = 16, WG_KEEP_NOT = 32 };
enum { WG_ROWS = 64, WG_QUARTER = 16, WG_COLUMNS = 256, WG_DEEP = 32, WG_PIECES = 512, WG_PIECE = 16 };

typedef struct wg_tile {
  int turned;
  unsigned edge, deep, lines, along;    /* rows or columns; K; lines, and pieces of a line */
  uint32_t start, base, leading, stride;
  unsigned swizzle;                     /* pieces that are mixed */
  unsigned pieces;
  uint32_t at[WG_PIECES];               /* line after line; as bytes of shared memory */
} wg_tile;

/* A core matrix has eight lines; beyond that, and beyond a pattern's width, the offsets. */
static uint32_t wg_piece(const wg_tile *t, unsigned line, unsigned along) {
  int plain = t->swizzle == 1 && t->turned;
  uint32_t eights = plain ? t->leading : t->stride, far = plain ? t->stride : t->leading;
  uint32_t at = t->start + line % 8 * t->swizzle * WG_PIECE + line / 8 * eights +
                along / t->swizzle * far + along % t->swizzle * WG_PIECE;
  uint32_t phase = ((at >> 7) - t->base) & (t->swizzle - 1);
  return at ^ phase << 4;
}

static void wg_places(wg_tile *t, uint64_t descriptor, unsigned edge, unsigned deep, int turned) {
  static const uint8_t swizzles[] = { 1, 8, 4, 2 };
  t->turned = turned;
  t->edge = edge;
  t->deep = deep;
  t->lines = turned ? deep : edge;
  t->along = turned ? edge / 8 : 2;
  t->start = (uint32_t)(descriptor & 0x3fff) << 4;
  t->leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
  t->stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
  t->base = (uint32_t)(descriptor >> 49 & 7);
  t->swizzle = swizzles[descriptor >> 62];
  t->pieces = t->lines * t->along;
  for (unsigned i = 0; i < t->pieces; i++) t->at[i] = wg_piece(t, i / t->along, i % t->along);
}

static unsigned wg_n(const sim_insn *in) { return in->shape.n; }
static unsigned wg_k(const sim_insn *in) { return in->shape.k; }

static void wg_places_a(wg_tile *t, const sim_insn *in, uint64_t descriptor) {
  wg_places(t, descriptor, WG_ROWS, wg_k(in), in->flags & WG_TURN_A);
}
static void wg_places_b(wg_tile *t, const sim_insn *in, uint64_t descriptor) {
  wg_places(t, descriptor, wg_n(in), wg_k(in), in->flags & WG_TURN_B);
}

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

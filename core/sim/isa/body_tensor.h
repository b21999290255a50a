/*
** body_tensor.h - products of matrices: mma.sync and wmma.mma. Factors are exact; body_dot.h
** adds up their products, in double for float64 with one rounding each. Whole numbers are exact.
**
** `type` has the codes of D, A, B, C; `flags` how (MMA_...); extras the registers of D, A, B, C.
*/

enum { MMA_MOST = 32, MMA_DEEP = 256 };

typedef struct mma_shape {
  unsigned m, n, k;
  unsigned d, a, b, c;          /* registers of each */
  const sim_ref *at;            /* where they are, one list behind the other */
} mma_shape;

static inline unsigned code_bits(int code) {
  switch (code) {
    case 'd': return 64;
    case 'f': case 't': case 'i': return 32;
    case 'h': case 'b': return 16;
    case 'n': case 'N': return 4;
    case '1': return 1;
    default: return 8;
  }
}

static unsigned registers_of(unsigned elements, int code, int repeated) {
  if (repeated) return 8;
  return code == 'd' || code == 'f' || code == 'i' ? elements / 32 : elements * code_bits(code) / 1024;
}

static mma_shape shape_of_mma(const sim_warp *w, const sim_insn *in) {
  mma_shape s = { .m = in->shape.m, .n = in->shape.n, .k = in->shape.k,
                  .at = w->exec->function->extras + in->extra };
  int twice = (in->flags & MMA_WMMA) && in->type[1] == 'h';
  s.d = registers_of(s.m * s.n, in->type[0], 0);
  s.c = registers_of(s.m * s.n, in->type[3], 0);
  s.a = registers_of(s.m * s.k, in->type[1], twice);
  s.b = registers_of(s.k * s.n, in->type[2], twice);
  return s;
}

/* Factors: tf32 is float32 without its lower 13 bits. */
static inline double factor_in(uint64_t raw, int code) {
  switch (code) {
    case 'h': return half_to_float((uint32_t)raw & 0xffff);
    case 'b': return bf_to_float((uint32_t)raw & 0xffff);
    case 't': return float_of((uint32_t)raw & 0xffffe000);
    case 'f': return float_of((uint32_t)raw);
    case 'e': return e4m3_to_float((uint32_t)raw & 255);
    case 'E': return e5m2_to_float((uint32_t)raw);
    default: return double_of(raw);
  }
}
static inline int32_t whole_in(uint64_t raw, int code) {
  switch (code) {
    case 'c': return (int8_t)raw;
    case 'C': return (uint8_t)raw;
    case 'n': return (int32_t)((uint32_t)raw << 28) >> 28;
    case 'N': return (int32_t)(raw & 15);
    case '1': return (int32_t)(raw & 1);
    default: return (int32_t)raw;
  }
}

static inline uint64_t part_of(uint64_t v, unsigned i, unsigned bits) {
  return bits >= 32 ? v : v >> (i * bits) & ((UINT64_C(1) << bits) - 1);
}

/* Where element i of lane l belongs; which: 0 A, 1 B, 2 C and D. */
static inline void mma_place(const mma_shape *s, int wmma, int which, unsigned per, unsigned l, unsigned i,
                             unsigned *row, unsigned *column) {
  unsigned g = l >> 2, t = l & 3, r = i / per, e = i % per, tall = s->m == 16;
  if (wmma) {
    unsigned columns = which == 0 ? s->k : s->n, n = l + SIM_LANES * i;
    *row = n / columns;
    *column = n % columns;
  } else if (which == 0) {
    *row = g + (tall ? 8 * (r & 1) : 0);
    *column = per * t + (tall ? r >> 1 : r) * 4 * per + e;
  } else if (which == 1) {
    *row = per * t + r * 4 * per + e;
    *column = g;
  } else {
    *row = g + 8 * (i >> 1 & 1);
    *column = 8 * (i >> 2) + 2 * t + (i & 1);
  }
}

/* A matrix from its registers, as doubles or (whole) numbers. */
static void mma_read(const sim_warp *w, const mma_shape *s, int wmma, int which, int code, const sim_ref *r,
                     unsigned n, double *f, int32_t *whole) {
  unsigned bits = code_bits(code), bytes = bits == 64 ? 8 : 4, per = bits >= 32 ? 1 : 32 / bits;
  unsigned columns = which == 0 ? s->k : s->n;
  unsigned elements = (which == 0 ? s->m * s->k : which == 1 ? s->k * s->n : s->m * s->n) / SIM_LANES;
  for (unsigned i = 0; i < elements && i < n * per; i++)
    for (unsigned l = 0; l < SIM_LANES; l++) {
      unsigned row, column;
      uint64_t v = part_of(lane_of(w, r[i / per], bytes, l), i % per, bits);
      mma_place(s, wmma, which, per, l, i, &row, &column);
      if (f != NULL) f[row * columns + column] = factor_in(v, code);
      else whole[row * columns + column] = whole_in(v, code);
    }
}

static void mma_write(sim_warp *w, const mma_shape *s, int wmma, int code, const double *f, const int32_t *whole) {
  unsigned per = code == 'h' ? 2 : 1, bytes = code == 'd' ? 8 : 4;
  for (unsigned r = 0; r < s->d; r++)
    for (unsigned l = 0; l < SIM_LANES; l++) {
      uint64_t v = 0;
      for (unsigned e = 0; e < per; e++) {
        unsigned row, column;
        mma_place(s, wmma, 2, per, l, r * per + e, &row, &column);
        unsigned at = row * s->n + column;
        if (whole != NULL) v = (uint32_t)whole[at];
        else if (code == 'd') v = bits_of64(f[at]);
        else if (code == 'f') v = bits_of((float)f[at]);
        else v |= (uint64_t)float_to_half(sticky(f[at]), SIM_RN) << (16 * e);
      }
      put_lane(w, s->at[r], bytes, l, v);
    }
}

static void mma_doubles(const mma_shape *s, const double *a, const double *b, double *c) {
  for (unsigned i = 0; i < s->m; i++)
    for (unsigned k = 0; k < s->k; k++)
      for (unsigned j = 0; j < s->n; j++)
        c[i * s->n + j] = __builtin_fma(a[i * s->k + k], b[k * s->n + j], c[i * s->n + j]);
}

static dot_kind dot_of(const sim_insn *in, unsigned k) {
  return (dot_kind){ .step = k < 16 ? k : 16, .bits = DOT_BITS, .kept = in->type[0] == 'f' ? 23 : 52,
                     .least_a = dot_least(in->type[1]), .least_b = dot_least(in->type[2]) };
}

/* Every other pair of K, from `first` on. */
static void mma_pairs(const mma_shape *s, unsigned first, const double *a, const double *b, double *x, double *y) {
  for (unsigned k = 0; k < s->k / 2; k++) {
    unsigned from = (k >> 1) * 4 + first + (k & 1);
    for (unsigned i = 0; i < s->m; i++) x[i * s->k / 2 + k] = a[i * s->k + from];
    for (unsigned j = 0; j < s->n; j++) y[k * s->n + j] = b[from * s->n + j];
  }
}

/* Of 8-bit floats an H100 has products in warpgroups alone. Two of float16 take their place, of the
** lower and of the upper halves of all registers, and the addend comes last (as nvdisasm shows). */
static void mma_eights(const sim_insn *in, const mma_shape *s, const double *a, const double *b, double *c) {
  dot_kind kind = { .step = s->k / 2, .bits = DOT_BITS, .kept = in->type[0] == 'f' ? 23 : 52,
                    .least_a = dot_least('h'), .least_b = dot_least('h') };
  double x[MMA_MOST * MMA_MOST], y[MMA_MOST * MMA_MOST], sum[MMA_MOST * MMA_MOST] = { 0 };
  for (unsigned first = 0; first < 4; first += 2) {
    mma_pairs(s, first, a, b, x, y);
    dot_product(&kind, sum, x, y, s->m, s->k / 2, s->n);
    for (unsigned i = 0; i < s->m * s->n && in->type[0] == 'h'; i++)
      sum[i] = half_to_float(float_to_half(sticky(sum[i]), SIM_RN));
  }
  for (unsigned i = 0; i < s->m * s->n; i++) c[i] = in->type[0] == 'f' ? (float)c[i] + (float)sum[i] : c[i] + sum[i];
}

static void mma_floats(sim_warp *w, const sim_insn *in, const mma_shape *s) {
  double a[MMA_MOST * MMA_MOST], b[MMA_MOST * MMA_MOST], c[MMA_MOST * MMA_MOST];
  int wmma = in->flags & MMA_WMMA;
  mma_read(w, s, wmma, 0, in->type[1], s->at + s->d, s->a, a, NULL);
  mma_read(w, s, wmma, 1, in->type[2], s->at + s->d + s->a, s->b, b, NULL);
  mma_read(w, s, wmma, 2, in->type[3], s->at + s->d + s->a + s->b, s->c, c, NULL);
  if (in->type[3] == 'd') mma_doubles(s, a, b, c);
  else if (code_bits(in->type[1]) == 8) mma_eights(in, s, a, b, c);
  else {
    dot_kind kind = dot_of(in, s->k);
    dot_product(&kind, c, a, b, s->m, s->k, s->n);
  }
  mma_write(w, s, wmma, in->type[0], c, NULL);
}

static int32_t saturated_sum(int64_t v, int how) {
  if (!(how & MMA_SATURATES)) return (int32_t)(uint32_t)(uint64_t)v;
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static void mma_wholes(sim_warp *w, const sim_insn *in, const mma_shape *s) {
  int32_t a[MMA_MOST * MMA_DEEP], b[MMA_MOST * MMA_DEEP], c[MMA_MOST * MMA_MOST];
  int wmma = in->flags & MMA_WMMA;
  mma_read(w, s, wmma, 0, in->type[1], s->at + s->d, s->a, NULL, a);
  mma_read(w, s, wmma, 1, in->type[2], s->at + s->d + s->a, s->b, NULL, b);
  mma_read(w, s, wmma, 2, in->type[3], s->at + s->d + s->a + s->b, s->c, NULL, c);
  for (unsigned i = 0; i < s->m; i++)
    for (unsigned j = 0; j < s->n; j++) {
      int64_t sum = c[i * s->n + j];
      for (unsigned k = 0; k < s->k; k++) {
        int32_t x = a[i * s->k + k], y = b[k * s->n + j];
        sum += in->flags & MMA_XOR ? x ^ y : (int64_t)x * y;
      }
      c[i * s->n + j] = saturated_sum(sum, in->flags);
    }
  mma_write(w, s, wmma, in->type[0], NULL, c);
}

static int op_mma(sim_warp *w, const sim_insn *in) {
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  mma_shape s = shape_of_mma(w, in);
  if (in->type[3] == 'i') mma_wholes(w, in, &s);
  else mma_floats(w, in, &s);
  return SIM_NEXT;
}

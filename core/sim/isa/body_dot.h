/*
** body_dot.h - sums of products as tensor cores form them, bit for bit as an H100 does
** (bench/sim/corpus, kernels named dot_ and _error). The products of one step and its addend are cut
** off, each towards zero, at DOT_BITS below the largest exponent among them, a product's being
** the sum of its factors' exponents; then they are added up, and of the sum what the
** accumulator has no room for is cut off, too. All of that fits into doubles, which are exact.
*/

enum { DOT_WIDE = 8, DOT_DEEP = 32, DOT_COLUMNS = 256, DOT_FACTORS = 32 * DOT_DEEP, DOT_SUMS = 16 * DOT_COLUMNS };
enum { DOT_BITS = 25, DOT_BITS_8 = 13 };       /* the second: warpgroups' 8-bit floats */
enum { DOT_ZERO = -600, DOT_NONE = -300 };     /* exponents: of zero; of a sum that has but zeros */

typedef double dot_wide __attribute__((vector_size(8 * DOT_WIDE)));
typedef int32_t dot_whole __attribute__((vector_size(4 * DOT_WIDE)));

typedef struct dot_kind {
  unsigned step;            /* products that are added at once; K is a multiple */
  unsigned bits, kept;      /* below the largest exponent; of the sum below its own */
  int least_a, least_b;     /* the subnormals' exponent */
} dot_kind;

static int dot_least(int code) { return code == 'h' || code == 'E' ? -14 : code == 'e' ? -6 : -126; }

static inline int32_t dot_exponent(double x, int least) {
  int32_t e = (int32_t)(bits_of64(x) >> 52 & 0x7ff) - 1023;
  return e == -1023 ? DOT_ZERO : e < least ? least : e;
}
static inline double dot_power(int e) { return double_of((uint64_t)(1023 + e) << 52); }

static void dot_exponents(int32_t *to, const double *x, unsigned n, int least) {
  for (unsigned i = 0; i < n; i++) to[i] = dot_exponent(x[i], least);
}

static int dot_finite(const double *x, unsigned n) {
  uint64_t none = UINT64_C(0x7ff) << 52, bad = 0;
  for (unsigned i = 0; i < n; i++) bad |= (bits_of64(x[i]) & none) == none;
  return bad == 0;
}

/* What `bits` after the first of a number's are, and no more, down to float32's last. */
static double dot_kept(double x, unsigned bits) {
  if (fabs(x) < 0x1p-126) return trunc(x * 0x1p149) * 0x1p-149;
  return double_of(bits_of64(x) & ~UINT64_C(0) << (52 - bits));
}

/* Of eight columns of a row the largest term's exponent. */
static inline void dot_largest(int32_t *e, const double *c, const int32_t *ea, const int32_t *eb, unsigned k, unsigned n) {
  for (unsigned j = 0; j < DOT_WIDE; j++) e[j] = c[j] == 0 ? DOT_NONE : dot_exponent(c[j], -126);
  for (unsigned i = 0; i < k; i++, eb += n)
    SIM_VECTOR for (unsigned j = 0; j < DOT_WIDE; j++) e[j] = ea[i] + eb[j] > e[j] ? ea[i] + eb[j] : e[j];
}

/* By address: as a value, its way into a function depends on the instruction set. */
static inline void dot_cut(dot_wide *x) {
  *x = __builtin_convertvector(__builtin_convertvector(*x, dot_whole), dot_wide);
}

/* One step of eight columns of a row: c[j] += the sum of a[i] b[i][j]; ea, eb the exponents. */
static inline void dot_step(const dot_kind *kind, double *c, const double *a, const int32_t *ea, const double *b,
                            const int32_t *eb, unsigned n) {
  int32_t e[DOT_WIDE];
  dot_wide scale = { 0 }, sum;      /* set whole below, which not every compiler sees */
  dot_largest(e, c, ea, eb, kind->step, n);
  for (unsigned j = 0; j < DOT_WIDE; j++) scale[j] = dot_power((int)kind->bits - e[j]);
  memcpy(&sum, c, sizeof sum);
  sum *= scale;
  dot_cut(&sum);
  for (unsigned i = 0; i < kind->step; i++, b += n) {
    dot_wide term;
    memcpy(&term, b, sizeof term);
    term *= a[i] * scale;
    dot_cut(&term);
    sum += term;
  }
  for (unsigned j = 0; j < DOT_WIDE; j++) c[j] = dot_kept(sum[j] * dot_power(e[j] - (int)kind->bits), kind->kept);
}

static void dot_sums(const dot_kind *kind, double *c, const double *a, const double *b, unsigned m, unsigned k, unsigned n) {
  int32_t ea[DOT_FACTORS], eb[DOT_DEEP * DOT_COLUMNS];
  dot_exponents(ea, a, m * k, kind->least_a);
  dot_exponents(eb, b, k * n, kind->least_b);
  for (size_t i = 0; i < m; i++)
    for (size_t at = 0; at < k; at += kind->step)
      for (size_t j = 0; j < n; j += DOT_WIDE)
        dot_step(kind, c + i * n + j, a + i * k + at, ea + i * k + at, b + at * n + j, eb + at * n + j, n);
}

static void dot_tame(double *to, const double *x, unsigned n) {
  for (unsigned i = 0; i < n; i++) to[i] = isfinite(x[i]) ? x[i] : 0;
}

/* Where a factor is no number, or infinite, so are the sums that it is in. */
static void dot_strange(const dot_kind *kind, double *c, const double *a, const double *b, unsigned m, unsigned k,
                        unsigned n) {
  double tame_a[DOT_FACTORS], tame_b[DOT_DEEP * DOT_COLUMNS], strange[DOT_SUMS];
  memset(strange, 0, (size_t)m * n * sizeof *strange);
  for (unsigned i = 0; i < m; i++)
    for (unsigned l = 0; l < k; l++)
      for (unsigned j = 0; j < n; j++) strange[i * n + j] += a[i * k + l] * b[l * n + j];
  for (unsigned i = 0; i < m * n; i++) strange[i] += c[i];
  dot_tame(tame_a, a, m * k);
  dot_tame(tame_b, b, k * n);
  dot_tame(c, c, m * n);
  dot_sums(kind, c, tame_a, tame_b, m, k, n);
  for (unsigned i = 0; i < m * n; i++) c[i] = isfinite(strange[i]) ? c[i] : strange[i];
}

/* c (m x n) += a (m x k) b (k x n); n is a multiple of eight. */
static void dot_product(const dot_kind *kind, double *c, const double *a, const double *b, unsigned m, unsigned k,
                        unsigned n) {
  if (dot_finite(a, m * k) && dot_finite(b, k * n) && dot_finite(c, m * n)) dot_sums(kind, c, a, b, m, k, n);
  else dot_strange(kind, c, a, b, m, k, n);
}

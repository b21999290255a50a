/*
** body_float.h - float32 and float64 arithmetic, and the approximate functions,
** computed well within the errors that the PTX manual states for them.
*/

/* Operations on floats x, y, z; .ftz flushes what goes in and what comes out. */
#define F32_1(name, expr) SIM_BEGIN(name) \
  f32 *d = SIM_PLACE(f32, w, in->r[0]); const f32 *a = SIM_PLACE(f32, w, in->r[1]); \
  if (in->ftz) SIM_EACH(w, float x = flushed(a[l]); d[l] = flushed(expr)); \
  else SIM_EACH(w, float x = a[l]; d[l] = (expr)); \
  SIM_END
#define F32_2(name, expr) SIM_BEGIN(name) \
  f32 *d = SIM_PLACE(f32, w, in->r[0]); const f32 *a = SIM_PLACE(f32, w, in->r[1]); \
  const f32 *b = SIM_PLACE(f32, w, in->r[2]); \
  if (in->ftz) SIM_EACH(w, float x = flushed(a[l]); float y = flushed(b[l]); d[l] = flushed(expr)); \
  else SIM_EACH(w, float x = a[l]; float y = b[l]; d[l] = (expr)); \
  SIM_END
#define F32_3(name, expr) SIM_BEGIN(name) \
  f32 *d = SIM_PLACE(f32, w, in->r[0]); const f32 *a = SIM_PLACE(f32, w, in->r[1]); \
  const f32 *b = SIM_PLACE(f32, w, in->r[2]), *c = SIM_PLACE(f32, w, in->r[3]); \
  if (in->ftz) SIM_EACH(w, float x = flushed(a[l]); float y = flushed(b[l]); \
                        float z = flushed(c[l]); d[l] = flushed(expr)); \
  else SIM_EACH(w, float x = a[l]; float y = b[l]; float z = c[l]; d[l] = (expr)); \
  SIM_END

/* PTX: a number beats a NaN, and -0 is less than +0. */
static inline float lesser(float x, float y) {
  float same = float_of(bits_of(x) | bits_of(y));
  return x < y ? x : y < x ? y : x == y ? same : x != x ? y : x;
}
static inline float greater(float x, float y) {
  float same = float_of(bits_of(x) & bits_of(y));
  return x > y ? x : y > x ? y : x == y ? same : x != x ? y : x;
}
static inline float nan_or(float x, float y, float r) {
  return x != x || y != y ? float_of(0x7fffffff) : r;
}

F32_2(add_f32, x + y)
F32_2(sub_f32, x - y)
F32_2(mul_f32, x * y)
F32_3(fma_f32, __builtin_fmaf(x, y, z))
F32_2(div_f32, x / y)
F32_1(rcp_f32, 1.0f / x)
F32_1(sqrt_f32, __builtin_sqrtf(x))
F32_1(rsqrt_f32, 1.0f / __builtin_sqrtf(x))
F32_1(abs_f32, float_of(bits_of(x) & 0x7fffffff))
F32_1(neg_f32, float_of(bits_of(x) ^ 0x80000000))
F32_2(min_f32, lesser(x, y))
F32_2(max_f32, greater(x, y))
F32_2(min_nan_f32, nan_or(x, y, lesser(x, y)))
F32_2(max_nan_f32, nan_or(x, y, greater(x, y)))
/* copysign d, a, b: the sign of a, the magnitude of b. */
SIM_OP2(copysign_f32, u32, u32, u32, (a[l] & 0x80000000) | (b[l] & 0x7fffffff))

/* ------------------------------------------------- approximate functions */

/* 2^x: 2^round(x) times a polynomial (Taylor series of 2^f, |f| <= 1/2, error 2e-8). */
static inline float exp2_of(float x) {
  float t = !(x >= -151.0f) ? -151.0f : x > 129.0f ? 129.0f : x;   /* NaN too: the cast below */
  float k = (t + 12582912.0f) - 12582912.0f, f = t - k;
  float p = 1.5403530e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  int32_t n = (int32_t)k, half = n >> 1;        /* two factors: the result may be subnormal */
  float r = p * float_of((uint32_t)(half + 127) << 23) * float_of((uint32_t)(n - half + 127) << 23);
  return x != x ? x : r;
}

/* log2(x): exponent plus 2/ln 2 * atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt(2)). */
static inline float log2_of(float x) {
  int tiny = x < 1.17549435e-38f;
  uint32_t u = bits_of(tiny ? x * 8388608.0f : x) - 0x3f3504f3u;
  float e = (float)((int32_t)u >> 23) - (tiny ? 23.0f : 0.0f);
  float m = float_of((u & 0x007fffffu) + 0x3f3504f3u);
  float s = (m - 1.0f) / (m + 1.0f), q = s * s;
  float p = 0.32059889f;                          /* 2/(9 ln 2), then /7, /5, /3, /1 */
  p = p * q + 0.41219858f;
  p = p * q + 0.57707802f;
  p = p * q + 0.96179669f;
  p = p * q + 2.8853901f;
  float r = p * s + e;
  float odd = x == 0 ? -INFINITY : x > 0 ? x : NAN;   /* 0, infinity, negative, NaN */
  return x > 0 && x < INFINITY ? r : odd;
}

/* sin(x + quarter * pi/2), reduced and evaluated in double. */
static inline float sine_of(float v, int quarter) {
  double x = v, k = (x * 0.63661977236758134 + 6755399441055744.0) - 6755399441055744.0;
  double r = x - k * 1.5707963267948966, q = r * r;
  double s = r * (1 + q * (-1.0 / 6 + q * (1.0 / 120 + q * (-1.0 / 5040 + q * (1.0 / 362880)))));
  double c = 1 + q * (-0.5 + q * (1.0 / 24 + q * (-1.0 / 720 + q * (1.0 / 40320 - q * (1.0 / 3628800)))));
  int64_t quarters = (int64_t)(k > 4e15 || k < -4e15 || k != k ? 0 : k) + quarter;
  double y = quarters & 1 ? c : s;
  float bad = v - v;                              /* NaN for infinities and NaN */
  return (float)(quarters & 2 ? -y : y) + bad;
}

/* tanh: a series near zero, 1 - 2/(e^2x + 1) elsewhere. */
static inline float tanh_of(float x) {
  float a = float_of(bits_of(x) & 0x7fffffff), q = x * x;
  float small = x + x * q * (-0.33333333f + q * (0.13333333f - q * 0.053968254f));
  float big = 1.0f - 2.0f / (exp2_of(a * 2.8853901f) + 1.0f);
  float r = a < 0.25f ? small : float_of(bits_of(big) | (bits_of(x) & 0x80000000));
  return x != x ? x : r;
}

F32_1(ex2_f32, exp2_of(x))
F32_1(lg2_f32, log2_of(x))
F32_1(sin_f32, sine_of(x, 0))
F32_1(cos_f32, sine_of(x, 1))
F32_1(tanh_f32, tanh_of(x))

/* ------------------------------------------------------------------ double */

static inline double lesser64(double x, double y) {
  double same = double_of(bits_of64(x) | bits_of64(y));
  return x < y ? x : y < x ? y : x == y ? same : x != x ? y : x;
}
static inline double greater64(double x, double y) {
  double same = double_of(bits_of64(x) & bits_of64(y));
  return x > y ? x : y > x ? y : x == y ? same : x != x ? y : x;
}
/* The gross approximations: only the upper 32 bits matter, subnormals are zero. */
static inline double upper(double x) {
  uint64_t u = bits_of64(x) & UINT64_C(0xffffffff00000000);
  return double_of((u & UINT64_C(0x7ff0000000000000)) == 0 ? u & UINT64_C(0x8000000000000000) : u);
}

SIM_OP2(add_f64, f64, f64, f64, a[l] + b[l])
SIM_OP2(sub_f64, f64, f64, f64, a[l] - b[l])
SIM_OP2(mul_f64, f64, f64, f64, a[l] * b[l])
SIM_OP3(fma_f64, f64, f64, f64, f64, __builtin_fma(a[l], b[l], c[l]))
SIM_OP2(div_f64, f64, f64, f64, a[l] / b[l])
SIM_OP1(rcp_f64, f64, f64, 1.0 / a[l])
SIM_OP1(sqrt_f64, f64, f64, __builtin_sqrt(a[l]))
SIM_OP1(rsqrt_f64, f64, f64, 1.0 / __builtin_sqrt(a[l]))
SIM_OP1(rcp_approx_f64, f64, f64, upper(1.0 / upper(a[l])))
SIM_OP1(rsqrt_approx_f64, f64, f64, upper(1.0 / __builtin_sqrt(upper(a[l]))))
SIM_OP1(abs_f64, u64, u64, a[l] & ~(UINT64_C(1) << 63))
SIM_OP1(neg_f64, u64, u64, a[l] ^ UINT64_C(1) << 63)
SIM_OP2(min_f64, f64, f64, f64, lesser64(a[l], b[l]))
SIM_OP2(max_f64, f64, f64, f64, greater64(a[l], b[l]))
SIM_OP2(copysign_f64, u64, u64, u64, (a[l] & UINT64_C(1) << 63) | (b[l] & ~(UINT64_C(1) << 63)))

/*
** test_sim_features.c - the simulated device's instructions against plain C, one
** kernel of tests/sim/ptx/features.cu for each corner, on every executor that this
** machine can run; all of them must give the same bits.
*/
#include <math.h>

#include "check.h"
#include "sim/isa/isas.h"
#include "sim/memory/device.h"
#include "sim_fixture.h"

static const sim_isa *isas[3];
static int nisas;

static void find_isas(void) {
  const sim_isa *best = sim_isa_best();
  isas[nisas++] = &sim_isa_base;
  if (best == &sim_isa_avx512) isas[nisas++] = &sim_isa_avx2;
  if (best != &sim_isa_base) isas[nisas++] = best;
}

static void open_with(sim_fixture *x, const sim_isa *isa) {
  fixture_open(x, "features.ptx");
  cawb_device_unload(x->d, x->m);
  ((sim_device *)x->d)->isa = isa;
  fixture_load(x, "features.ptx");
}

/* Print what differs: a bare CHECK would not say which of many values it was. */
static int same_i(const char *what, int i, long long got, long long want) {
  if (got != want) fprintf(stderr, "%s[%d]: %lld, not %lld\n", what, i, got, want);
  return got == want;
}
static int near_f(const char *what, int i, double got, double want, double tol) {
  int ok = (isnan(got) && isnan(want)) || got == want || fabs(got - want) <= tol * (1e-30 + fabs(want));
  if (!ok) fprintf(stderr, "%s[%d]: %.9g, not %.9g\n", what, i, got, want);
  return ok;
}

/* --------------------------------------------------------------- divergence */

static void test_divergence(sim_fixture *x) {
  int out[64];
  cawb_addr o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, o);
  CHECK(launch(x, "divergence", 1, 1, 64, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int t = 0; t < 64; t++) {
    int v = t & 1 ? t * 3 : t + 100;
    if (t % 3 == 0) for (int i = 0; i < t; i++) v += i ^ t;
    switch (t & 7) {
      case 0: v += 1; break;
      case 1: v ^= 5; break;
      case 2: v *= 7; break;
      case 3: v -= 9; break;
      case 4: v |= 64; break;
      case 5: v &= 1023; break;
      default: v = ~v;
    }
    CHECK(same_i("divergence", t, out[t], v));
  }
  CHECK(x->report.divergent_branches > 0 && x->report.divergent_branches <= x->report.branches);
}

/* ----------------------------------------------------------------- integers */

static long long integer_want(int k, int x, int y) {
  int d = y ? y : 1, wild = x == INT32_MIN && d == -1;
  unsigned ux = (unsigned)x, uy = (unsigned)y, ud = (unsigned)d;
  unsigned long long both = (unsigned long long)ux << 32;
  switch (k) {
    case 0: return wild ? 0 : x / d;
    case 1: return wild ? 0 : x % d;
    case 2: return ux / ud;
    case 3: return ux % ud;
    case 4: return (long long)x * y;
    case 5: return (long long)((unsigned long long)ux * uy);
    case 6: return (int)((long long)x * y >> 32);
    case 7: return (unsigned)((unsigned long long)ux * uy >> 32);
    case 8: return x >> (y & 31);
    case 9: return ux >> (uy & 31);
    case 10: return ux << (uy & 31);
    case 11: return __builtin_popcount(ux);
    case 12: return ux ? __builtin_clz(ux) : 32;
    case 13: return __builtin_ffs(x);
    case 14: { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (ux >> i & 1) << (31 - i); return r; }
    case 15: return (long long)((ux >> 16 & 255) | (uy >> 16 & 255) << 8 | (ux >> 8 & 255) << 16 | (uy >> 24) << 24);
    case 16: return (unsigned)((((unsigned long long)uy << 32 | ux) << 11) >> 32);
    case 17: return x < y ? x : y;
    case 18: return ux > uy ? ux : uy;
    case 19: return (int)(x < 0 ? 0u - ux : ux);
    case 20: return (unsigned)(5u + (x < y ? uy - ux : ux - uy));
    case 21: { int s = 7; for (int i = 0; i < 4; i++) s += (signed char)(ux >> 8 * i) * (signed char)(uy >> 8 * i); return s; }
    case 22: return (signed char)x;
    case 23: return (unsigned short)y;
    case 24: return (long long)((unsigned long long)(long long)x << 17) / d;
    case 25: return (long long)(((unsigned long long)ux * 77) % (ud | 1ull << 33));
    case 26: return (long long)((__int128)(long long)((unsigned long long)(long long)x << 31) *
                                (long long)((unsigned long long)(long long)y << 20) >> 64);
    case 27: return (unsigned)((ux & uy) ^ (~ux | uy));
    case 28: return (both >> 32) << 9 ? __builtin_clzll((unsigned long long)ux << 9) : 64;
    case 29: return (unsigned)(3u + (ux < uy ? uy - ux : ux - uy));
    case 30: return (unsigned)(((unsigned long long)ux + uy) >> 1);
    default: return (unsigned)((ux >> 5 & 0x1ff) + (unsigned)((int)(ux << 20) >> 27));
  }
}

static void test_integers(sim_fixture *x) {
  static const int corners[] = { 0, 1, -1, 2, 7, -13, 31, 32, 0x7fffffff, INT32_MIN, 0x12345678, -0x3039,
                                 65536, (int)0x80ff7f01, 1000003, -65537 };
  enum { C = sizeof corners / sizeof *corners, N = C * C };
  static int a[N], b[N];
  static long long out[N][32];
  for (int i = 0; i < N; i++) a[i] = corners[i / C], b[i] = corners[i % C];
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, o); ARG(x, int, N);
  CHECK(launch(x, "integers", (N + 63) / 64, 1, 64, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 32; k++)
      CHECK(same_i("integers", i * 100 + k, out[i][k], integer_want(k, a[i], b[i])));
}

/* ------------------------------------------------------------------- floats */

static float want_min(float x, float y) { return isnan(x) ? y : isnan(y) ? x : x < y ? x : y < x ? y : signbit(x) ? x : y; }
static float want_max(float x, float y) { return isnan(x) ? y : isnan(y) ? x : x > y ? x : y > x ? y : signbit(x) ? y : x; }

static void check_floats(int i, float x, float y, const float *o) {
  CHECK(near_f("min", i, o[0], want_min(x, y), 0) && signbit(o[0]) == signbit(want_min(x, y)));
  CHECK(near_f("max", i, o[1], want_max(x, y), 0) && signbit(o[1]) == signbit(want_max(x, y)));
  CHECK(near_f("div", i, o[2], x / y, 0));
  CHECK(near_f("sqrt", i, o[3], sqrtf(x), 0));
  CHECK(near_f("rcp", i, o[4], 1 / y, 0));
  CHECK(near_f("floor", i, o[5], floorf(x), 0));
  CHECK(near_f("ceil", i, o[6], ceilf(x), 0));
  CHECK(near_f("rint", i, o[7], rintf(x), 0));
  CHECK(near_f("trunc", i, o[8], truncf(x), 0));
  CHECK(near_f("round", i, o[9], roundf(x), 0));
  CHECK(o[10] == (x < y ? 1 : 2));
  CHECK(o[11] == (!(x >= y) ? 1 : 2));
  CHECK(o[12] == (x != y ? 1 : 2));
  CHECK(o[13] == (x == y ? 1 : 2));
  CHECK(near_f("sub", i, o[14], fabsf(x) - y, 0));
  CHECK(isnan(x) || near_f("copysign", i, o[15], copysignf(x, y), 0));
  CHECK(near_f("sat", i, o[16], x > 0 ? x < 1 ? x : 1 : 0, 0));
  CHECK(near_f("fma", i, o[17], fmaf(x, y, 1), 0));
  CHECK(o[20] == (isnan(x) ? 1 : 0));
  CHECK(o[21] == (isinf(y) ? 1 : 0));
  CHECK(near_f("mod", i, o[23], fmodf(x, y), 0));
  if (!isfinite(x) || !isfinite(y) || fabsf(x) > 1e18f || fabsf(y) > 1e18f || fabsf(y) < 1e-18f || fabsf(x) < 1e-18f) return;
  double sum = (double)x + y, product = (double)x * y, quotient = (double)x / y;
  CHECK(fabs((double)o[18]) <= fabs(sum) && fabs((double)nextafterf(o[18], o[18] > 0 ? INFINITY : -INFINITY)) >= fabs(sum));
  CHECK(o[19] >= product && nextafterf(o[19], -INFINITY) < product);
  CHECK(o[22] <= quotient && nextafterf(o[22], INFINITY) > quotient);
}

static void test_floats(sim_fixture *x) {
  static const float corners[] = { 0.0f, -0.0f, 1, -1, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 3.4e38f, 1e-40f, -1e-40f, NAN,
                                   INFINITY, -INFINITY, 0.3333333f, 123456.789f, -7.0f, 16777217.0f, 1e-20f };
  enum { C = sizeof corners / sizeof *corners, N = C * C };
  static float a[N], b[N], out[N][24];
  for (int i = 0; i < N; i++) a[i] = corners[i / C], b[i] = corners[i % C];
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, o); ARG(x, int, N);
  CHECK(launch(x, "floats", (N + 127) / 128, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int i = 0; i < N; i++) check_floats(i, a[i], b[i], out[i]);
}

static void test_transcendentals(sim_fixture *x) {
  enum { N = 1024 };
  static float a[N], out[N][16];
  unsigned seed = 7;
  for (int i = 0; i < N; i++) a[i] = noise(&seed) * 20;
  a[0] = 0, a[1] = 88.7f, a[2] = -87, a[3] = 1e-6f, a[4] = 3.1415927f;
  cawb_addr A = tensor(x, "a", a, sizeof a), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, o); ARG(x, int, N);
  CHECK(launch(x, "transcendentals", N / 128, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int i = 0; i < N; i++) {
    double v = a[i], p = fabs(v) + 1e-3f;
    const float *r = out[i];
    CHECK(near_f("exp", i, r[0], exp(v), 4e-7));
    CHECK(near_f("__exp", i, r[1], exp(v), 4e-6));
    CHECK(near_f("log", i, r[2] + 10, log(p) + 10, 3e-7));
    CHECK(near_f("__log", i, r[3] + 10, log(p) + 10, 1e-6));
    CHECK(near_f("sin", i, r[4] + 2, sin(v) + 2, 3e-7));
    CHECK(near_f("__cos", i, r[5] + 2, cos(v) + 2, 1e-6));
    CHECK(near_f("tanh", i, r[6], tanh(v), 4e-7));
    CHECK(near_f("erf", i, r[7], erf(v), 4e-7));
    CHECK(near_f("rsqrt", i, r[8], 1 / sqrt(p), 4e-7));
    CHECK(near_f("pow", i, r[9], pow(fabs(v), (double)1.7f), 1e-6));
    CHECK(near_f("exp2", i, r[10], exp2(v), 4e-7));
    CHECK(near_f("log1p", i, r[11], log1p(fabs(v)), 4e-7));
    CHECK(near_f("__fdividef", i, r[12], v / 3, 4e-7));
    CHECK(near_f("cbrt", i, r[13], cbrt(v), 4e-7));
    CHECK(near_f("expm1", i, r[14], expm1(v), 4e-7));
    CHECK(near_f("sigmoid", i, r[15], 1 / (1 + exp(-v)), 4e-6));
  }
}

static void test_doubles(sim_fixture *x) {
  enum { N = 256 };
  static double a[N], b[N], out[N][14];
  unsigned seed = 3;
  for (int i = 0; i < N; i++) a[i] = (double)noise(&seed) * 30, b[i] = (double)noise(&seed) * 3;
  a[0] = NAN, b[1] = NAN, a[2] = INFINITY, a[3] = -0.0, b[3] = 0.0, a[4] = 1e300, b[4] = 1.0;
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, o); ARG(x, int, N);
  CHECK(launch(x, "doubles", 2, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int i = 0; i < N; i++) {
    double u = a[i], v = b[i], *r = out[i];
    CHECK(near_f("add", i, r[0], u + v, 0));
    CHECK(near_f("mul", i, r[1], fma(u, v, -1), 1e-15));
    CHECK(near_f("div", i, r[2], u / v, 0));
    CHECK(near_f("sqrt", i, r[3], sqrt(fabs(u)), 0));
    CHECK(near_f("exp", i, r[4], exp(u), 1e-14));
    CHECK(near_f("log", i, r[5], log(fabs(v)), 1e-14));
    CHECK(near_f("sin", i, r[6], sin(u), 1e-13));
    CHECK(near_f("fmin", i, r[7], fmin(u, v), 0));
    CHECK(near_f("fmax", i, r[8], fmax(u, v), 0));
    CHECK(near_f("floor", i, r[9], floor(u), 0));
    CHECK(near_f("fma", i, r[10], fma(u, v, u), 0));
    CHECK(near_f("pow", i, r[11], pow(fabs(u), v), 1e-13));
    CHECK(near_f("rsqrt", i, r[12], 1 / sqrt(fabs(u)), 1e-15));
    CHECK(near_f("rcbrt", i, r[13], 1 / cbrt(v), 1e-15));
  }
}

/* -------------------------------------------------------------- conversions */

static long long clamp(double d, double lo, double hi, long long least, long long most, long long nan) {
  return isnan(d) ? nan : d <= lo ? least : d >= hi ? most : (long long)d;
}

/* A float16 by search: the nearest value, the even one of two. */
static unsigned half_want(float f) {
  if (isnan(f)) return 0x7fff;
  double v = fabs((double)f), best = INFINITY;
  unsigned pick = 0;
  for (unsigned h = 0; h <= 0x7c00; h++) {
    double g = h < 0x400 ? ldexp(h, -24) : ldexp((h & 0x3ff) | 0x400, (int)(h >> 10) - 25);
    double far = fabs(g - v);                    /* 0x7c00 stands for 65536 here */
    if (far < best || (far == best && !(h & 1))) best = far, pick = h;
  }
  if (v >= 65520) pick = 0x7c00;
  return pick | (signbit(f) ? 0x8000 : 0);
}

static void test_conversions(sim_fixture *x) {
  static const double a[] = { 0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9, 1e19, -1e19, 2e19, NAN, INFINITY, -INFINITY,
                              2147483647.5, 65504, 65519.9, 65520, 6e-8, 2.9e-8, -6.1e-5, 0.1, 123456789.123, 1.00048828125,
                              1.0029296875, 3.3895e38, 1e-30 };
  enum { N = sizeof a / sizeof *a };
  static long long out[N][16];
  cawb_addr A = tensor(x, "a", a, sizeof a), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, o); ARG(x, int, N);
  CHECK(launch(x, "conversions", 1, 1, 32, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int i = 0; i < N; i++) {
    double d = a[i];
    float f = (float)d, back;
    long long *r = out[i];
    unsigned bits;
    CHECK(same_i("s32.f32", i, r[0], clamp(f, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX, 0)));
    CHECK(same_i("u32.f32", i, r[1], clamp(f, 0, 4294967296.0, 0, 4294967295, 0)));
    CHECK(same_i("s64.f32", i, r[2], clamp(f, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN)));
    CHECK(same_i("u64.f32", i, r[3], f >= 0x1p63f && f < 0x1p64f ? (long long)(unsigned long long)f
                                   : clamp(f, 0, 0x1p64, 0, -1, INT64_MIN)));
    CHECK(same_i("s32.f64", i, r[4], clamp(d, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX, INT32_MIN)));
    CHECK(same_i("s64.f64", i, r[5], clamp(d, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN)));
    CHECK(same_i("rni", i, r[6], clamp(rintf(f), -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX, 0)));
    CHECK(same_i("rmi", i, r[7], clamp(floorf(f), -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX, 0)));
    CHECK(same_i("rpi", i, r[8], clamp(ceilf(f), -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX, 0)));
    double widened = (double)r[5];
    CHECK(memcmp(&widened, &r[9], 8) == 0);
    back = (float)(int)r[4], memcpy(&bits, &back, 4);
    CHECK(same_i("f32.s32", i, (unsigned)r[10], bits));
    back = (float)(unsigned)r[1], memcpy(&bits, &back, 4);
    CHECK(same_i("f32.u32", i, (unsigned)r[11], bits));
    back = (float)r[2], memcpy(&bits, &back, 4);
    CHECK(same_i("f32.s64", i, (unsigned)r[12], bits));
    CHECK(same_i("f16.f32", i, r[13], half_want(f)));
    memcpy(&bits, &f, 4);
    unsigned bf = isnan(f) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    CHECK(same_i("bf16.f32", i, r[14], bf));
    CHECK(isnan(f) || same_i("f32.f64", i, (unsigned)r[15], bits));
  }
}

/* ------------------------------------------------------- atomics and warps */

static void test_atomics(sim_fixture *x) {
  enum { N = 1000 };
  static int keys[N], ints[128], want[64];
  float fl = 0;
  double db = 0;
  unsigned long long longs[2] = { 0, 0 };
  int most = INT32_MIN, least = INT32_MAX, all = 0, mix = 0;
  unsigned seed = 11;
  memset(ints, 0, sizeof ints);
  memset(want, 0, sizeof want);
  for (int i = 0; i < N; i++) {
    keys[i] = (int)(noise(&seed) * 1e6f);
    want[keys[i] & 63]++;
    if (keys[i] > most) most = keys[i];
    if (keys[i] < least) least = keys[i];
    all |= (int)(1u << (i & 31));
    mix ^= keys[i];
  }
  ints[64] = INT32_MIN, ints[65] = INT32_MAX;
  cawb_addr I = tensor(x, "ints", ints, sizeof ints), F = tensor(x, "floats", &fl, 4), D = tensor(x, "doubles", &db, 8);
  cawb_addr L = tensor(x, "longs", longs, sizeof longs), K = tensor(x, "keys", keys, sizeof keys);
  ARG(x, cawb_addr, I); ARG(x, cawb_addr, F); ARG(x, cawb_addr, D); ARG(x, cawb_addr, L); ARG(x, cawb_addr, K); ARG(x, int, N);
  CHECK(launch(x, "atomics", 8, 1, 128, 1, 0) == CAWB_OK);
  CHECK(x->report.races == 0);
  fetch_tensor(x, ints, I, sizeof ints);
  fetch_tensor(x, &fl, F, 4);
  fetch_tensor(x, &db, D, 8);
  fetch_tensor(x, longs, L, sizeof longs);
  for (int k = 0; k < 64; k++) CHECK(same_i("bins", k, ints[k], want[k]));
  CHECK(fl == N * 0.5f && db == N * 0.25 && longs[0] == N * 3 && longs[1] == N - 1);
  CHECK(ints[64] == most && ints[65] == least && ints[66] == all && ints[67] == mix);
  CHECK(same_i("cas", 0, ints[68], 2 * N));
  CHECK(ints[69] == 42 && same_i("inc", 0, ints[70], N % 10));
}

static void test_warps(sim_fixture *x) {
  static int out[64][16];
  cawb_addr o = tensor(x, "out", NULL, sizeof out);
  memset(out, 0, sizeof out);
  CHECK(cawb_device_write(x->d, o, out, sizeof out, &x->err) == CAWB_OK);
  ARG(x, cawb_addr, o);
  CHECK(launch(x, "warps", 1, 1, 64, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int t = 0; t < 64; t++) {
    int lane = t & 31, w = t & 32, *r = out[t];
    unsigned thirds = 0, fives = 0;
    int sum = 0;
    for (int k = 0; k < 32; k++) {
      if ((w + k) % 3 == 0) thirds |= 1u << k;
      if ((w + k) / 5 == t / 5) fives |= 1u << k;
      sum += w + k;
    }
    CHECK(same_i("shfl", t, r[0], (w + 5) * 2));
    CHECK(same_i("up", t, r[1], lane < 3 ? t : t - 3));
    CHECK(same_i("down", t, r[2], (lane & 7) < 4 ? t + 4 : t));
    CHECK(same_i("xor", t, r[3], t ^ 7));
    CHECK(same_i("ballot", t, (unsigned)r[4], thirds));
    CHECK(r[5] == (w == 32) && r[6] == (w == 0));
    CHECK(same_i("redux.add", t, r[7], sum));
    CHECK(same_i("redux.max", t, r[8], -w));
    CHECK(same_i("match", t, (unsigned)r[9], fives));
    CHECK(same_i("activemask", t, r[10], lane < 10 ? 0x3ff : 0));
    CHECK(r[11] == 32 && r[12] != 0 && r[13] != 0);
    CHECK(lane < 16 || same_i("upper half", t, r[14], w + 20));
    CHECK(same_i("popc", t, r[15], 24));
  }
  CHECK(x->report.barriers == 6);
}

/* ------------------------------------------------------------------- halves */

static float half_value(unsigned h) {
  float v = (h & 0x7c00) == 0x7c00 ? (h & 0x3ff ? NAN : INFINITY)
          : ldexpf((float)((h & 0x3ff) | (h & 0x7c00 ? 0x400 : 0)), (int)(h >> 10 & 31) - (h & 0x7c00 ? 25 : 24));
  return h & 0x8000 ? -v : v;
}
static float bf_value(unsigned h) { unsigned u = h << 16; float f; memcpy(&f, &u, 4); return f; }

static int same_half(const char *what, int i, unsigned got, double want) {
  float g = half_value(got);
  float w = half_value(half_want((float)want));
  int ok = (isnan(g) && isnan(w)) || g == w;
  if (!ok) fprintf(stderr, "%s[%d]: %g, not %g\n", what, i, (double)g, (double)w);
  return ok;
}

static void test_halves(sim_fixture *x) {
  enum { N = 96 };
  static unsigned short a[N], b[N], c[N], out[N][10], bout[N][4];
  unsigned seed = 5;
  for (int i = 0; i < N; i++) {
    a[i] = (unsigned short)half_want(noise(&seed) * 4);
    b[i] = (unsigned short)half_want(noise(&seed) * 4);
    float f = noise(&seed) * 9;
    unsigned u;
    memcpy(&u, &f, 4);
    c[i] = (unsigned short)(u >> 16);
  }
  a[0] = 0x7c00, a[1] = 0x7e00, b[2] = 0x7e00, a[3] = 1, b[3] = 1, a[4] = 0x7bff, b[4] = 0x7bff;
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), C = tensor(x, "c", c, sizeof c);
  cawb_addr O = tensor(x, "out", NULL, sizeof out), P = tensor(x, "bout", NULL, sizeof bout);
  ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, O); ARG(x, cawb_addr, C); ARG(x, cawb_addr, P); ARG(x, int, N);
  CHECK(launch(x, "halves", 3, 1, 32, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, O, sizeof out);
  fetch_tensor(x, bout, P, sizeof bout);
  for (int i = 0; i < N; i++) {
    float p = half_value(a[i]), q = half_value(b[i]), z = bf_value(c[i]);
    CHECK(same_half("add", i, out[i][0], (double)p + q));
    CHECK(same_half("mul", i, out[i][1], (double)p * q));
    CHECK(same_half("fma", i, out[i][2], fma(p, q, p)));
    CHECK(same_half("max", i, out[i][3], isnan(p) ? q : isnan(q) ? p : p > q ? p : q));
    CHECK(same_half("div", i, out[i][4], p / q));
    CHECK(same_half("less", i, out[i][5], p < q ? p : q));
    CHECK(same_half("fma2 low", i, out[i][6], fma(p, p, half_value(half_want(p + p)))));
    CHECK(same_half("fma2 high", i, out[i][7], fma(q, q, half_value(half_want(q + q)))));
    float sum = p + q, product = fmaf(p, q, p);
    CHECK(same_half("sat", i, out[i][8], sum > 0 ? sum < 1 ? sum : 1 : 0));
    CHECK(same_half("relu", i, out[i][9], product < 0 ? 0 : fma(p, q, p)));
    CHECK(near_f("bf add", i, bf_value(bout[i][0]), z + z, 0));
    CHECK(near_f("bf mul", i, bf_value(bout[i][1]), z * z, 0.004));
    CHECK(near_f("bf via float", i, bf_value(bout[i][2]), z * 1.5f, 0.004));
    CHECK(near_f("bf fma", i, bf_value(bout[i][3]), fmaf(z, z, z), 0.004));
  }
}

/* ----------------------------------------------------- spaces and functions */

static void test_spaces(sim_fixture *x) {
  static const float table[] = { 1, 2, 4, 8, 16, 32, 64, 128.5f };
  struct { int index[4]; float scale; } p = { { 10, 20, 30, 40 }, 0.5f };
  float out[65], stack[16];
  int pick = 3;
  cawb_addr o = tensor(x, "out", NULL, sizeof out);
  for (int launches = 1; launches <= 2; launches++) {
    ARG(x, cawb_addr, o);
    arg_bytes(x, &p, sizeof p, 4);
    ARG(x, int, pick);
    CHECK(launch(x, "spaces", 1, 1, 64, 1, 0) == CAWB_OK);
    CHECK(x->err.msg[0] == '\0');
    fetch_tensor(x, out, o, sizeof out);
    for (int i = 0; i < 16; i++) stack[(i * 5 + pick) & 15] = table[i & 7] * p.scale;
    for (int t = 0; t < 64; t++) CHECK(near_f("spaces", t, out[t], stack[t & 15] + (float)p.index[(t + pick) & 3], 0));
    CHECK(out[64] == 12);                      /* a module's variable is put back before every run */
  }
}

static void test_calls(sim_fixture *x) {
  float out[64];
  cawb_addr o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, o);
  CHECK(launch(x, "calls", 1, 1, 64, 1, 0) == CAWB_OK);
  fetch_tensor(x, out, o, sizeof out);
  for (int t = 0; t < 64; t++) {
    int n = t & 7;
    float s = 0, v = (float)t * 0.5f;
    for (int i = 0; i < n; i++) s = s * v + (float)i;
    CHECK(near_f("calls", t, out[t], n > 5 ? -1 : s + s, 1e-6));
  }
}

static void test_shared_corners(sim_fixture *x) {
  float in[128], out[128];
  unsigned char bytes[8];
  for (int i = 0; i < 128; i++) in[i] = (float)i;
  cawb_addr I = tensor(x, "in", in, sizeof in), O = tensor(x, "out", NULL, sizeof out), B = tensor(x, "bytes", NULL, 8);
  ARG(x, cawb_addr, O); ARG(x, cawb_addr, I);
  CHECK(launch(x, "cp_async", 1, 1, 32, 1, 0) == CAWB_OK && x->report.races == 0);
  fetch_tensor(x, out, O, sizeof out);
  for (int i = 0; i < 128; i++) CHECK(out[i] == in[127 - i]);
  ARG(x, cawb_addr, B);
  CHECK(launch(x, "bytes", 1, 1, 256, 1, 0) == CAWB_OK && x->report.races == 0);
  fetch_tensor(x, bytes, B, 8);
  for (int i = 0; i < 8; i++) CHECK(bytes[i] == i + 1);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "volatile_tail", 1, 1, 128, 1, 0) == CAWB_OK && x->report.races == 0);
  fetch_tensor(x, out, O, 4);
  CHECK(out[0] == 127 * 64);
}

int main(void) {
  find_isas();
  for (int i = 0; i < nisas; i++) {
    sim_fixture x;
    int before = check_failed;
    open_with(&x, isas[i]);
    test_divergence(&x);
    test_integers(&x);
    test_floats(&x);
    test_transcendentals(&x);
    test_doubles(&x);
    test_conversions(&x);
    test_atomics(&x);
    test_warps(&x);
    test_halves(&x);
    test_spaces(&x);
    test_calls(&x);
    test_shared_corners(&x);
    fixture_close(&x);
    if (check_failed != before) fprintf(stderr, "with the %s executor\n", isas[i]->name);
  }
  return check_report();
}

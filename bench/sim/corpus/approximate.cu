// approximate.cu - functions that the PTX manual gives an error for, and the library's on top of them.
#define OUT(k) out[(k) * 64 + T]

//: special_functions words=512 float=3e-6
KERNEL(special_functions) {
  float x = plain(in, T), a = fabsf(x) + 1e-3f, r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(0) = bits(r);
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(1) = bits(r);
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); OUT(2) = bits(r);
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); OUT(3) = bits(r);
  asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(a)); OUT(4) = bits(r);
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(a)); OUT(5) = bits(r);
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(a + 2)); OUT(6) = bits(r);
  OUT(7) = bits(__fdividef(x, a) + __expf(x));
}
//: trigonometric words=256 absolute=1.2e-3
KERNEL(trigonometric) {
  float x = plain(in, T) * 1.5f, r;
  asm("sin.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(0) = bits(r);
  asm("cos.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(1) = bits(r);
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(2) = bits(r);
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x) + 0.5f)); OUT(3) = bits(r);
}
//: special_corners words=448 float=3e-6
KERNEL(special_corners) {
  float x = strange(in, T), r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x > 1 || x < -1 || x != x ? x : 0.0f)); OUT(0) = bits(r);
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(1) = bits(r);
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(2) = bits(r);
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); OUT(3) = bits(r);
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x) > 2 || x < 0.3f ? x : 4.0f)); OUT(4) = bits(r);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x > 1 || x < -1 || x != x ? x : 0.0f)); OUT(5) = bits(r);
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(x) < 20 ? 0.0f : x)); OUT(6) = bits(r);
}
//: half_functions words=512 half=0.002
KERNEL(half_functions) {
  __half2 x = halves(plain(in, T), plain(in, T + 1)), a = __habs2(x); u32 r, q = pair_bits(x);
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(r) : "r"(q)); OUT(0) = r;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(q)); OUT(1) = r;
  OUT(2) = pair_bits(h2sqrt(a)); OUT(3) = pair_bits(h2rcp(x)); OUT(4) = pair_bits(h2rsqrt(__hadd2(a, halves(1, 1)))); OUT(5) = pair_bits(h2exp(x)); OUT(6) = pair_bits(__h2div(x, __hadd2(a, halves(1, 1)))); OUT(7) = pair_bits(h2log(__hadd2(a, halves(2, 2))));
}
//: library_functions words=1024 float=2e-5
KERNEL(library_functions) {
  float x = plain(in, T), a = fabsf(x) + 0.1f;
  OUT(0) = bits(expf(x)); OUT(1) = bits(logf(a + 2)); OUT(2) = bits(sinf(a)); OUT(3) = bits(tanhf(x)); OUT(4) = bits(erff(x)); OUT(5) = bits(powf(a, 1.7f)); OUT(6) = bits(exp2f(x)); OUT(7) = bits(log1pf(a));
  OUT(8) = bits(cbrtf(x)); OUT(9) = bits(expm1f(x)); OUT(10) = bits(rsqrtf(a)); OUT(11) = bits(atan2f(x, a)); OUT(12) = bits(erfcf(x)); OUT(13) = bits(sinhf(x)); OUT(14) = bits(normcdff(x)); OUT(15) = bits(lgammaf(a + 3));
}
//: library_doubles words=1024 double=1e-12
KERNEL(library_doubles) {
  double x = big(in, T), a = fabs(x) + 0.1; u32 *o = out + 16 * T;
  bits2(o, exp(x)); bits2(o + 2, log(a + 2)); bits2(o + 4, sin(x)); bits2(o + 6, pow(a, 1.7)); bits2(o + 8, tanh(x)); bits2(o + 10, erf(x)); bits2(o + 12, rsqrt(a)); bits2(o + 14, cbrt(x));
}

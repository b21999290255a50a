// float.cu - float32 and float64, exactly rounded; conversions.
#define OUT(k) out[(k) * 64 + T]
#define XY float x = strange(in, T), y = strange(in, T * 7 + 64), z = strange(in, T * 3 + 90)

//: float_arithmetic words=1024
KERNEL(float_arithmetic) {
  XY;
  OUT(0) = bits(x + y); OUT(1) = bits(x - y); OUT(2) = bits(x * y); OUT(3) = bits(x / y); OUT(4) = bits(sqrtf(x)); OUT(5) = bits(fmaf(x, y, z));
  OUT(6) = bits(fminf(x, y)); OUT(7) = bits(fmaxf(x, y)); OUT(8) = bits(fabsf(x)); OUT(9) = bits(-x); OUT(10) = bits(copysignf(x, y)); OUT(11) = bits(__frcp_rn(x));
  OUT(12) = bits(__saturatef(x)); OUT(13) = bits(1.0f / x); OUT(14) = bits(fdimf(x, y)); OUT(15) = bits(__frsqrt_rn(fabsf(x)));
}
//: float_rounding words=1024
KERNEL(float_rounding) {
  XY;
  OUT(0) = bits(__fadd_rz(x, y)); OUT(1) = bits(__fadd_ru(x, y)); OUT(2) = bits(__fadd_rd(x, y)); OUT(3) = bits(__fmul_rz(x, y)); OUT(4) = bits(__fmul_ru(x, y)); OUT(5) = bits(__fmul_rd(x, y));
  OUT(6) = bits(__fmaf_rz(x, y, z)); OUT(7) = bits(__fmaf_ru(x, y, z)); OUT(8) = bits(__fmaf_rd(x, y, z)); OUT(9) = bits(__fdiv_rz(x, y)); OUT(10) = bits(__fdiv_ru(x, y)); OUT(11) = bits(__fdiv_rd(x, y));
  OUT(12) = bits(__fsqrt_rz(x)); OUT(13) = bits(__fsqrt_ru(x)); OUT(14) = bits(__fsqrt_rd(x)); OUT(15) = bits(__frcp_rz(x));
}
//: float_flushed words=512
KERNEL(float_flushed) {
  XY; float r;
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(0) = bits(r);
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(1) = bits(r);
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z)); OUT(2) = bits(r);
  asm("add.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(3) = bits(r);
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z)); OUT(4) = bits(r);
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(5) = bits(r);
  asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(6) = bits(r);
  asm("max.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); OUT(7) = bits(r);
}
//: float_compares words=128
KERNEL(float_compares) {
  XY; u32 r = 0;
  r |= (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5 | !(x < y) << 6 | !(x >= y) << 7 | isnan(x) << 8 | isinf(y) << 9 | signbit(x) << 11 | isfinite(x) << 12;
  OUT(0) = r; OUT(1) = (x < y ? 1 : 2) + (fabsf(x) < 1.0f ? 4 : 8);
}
//: float_rounds words=512
KERNEL(float_rounds) {
  XY;
  OUT(0) = bits(floorf(x)); OUT(1) = bits(ceilf(x)); OUT(2) = bits(truncf(x)); OUT(3) = bits(rintf(x)); OUT(4) = bits(roundf(x)); OUT(5) = bits(fmodf(x, y)); OUT(6) = bits(remainderf(x, y)); OUT(7) = bits(ldexpf(x, 3) + modff(x, &y) * 0);
}
//: float_to_integer words=1024
KERNEL(float_to_integer) {
  XY;
  OUT(0) = __float2int_rn(x); OUT(1) = __float2int_rz(x); OUT(2) = __float2int_ru(x); OUT(3) = __float2int_rd(x); OUT(4) = __float2uint_rn(x); OUT(5) = __float2uint_rz(x);
  OUT(6) = __float2uint_ru(x); OUT(7) = __float2uint_rd(x); OUT(8) = (u32)__float2ll_rz(x); OUT(9) = (u32)((u64)__float2ll_rn(x) >> 32); OUT(10) = (u32)__float2ull_rd(x); OUT(11) = (u32)(__float2ull_ru(x) >> 32);
  OUT(12) = (u32)(int)(short)__float2int_rz(x); OUT(13) = (unsigned char)(int)plain(in, T); OUT(14) = lrintf(plain(in, T) * 1000); OUT(15) = (u32)lroundf(plain(in, T) * 100);
}
//: integer_to_float words=1024
KERNEL(integer_to_float) {
  u32 x = word(in, T), z = noise(in, T); int a = x; u64 w = wide(in, T); long long v = w >> (T & 31);
  OUT(0) = bits(__int2float_rn(a)); OUT(1) = bits(__int2float_rz(a)); OUT(2) = bits(__int2float_ru(a)); OUT(3) = bits(__int2float_rd(a)); OUT(4) = bits(__uint2float_rn(z)); OUT(5) = bits(__uint2float_rz(z));
  OUT(6) = bits(__ll2float_rn(v)); OUT(7) = bits(__ull2float_rn(w)); OUT(8) = bits(__ll2float_rz(v)); OUT(9) = bits(__ull2float_ru(w)); OUT(10) = bits((float)(short)x); OUT(11) = bits((float)(unsigned char)z);
  bits2(out + 768 + 4 * T, __ll2double_rn(v)); bits2(out + 770 + 4 * T, __ull2double_rz(w));
}
//: double_arithmetic words=1024
KERNEL(double_arithmetic) {
  double x = (double)strange(in, T) * 1.1, y = (double)strange(in, T * 7 + 64) * 0.7, z = big(in, T); u32 *o = out + 16 * T;
  bits2(o, x + y); bits2(o + 2, x * y); bits2(o + 4, x / y); bits2(o + 6, fma(x, y, z)); bits2(o + 8, sqrt(x)); bits2(o + 10, fmin(x, y)); bits2(o + 12, fmax(x, z)); bits2(o + 14, x - z);
}
//: double_rounding words=1024
KERNEL(double_rounding) {
  double x = big(in, T), y = big(in, T + 31); u32 *o = out + 16 * T;
  bits2(o, __dadd_rz(x, y)); bits2(o + 2, __dmul_ru(x, y)); bits2(o + 4, __ddiv_rd(x, y)); bits2(o + 6, __fma_ru(x, y, x)); bits2(o + 8, __dsqrt_rz(fabs(x))); bits2(o + 10, __drcp_rn(x)); bits2(o + 12, floor(x * 9)); bits2(o + 14, rint(x * 5));
}
//: double_conversions words=896
KERNEL(double_conversions) {
  double x = (double)strange(in, T) * 1.5, y = big(in, T) * 1e6;
  OUT(0) = bits((float)x); OUT(1) = bits(__double2float_rz(y)); OUT(2) = bits(__double2float_ru(y)); OUT(3) = __double2int_rz(x); OUT(4) = __double2int_rn(y); OUT(5) = __double2uint_rz(x); OUT(6) = (u32)__double2ll_rz(x); OUT(7) = (u32)((u64)__double2ll_rn(x) >> 32); OUT(8) = (u32)__double2ull_rz(y);
  OUT(9) = __double2hiint(x); OUT(10) = (x < y) | (x == y) << 1 | (x != y) << 2 | isnan(x) << 3; OUT(11) = half_bits(__double2half(y * 1e-5)); bits2(out + 768 + 2 * T, (double)strange(in, T));
}
//: half_arithmetic words=1024
KERNEL(half_arithmetic) {
  __half2 x = halves(strange(in, T), plain(in, T)), y = halves(strange(in, T * 7 + 64), plain(in, T + 9)), z = halves(plain(in, T + 2), strange(in, T + 5));
  OUT(0) = pair_bits(__hadd2(x, y)); OUT(1) = pair_bits(__hsub2(x, y)); OUT(2) = pair_bits(__hmul2(x, y)); OUT(3) = pair_bits(__hfma2(x, y, z)); OUT(4) = pair_bits(__hadd2_sat(x, y)); OUT(5) = pair_bits(__hfma2_sat(x, y, z));
  OUT(6) = pair_bits(__hfma2_relu(x, y, z)); OUT(7) = pair_bits(__hmax2(x, y)); OUT(8) = pair_bits(__hmin2(x, y)); OUT(9) = pair_bits(__hmax2_nan(x, y)); OUT(10) = pair_bits(__hneg2(x)); OUT(11) = pair_bits(__habs2(x));
  OUT(12) = half_bits(__hadd(x.x, y.y)); OUT(13) = half_bits(__hfma(x.x, y.x, z.x)); OUT(14) = half_bits(__hmul_sat(x.x, y.y)); OUT(15) = pair_bits(__hcmadd(x, y, z));
}
//: half_compares words=512
KERNEL(half_compares) {
  __half2 x = halves(strange(in, T), plain(in, T)), y = halves(strange(in, T + 64), plain(in, T));
  OUT(0) = pair_bits(__hgt2(x, y)); OUT(1) = pair_bits(__heq2(x, y)); OUT(2) = pair_bits(__hgtu2(x, y)); OUT(3) = __hbgt2(x, y) + 2 * __hble2(x, y) + 4 * __hlt(x.x, y.x) + 8 * __hne(x.x, y.x) + 16 * __hisnan(x.x); OUT(4) = __hgt2_mask(x, y); OUT(5) = __hneu2_mask(x, y); OUT(6) = pair_bits(__hisnan2(x)); OUT(7) = __hltu(x.y, y.x);
}
//: half_conversions words=1024
KERNEL(half_conversions) {
  float x = strange(in, T), y = plain(in, T); __half h = __float2half(x);
  OUT(0) = half_bits(__float2half_rn(y)); OUT(1) = half_bits(__float2half_rz(x)); OUT(2) = half_bits(__float2half_ru(x)); OUT(3) = half_bits(__float2half_rd(x)); OUT(4) = bits(__half2float(h)); OUT(5) = __half2int_rz(h); OUT(6) = __half2uint_ru(h); OUT(7) = (u32)__half2ll_rn(h);
  OUT(8) = half_bits(__int2half_rn(word(in, T))); OUT(9) = half_bits(__uint2half_rz(word(in, T))); OUT(10) = half_bits(__short2half_ru(word(in, T))); OUT(11) = half_bits(hceil(h)); OUT(12) = half_bits(hrint(h)); OUT(13) = half_bits(htrunc(h)); OUT(14) = pair_bits(h2floor(halves(x, y))); OUT(15) = __half2short_rn(h) + (unsigned short)__half2ushort_rd(h);
}
//: brain_arithmetic words=1024
KERNEL(brain_arithmetic) {
  __nv_bfloat162 x = brains(strange(in, T), plain(in, T)), y = brains(strange(in, T * 7 + 64), plain(in, T + 9)), z = brains(plain(in, T + 2), strange(in, T + 5));
  OUT(0) = pair_bits(__hadd2(x, y)); OUT(1) = pair_bits(__hsub2(x, y)); OUT(2) = pair_bits(__hmul2(x, y)); OUT(3) = pair_bits(__hfma2(x, y, z)); OUT(4) = pair_bits(__hadd2_sat(x, y)); OUT(5) = pair_bits(__hfma2_sat(x, y, z));
  OUT(6) = pair_bits(__hfma2_relu(x, y, z)); OUT(7) = pair_bits(__hmax2(x, y)); OUT(8) = pair_bits(__hmin2(x, y)); OUT(9) = pair_bits(__hmax2_nan(x, y)); OUT(10) = pair_bits(__hneg2(x)); OUT(11) = pair_bits(__habs2(x));
  OUT(12) = half_bits(__hadd(x.x, y.y)); OUT(13) = half_bits(__hfma(x.x, y.x, z.x)); OUT(14) = half_bits(__hmul_sat(x.x, y.y)); OUT(15) = pair_bits(__hcmadd(x, y, z));
}
//: brain_conversions words=1024
KERNEL(brain_conversions) {
  float x = strange(in, T), y = plain(in, T); __nv_bfloat16 h = __float2bfloat16(x);
  OUT(0) = half_bits(__float2bfloat16_rn(y)); OUT(1) = half_bits(__float2bfloat16_rz(x)); OUT(2) = half_bits(__float2bfloat16_ru(x)); OUT(3) = half_bits(__float2bfloat16_rd(x)); OUT(4) = bits(__bfloat162float(h)); OUT(5) = __bfloat162int_rz(h); OUT(6) = __bfloat162uint_ru(h); OUT(7) = (u32)__bfloat162ll_rn(h);
  OUT(8) = half_bits(__int2bfloat16_rn(word(in, T))); OUT(9) = half_bits(__uint2bfloat16_rz(word(in, T))); OUT(10) = half_bits(__short2bfloat16_ru(word(in, T))); OUT(11) = half_bits(hceil(h)); OUT(12) = half_bits(hrint(h)); OUT(13) = pair_bits(__hgt2(brains(x, y), brains(y, x))); OUT(14) = __hbge2(brains(x, y), brains(y, x)) + 2 * __hisnan(h); OUT(15) = half_bits(__double2bfloat16((double)y * 1.001));
}
//: small_floats words=768
KERNEL(small_floats) {
  float x = strange(in, T), y = plain(in, T) * 100; unsigned short r; u32 q;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x), "f"(y)); OUT(0) = r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x), "f"(y)); OUT(1) = r;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x), "f"(y)); OUT(2) = r;
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(pair_bits(halves(x, y)))); OUT(3) = r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(q) : "h"((unsigned short)noise(in, T))); OUT(4) = q;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(q) : "h"((unsigned short)(noise(in, T) & 0x7b7b))); OUT(5) = q;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(q) : "f"(y)); OUT(6) = q;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(y), "f"(-y)); OUT(7) = q;
  asm("cvt.rz.relu.bf16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(y), "f"(-y)); OUT(8) = q;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(plain(in, T)), "f"(y)); OUT(9) = q;
  asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(plain(in, T)), "f"(y)); OUT(10) = q;
  asm("cvt.rn.relu.tf32.f32 %0, %1;" : "=r"(q) : "f"(y)); OUT(11) = q;
}
//: saturating_conversions words=512
KERNEL(saturating_conversions) {
  int a = word(in, T); u64 w = wide(in, T); float f = strange(in, T); u32 r; unsigned short h; u64 q;
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"(a)); OUT(0) = r;
  asm("cvt.sat.s16.s32 %0, %1;" : "=h"(h) : "r"(a)); OUT(1) = h;
  asm("cvt.sat.s8.u32 %0, %1;" : "=r"(r) : "r"(a)); OUT(2) = r;
  asm("cvt.sat.u32.s64 %0, %1;" : "=r"(r) : "l"(w)); OUT(3) = r;
  asm("cvt.sat.s32.u64 %0, %1;" : "=r"(r) : "l"(w)); OUT(4) = r;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(f)); OUT(5) = r;
  asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(r) : "f"(f)); OUT(6) = r & 0xff;
  asm("cvt.sat.u64.s64 %0, %1;" : "=l"(q) : "l"(w)); OUT(7) = (u32)(q >> 32);
}

// integer.cu - whole numbers and bits.
#define PAIR u32 x = word(in, T), y = word(in, T * 5 + 16), z = noise(in, T)
#define OUT(k) out[(k) * 64 + T]

//: arithmetic words=1024
KERNEL(arithmetic) {
  PAIR; int a = x, b = y;
  OUT(0) = x + y; OUT(1) = x - y; OUT(2) = x * y; OUT(3) = __mulhi(a, b); OUT(4) = __umulhi(x, y);
  OUT(5) = x * y + z; OUT(6) = min(a, b); OUT(7) = max(x, y); OUT(8) = abs(a); OUT(9) = -a;
  OUT(10) = __sad(a, b, z); OUT(11) = __usad(x, y, z); OUT(12) = __mul24(a, b); OUT(13) = __umul24(x, y);
  OUT(14) = __hadd(a, b); OUT(15) = __urhadd(x, y);
}
//: division words=512
KERNEL(division) {
  PAIR; int a = x, b = y; y = y ? y : 7; b = b && !(a == -2147483647 - 1 && b == -1) ? b : 3;
  OUT(0) = a / b; OUT(1) = a % b; OUT(2) = x / y; OUT(3) = x % y;
  OUT(4) = (short)a / (short)(b | 1); OUT(5) = (unsigned short)x % (unsigned short)(y | 1);
  OUT(6) = (signed char)a / (signed char)(b | 1); OUT(7) = x / 10 + x % 1000;
}
//: division_wide words=512
KERNEL(division_wide) {
  u64 x = wide(in, T), y = wide(in, T + 9) >> (T & 31); y = y ? y : 5;
  long long a = x, b = (long long)y | 1; if (b == -1) b = -3;
  bits2(out + 8 * T, (u64)(a / b)); bits2(out + 8 * T + 2, (u64)(a % b)); bits2(out + 8 * T + 4, x / y); bits2(out + 8 * T + 6, x % y);
}
//: wide_arithmetic words=1024
KERNEL(wide_arithmetic) {
  u64 x = wide(in, T), y = wide(in, T + 17); long long a = x, b = y; u32 *o = out + 16 * T;
  bits2(o, x + y); bits2(o + 2, x * y); bits2(o + 4, __umul64hi(x, y)); bits2(o + 6, (u64)__mul64hi(a, b));
  bits2(o + 8, (u64)min(a, b)); bits2(o + 10, max(x, y)); bits2(o + 12, x - (y << (T & 63))); bits2(o + 14, (u64)(a >> (T & 63)) ^ y >> (63 - T));
}
//: wide128 words=512
KERNEL(wide128) {
  u64 a = wide(in, T), b = wide(in, T + 3), c = wide(in, T + 11), d = wide(in, T + 1), p, q; u32 *o = out + 8 * T;
  asm("{add.cc.u64 %0, %2, %4; addc.u64 %1, %3, %5;}" : "=l"(p), "=l"(q) : "l"(a), "l"(b), "l"(c), "l"(d)); bits2(o, q); bits2(o + 2, p);
  asm("{mad.lo.cc.u64 %0, %2, %3, %4; madc.hi.u64 %1, %2, %3, %5;}" : "=l"(p), "=l"(q) : "l"(a), "l"(b), "l"(c), "l"(d)); bits2(o + 4, q);
  asm("{sub.cc.u64 %0, %2, %4; subc.u64 %1, %3, %5;}" : "=l"(p), "=l"(q) : "l"(a), "l"(b), "l"(c), "l"(d)); bits2(o + 6, q);
}
//: bit_operations words=1024
KERNEL(bit_operations) {
  PAIR; int a = x;
  OUT(0) = __popc(x); OUT(1) = __clz(a); OUT(2) = __ffs(a); OUT(3) = __brev(x); OUT(4) = __byte_perm(x, y, z);
  OUT(5) = __funnelshift_l(x, y, z); OUT(6) = __funnelshift_r(x, y, z); OUT(7) = __funnelshift_lc(x, y, z & 63); OUT(8) = __funnelshift_rc(x, y, z & 63);
  OUT(9) = (x & y) ^ (~z | x); OUT(10) = x << (y & 31); OUT(11) = x >> (y & 31); OUT(12) = a >> (y & 31);
  OUT(13) = __popcll(wide(in, T)) + 100 * __clzll(wide(in, T) >> T); OUT(14) = __ffsll(wide(in, T)); OUT(15) = (u32)__brevll(wide(in, T));
}
//: bit_fields words=1024
KERNEL(bit_fields) {
  PAIR; u32 p = y & 63, n = z & 63, r; u64 q, w = wide(in, T);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(n)); OUT(0) = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(n)); OUT(1) = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(z), "r"(p), "r"(n)); OUT(2) = r;
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(q) : "l"(w), "r"(p), "r"(n)); OUT(3) = (u32)q; OUT(4) = (u32)(q >> 32);
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(q) : "l"(w), "r"(p), "r"(n)); OUT(5) = (u32)q; OUT(6) = (u32)(q >> 32);
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(q) : "l"(w), "l"(~w >> 7), "r"(p), "r"(n)); OUT(7) = (u32)q; OUT(8) = (u32)(q >> 32);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x)); OUT(9) = r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x)); OUT(10) = r;
  asm("bfind.shiftamt.s64 %0, %1;" : "=r"(r) : "l"(w)); OUT(11) = r;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(p), "r"(n)); OUT(12) = r;
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(r) : "r"(p), "r"(n)); OUT(13) = r;
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(n)); OUT(14) = r;
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(n)); OUT(15) = r;
}
//: permutations words=448
KERNEL(permutations) {
  PAIR; u32 r;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(0) = r;
  asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(1) = r;
  asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(2) = r;
  asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(3) = r;
  asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(4) = r;
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(5) = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(6) = r;
}
//: find_nth words=128
KERNEL(find_nth) { PAIR; OUT(0) = __fns(x, y & 31, (int)(z % 9) - 4); OUT(1) = __fns(z, z >> 27, 1); }
//: dot_products words=384
KERNEL(dot_products) {
  PAIR; int a = x, b = y, c = z;
  OUT(0) = __dp4a(a, b, c); OUT(1) = __dp4a(x, y, z); OUT(2) = __dp2a_lo(a, b, c); OUT(3) = __dp2a_hi(a, b, c); OUT(4) = __dp2a_lo(x, y, z); OUT(5) = __dp2a_hi(x, y, z);
}
//: packed_adds words=768
KERNEL(packed_adds) {
  PAIR;
  OUT(0) = __vadd2(x, y); OUT(1) = __vaddss2(x, y); OUT(2) = __vaddus4(x, y); OUT(3) = __vsub4(x, y); OUT(4) = __vsubss4(x, y); OUT(5) = __vsubus2(x, y);
  OUT(6) = __vavgu4(x, y); OUT(7) = __vavgs2(x, y); OUT(8) = __vhaddu4(x, y); OUT(9) = __vneg2(x); OUT(10) = __vnegss4(x); OUT(11) = __vabsss2(x);
}
//: packed_compares words=832
KERNEL(packed_compares) {
  PAIR;
  OUT(0) = __vabsdiffs2(x, y); OUT(1) = __vabsdiffu4(x, y); OUT(2) = __vmaxs2(x, y); OUT(3) = __vminu4(x, y); OUT(4) = __vcmpgts4(x, y);
  OUT(5) = __vcmpeq2(x, y); OUT(6) = __vsads4(x, y); OUT(7) = __vsadu2(x, y); OUT(8) = __vsetltu4(x, y); OUT(9) = __vabs4(x); OUT(10) = __vminu2(x, y); OUT(11) = __vmins2(x, y); OUT(12) = __vmaxu2(x, y);
}
//: fused_minmax words=1024
KERNEL(fused_minmax) {
  PAIR; int a = x, b = y, c = z; bool p = false, q = false;
  OUT(0) = __viaddmax_s32(a, b, c); OUT(1) = __viaddmin_u32(x, y, z); OUT(2) = __viaddmax_s32_relu(a, b, c); OUT(3) = __vimax3_s32(a, b, c);
  OUT(4) = __vimin3_u32(x, y, z); OUT(5) = __vimax3_s16x2(x, y, z); OUT(6) = __viaddmin_u16x2(x, y, z); OUT(7) = __viaddmax_s16x2_relu(x, y, z);
  OUT(8) = __vimax_s32_relu(a, b); OUT(9) = __vimin_s16x2_relu(x, y); OUT(10) = __vibmax_s32(a, b, &p) + p; OUT(11) = __vibmin_u16x2(x, y, &p, &q) + p + 2 * q;
  OUT(12) = __vimax3_s32_relu(a, b, c); OUT(13) = __viaddmax_u16x2(x, y, z); OUT(14) = __vimin3_s16x2_relu(x, y, z); OUT(15) = __vimax3_u16x2(x, y, z);
}
//: small_types words=640
KERNEL(small_types) {
  PAIR; short a = x, b = y; unsigned char c = x, d = y; signed char e = z, f = x >> 8;
  OUT(0) = a * b; OUT(1) = (short)(a + b); OUT(2) = (short)(a << (y & 7)); OUT(3) = (unsigned char)(c - d); OUT(4) = (signed char)(e * f);
  OUT(5) = (a < b) + 2 * (c > d) + 4 * (e <= f); OUT(6) = (short)max(a, b); OUT(7) = (unsigned short)x >> (y & 15); OUT(8) = (int)a >> (y & 15); OUT(9) = (unsigned short)(a * b) + (c ^ d);
}
//: carries words=384
KERNEL(carries) {
  PAIR; u32 a, b, c;
  asm("{add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %5; addc.u32 %2, %5, %3;}" : "=r"(a), "=r"(b), "=r"(c) : "r"(x), "r"(y), "r"(z));
  OUT(0) = a; OUT(1) = b; OUT(2) = c;
  asm("{sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %4, %5; subc.u32 %2, %5, %3;}" : "=r"(a), "=r"(b), "=r"(c) : "r"(x), "r"(y), "r"(z));
  OUT(3) = a; OUT(4) = b;
  asm("{mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.cc.u32 %1, %3, %4, %5; madc.hi.u32 %2, %5, %4, %3;}" : "=r"(a), "=r"(b), "=r"(c) : "r"(x), "r"(y), "r"(z));
  OUT(5) = a ^ b ^ c;
}
//: selections words=256
KERNEL(selections) {
  PAIR; u32 r; float f = plain(in, T);
  OUT(0) = x < y ? x : z; OUT(1) = (int)x < (int)y && (y & 1) || z > 0x80000000u ? y : z;
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"((int)z)); OUT(2) = r;
  asm("slct.u32.f32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "f"(f)); OUT(3) = r;
}
//: set_instructions words=320
KERNEL(set_instructions) {
  PAIR; u32 r; float f = strange(in, T), g = strange(in, T * 3 + 1), s;
  asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); OUT(0) = r;
  asm("set.geu.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(f), "f"(g)); OUT(1) = r;
  asm("set.num.f32.f32 %0, %1, %2;" : "=f"(s) : "f"(f), "f"(g)); OUT(2) = bits(s);
  asm("{.reg .pred p, q; setp.lt.u32 p, %1, %2; setp.gt.and.u32 q|p, %2, %3, p; selp.u32 %0, 1, 2, q; @p add.u32 %0, %0, 4;}" : "=r"(r) : "r"(x), "r"(y), "r"(z)); OUT(3) = r;
  asm("{.reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; testp.finite.f32 p, %1; @p add.u32 %0, %0, 2; testp.infinite.f32 p, %1; @p add.u32 %0, %0, 4; testp.normal.f32 p, %1; @p add.u32 %0, %0, 8;}" : "=r"(r) : "f"(f)); OUT(4) = r;
}

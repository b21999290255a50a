/* body_int.h - integer and bit operations. Division by zero gives all ones, as on the GPU. */

SIM_OP2(add_b32, u32, u32, u32, a[l] + b[l])
SIM_OP2(add_b64, u64, u64, u64, a[l] + b[l])
SIM_OP2(sub_b32, u32, u32, u32, a[l] - b[l])
SIM_OP2(sub_b64, u64, u64, u64, a[l] - b[l])
SIM_OP2(mul_lo_b32, u32, u32, u32, a[l] * b[l])
SIM_OP2(mul_lo_b64, u64, u64, u64, a[l] * b[l])
SIM_OP2(mul_hi_s16, u32, u32, u32, (u32)((int32_t)(int16_t)a[l] * (int16_t)b[l]) >> 16)
SIM_OP2(mul_hi_u16, u32, u32, u32, (a[l] & 0xffff) * (b[l] & 0xffff) >> 16)
SIM_OP2(mul_hi_s32, u32, s32, s32, (u32)((uint64_t)((int64_t)a[l] * b[l]) >> 32))
SIM_OP2(mul_hi_u32, u32, u32, u32, (u32)((uint64_t)a[l] * b[l] >> 32))
SIM_OP2(mul_hi_s64, u64, s64, s64, (u64)((__int128)a[l] * b[l] >> 64))
SIM_OP2(mul_hi_u64, u64, u64, u64, (u64)((unsigned __int128)a[l] * b[l] >> 64))
SIM_OP2(mul_wide_s16, s32, u32, u32, (int32_t)(int16_t)a[l] * (int16_t)b[l])
SIM_OP2(mul_wide_u16, u32, u32, u32, (a[l] & 0xffff) * (b[l] & 0xffff))
SIM_OP2(mul_wide_s32, s64, s32, s32, (int64_t)a[l] * b[l])
SIM_OP2(mul_wide_u32, u64, u32, u32, (uint64_t)a[l] * b[l])

SIM_OP3(mad_lo_b32, u32, u32, u32, u32, a[l] * b[l] + c[l])
SIM_OP3(mad_lo_b64, u64, u64, u64, u64, a[l] * b[l] + c[l])
SIM_OP3(mad_hi_s32, u32, s32, s32, u32, (u32)((uint64_t)((int64_t)a[l] * b[l]) >> 32) + c[l])
SIM_OP3(mad_hi_u32, u32, u32, u32, u32, (u32)((uint64_t)a[l] * b[l] >> 32) + c[l])
SIM_OP3(mad_hi_s64, u64, s64, s64, u64, (u64)((__int128)a[l] * b[l] >> 64) + c[l])
SIM_OP3(mad_hi_u64, u64, u64, u64, u64, (u64)((unsigned __int128)a[l] * b[l] >> 64) + c[l])
SIM_OP3(mad_wide_s16, u32, u32, u32, u32, (u32)((int32_t)(int16_t)a[l] * (int16_t)b[l]) + c[l])
SIM_OP3(mad_wide_u16, u32, u32, u32, u32, (a[l] & 0xffff) * (b[l] & 0xffff) + c[l])
SIM_OP3(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)a[l] * b[l]) + c[l])
SIM_OP3(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a[l] * b[l] + c[l])

static inline int32_t low24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
SIM_OP2(mul24_lo_s32, u32, u32, u32, (u32)low24(a[l]) * (u32)low24(b[l]))
SIM_OP2(mul24_lo_u32, u32, u32, u32, (a[l] & 0xffffff) * (b[l] & 0xffffff))
SIM_OP3(mad24_lo_s32, u32, u32, u32, u32, (u32)low24(a[l]) * (u32)low24(b[l]) + c[l])
SIM_OP3(mad24_lo_u32, u32, u32, u32, u32, (a[l] & 0xffffff) * (b[l] & 0xffffff) + c[l])

static inline uint64_t div_u(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline uint64_t rem_u(uint64_t a, uint64_t b) { return b == 0 ? a : a % b; }
static inline uint64_t div_s(int64_t a, int64_t b) {
  if (b == 0) return UINT64_MAX;
  return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint64_t rem_s(int64_t a, int64_t b) {
  if (b == 0) return (uint64_t)a;
  return b == -1 ? 0 : (uint64_t)(a % b);
}
SIM_OP2(div_s16, u32, u32, u32, (u32)div_s((int16_t)a[l], (int16_t)b[l]))
SIM_OP2(div_u16, u32, u32, u32, (u32)div_u(a[l] & 0xffff, b[l] & 0xffff))
SIM_OP2(div_s32, u32, s32, s32, (u32)div_s(a[l], b[l]))
SIM_OP2(div_u32, u32, u32, u32, b[l] == 0 ? SIM_ALL : a[l] / b[l])
SIM_OP2(div_s64, u64, s64, s64, div_s(a[l], b[l]))
SIM_OP2(div_u64, u64, u64, u64, div_u(a[l], b[l]))
SIM_OP2(rem_s16, u32, u32, u32, (u32)rem_s((int16_t)a[l], (int16_t)b[l]))
SIM_OP2(rem_u16, u32, u32, u32, (u32)rem_u(a[l] & 0xffff, b[l] & 0xffff))
SIM_OP2(rem_s32, u32, s32, s32, (u32)rem_s(a[l], b[l]))
SIM_OP2(rem_u32, u32, u32, u32, b[l] == 0 ? a[l] : a[l] % b[l])
SIM_OP2(rem_s64, u64, s64, s64, rem_s(a[l], b[l]))
SIM_OP2(rem_u64, u64, u64, u64, rem_u(a[l], b[l]))

SIM_OP1(abs_s16, u32, u32, (int16_t)a[l] < 0 ? 0 - a[l] : a[l])
SIM_OP1(abs_s32, u32, u32, (int32_t)a[l] < 0 ? 0 - a[l] : a[l])
SIM_OP1(abs_s64, u64, u64, (int64_t)a[l] < 0 ? 0 - a[l] : a[l])
SIM_OP1(neg_s32, u32, u32, 0 - a[l])
SIM_OP1(neg_s64, u64, u64, 0 - a[l])

#define LESSER(x, y) ((x) < (y) ? (x) : (y))
#define GREATER(x, y) ((x) < (y) ? (y) : (x))
SIM_OP2(min_s16, u32, u32, u32, (u32)LESSER((int16_t)a[l], (int16_t)b[l]))
SIM_OP2(min_u16, u32, u32, u32, LESSER(a[l] & 0xffff, b[l] & 0xffff))
SIM_OP2(min_s32, s32, s32, s32, LESSER(a[l], b[l]))
SIM_OP2(min_u32, u32, u32, u32, LESSER(a[l], b[l]))
SIM_OP2(min_s64, s64, s64, s64, LESSER(a[l], b[l]))
SIM_OP2(min_u64, u64, u64, u64, LESSER(a[l], b[l]))
SIM_OP2(max_s16, u32, u32, u32, (u32)GREATER((int16_t)a[l], (int16_t)b[l]))
SIM_OP2(max_u16, u32, u32, u32, GREATER(a[l] & 0xffff, b[l] & 0xffff))
SIM_OP2(max_s32, s32, s32, s32, GREATER(a[l], b[l]))
SIM_OP2(max_u32, u32, u32, u32, GREATER(a[l], b[l]))
SIM_OP2(max_s64, s64, s64, s64, GREATER(a[l], b[l]))
SIM_OP2(max_u64, u64, u64, u64, GREATER(a[l], b[l]))

SIM_OP2(and_b32, u32, u32, u32, a[l] & b[l])
SIM_OP2(and_b64, u64, u64, u64, a[l] & b[l])
SIM_OP2(or_b32, u32, u32, u32, a[l] | b[l])
SIM_OP2(or_b64, u64, u64, u64, a[l] | b[l])
SIM_OP2(xor_b32, u32, u32, u32, a[l] ^ b[l])
SIM_OP2(xor_b64, u64, u64, u64, a[l] ^ b[l])
SIM_OP1(not_b32, u32, u32, ~a[l])
SIM_OP1(not_b64, u64, u64, ~a[l])
SIM_OP1(cnot_b32, u32, u32, a[l] == 0)
SIM_OP1(cnot_b64, u64, u64, a[l] == 0)

#define MASK_OP(name, expr) SIM_BEGIN(name) \
  uint32_t a = SIM_MASK_OF(w, in->r[1]), b = SIM_MASK_OF(w, in->r[2]); \
  (void)b; set_mask(w, in->r[0], (expr)); SIM_END
MASK_OP(and_pred, a & b)
MASK_OP(or_pred, a | b)
MASK_OP(xor_pred, a ^ b)
MASK_OP(not_pred, ~a)
MASK_OP(mov_pred, a)

SIM_OP2(shl_b16, u32, u32, u32, b[l] > 15 ? 0 : a[l] << (b[l] & 31))
SIM_OP2(shl_b32, u32, u32, u32, b[l] > 31 ? 0 : a[l] << (b[l] & 31))
SIM_OP2(shl_b64, u64, u64, u32, b[l] > 63 ? 0 : a[l] << (b[l] & 63))
SIM_OP2(shr_u16, u32, u32, u32, b[l] > 15 ? 0 : (a[l] & 0xffff) >> (b[l] & 31))
SIM_OP2(shr_u32, u32, u32, u32, b[l] > 31 ? 0 : a[l] >> (b[l] & 31))
SIM_OP2(shr_u64, u64, u64, u32, b[l] > 63 ? 0 : a[l] >> (b[l] & 63))
SIM_OP2(shr_s16, u32, u32, u32, (u32)((int16_t)a[l] >> (b[l] > 15 ? 15 : b[l])))
SIM_OP2(shr_s32, s32, s32, u32, a[l] >> (b[l] > 31 ? 31 : b[l]))
SIM_OP2(shr_s64, s64, s64, u32, a[l] >> (b[l] > 63 ? 63 : b[l]))

/* shf d, a, b, n: a is the low word, b the high one. */
#define WIDE(a, b) ((uint64_t)(b) << 32 | (a))
SIM_OP3(shf_l_wrap, u32, u32, u32, u32, (u32)(WIDE(a[l], b[l]) << (c[l] & 31) >> 32))
SIM_OP3(shf_r_wrap, u32, u32, u32, u32, (u32)(WIDE(a[l], b[l]) >> (c[l] & 31)))
SIM_OP3(shf_l_clamp, u32, u32, u32, u32, c[l] > 31 ? a[l] : (u32)(WIDE(a[l], b[l]) << (c[l] & 31) >> 32))
SIM_OP3(shf_r_clamp, u32, u32, u32, u32, c[l] > 31 ? b[l] : (u32)(WIDE(a[l], b[l]) >> (c[l] & 31)))

static inline uint64_t field_u(uint64_t a, uint32_t pos, uint32_t len, uint32_t bits) {
  pos &= 255, len &= 255;
  if (pos >= bits || len == 0) return 0;
  a >>= pos;
  return len >= 64 ? a : a & ((UINT64_C(1) << len) - 1);
}
/* The sign is that of the field's top bit, or of the word's where the field ends beyond it. */
static inline uint64_t field_s(int64_t a, uint32_t pos, uint32_t len, uint32_t bits) {
  pos &= 255, len &= 255;
  if (len == 0) return 0;
  if (pos >= bits) return a < 0 ? UINT64_MAX : 0;
  if (pos + len >= bits) return (uint64_t)(a >> pos);
  return (uint64_t)((int64_t)((uint64_t)a << (64 - pos - len)) >> (64 - len));
}
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t bits) {
  pos &= 255, len &= 255;
  if (pos >= bits || len == 0) return b;
  uint64_t mask = (len >= 64 ? UINT64_MAX : (UINT64_C(1) << len) - 1) << pos;
  return (b & ~mask) | (a << pos & mask);
}
SIM_OP3(bfe_u32, u32, u32, u32, u32, (u32)field_u(a[l], b[l], c[l], 32))
SIM_OP3(bfe_u64, u64, u64, u32, u32, field_u(a[l], b[l], c[l], 64))
SIM_OP3(bfe_s32, u32, s32, u32, u32, (u32)field_s(a[l], b[l], c[l], 32))
SIM_OP3(bfe_s64, u64, s64, u32, u32, field_s(a[l], b[l], c[l], 64))
#define INSERT(name, T, bits) SIM_BEGIN(name) \
  T *d = SIM_PLACE(T, w, in->r[0]); const T *a = SIM_PLACE(T, w, in->r[1]); \
  const T *b = SIM_PLACE(T, w, in->r[2]); const u32 *c = SIM_PLACE(u32, w, in->r[3]); \
  const u32 *e = SIM_PLACE(u32, w, in->r[4]); \
  SIM_EACH(w, d[l] = (T)insert(a[l], b[l], c[l], e[l], bits)); SIM_END
INSERT(bfi_b32, u32, 32)
INSERT(bfi_b64, u64, 64)

static inline uint32_t top_bit(uint64_t a, int shift, unsigned bits) {
  if (a == 0) return SIM_ALL;
  unsigned at = 63u - (unsigned)__builtin_clzll(a);
  return shift ? bits - 1 - at : at;
}
SIM_OP1(bfind_u32, u32, u32, top_bit(a[l], in->mode, 32))
SIM_OP1(bfind_s32, u32, s32, top_bit((u32)(a[l] < 0 ? ~a[l] : a[l]), in->mode, 32))
SIM_OP1(bfind_u64, u32, u64, top_bit(a[l], in->mode, 64))
SIM_OP1(bfind_s64, u32, s64, top_bit((u64)(a[l] < 0 ? ~a[l] : a[l]), in->mode, 64))

static inline uint32_t reversed(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SIM_OP1(brev_b32, u32, u32, reversed(a[l]))
SIM_OP1(brev_b64, u64, u64, (u64)reversed((u32)a[l]) << 32 | reversed((u32)(a[l] >> 32)))
SIM_OP1(clz_b32, u32, u32, a[l] == 0 ? 32 : (u32)__builtin_clz(a[l]))
SIM_OP1(clz_b64, u32, u64, a[l] == 0 ? 64 : (u32)__builtin_clzll(a[l]))
SIM_OP1(popc_b32, u32, u32, (u32)__builtin_popcount(a[l]))
SIM_OP1(popc_b64, u32, u64, (u32)__builtin_popcountll(a[l]))

/* bmsk d, pos, len: a mask of len bits at pos. */
SIM_OP2(bmsk_b32, u32, u32, u32,
  in->mode ? (u32)(((UINT64_C(1) << (b[l] & 31)) - 1) << (a[l] & 31))
           : a[l] > 31 ? 0
           : (u32)((b[l] > 31 ? UINT64_C(0xffffffff) : (UINT64_C(1) << (b[l] & 31)) - 1) << (a[l] & 31)))

/* The selector of prmt's byte i in each mode. */
static inline uint32_t selector(uint32_t c, unsigned i, int mode) {
  static const uint8_t table[7][4][4] = {
    { { 0 } },
    { { 0, 1, 2, 3 }, { 1, 2, 3, 4 }, { 2, 3, 4, 5 }, { 3, 4, 5, 6 } },   /* f4e */
    { { 0, 7, 6, 5 }, { 1, 0, 7, 6 }, { 2, 1, 0, 7 }, { 3, 2, 1, 0 } },   /* b4e */
    { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 2, 2, 2, 2 }, { 3, 3, 3, 3 } },   /* rc8 */
    { { 0, 1, 2, 3 }, { 1, 1, 2, 3 }, { 2, 2, 2, 3 }, { 3, 3, 3, 3 } },   /* ecl */
    { { 0, 0, 0, 0 }, { 0, 1, 1, 1 }, { 0, 1, 2, 2 }, { 0, 1, 2, 3 } },   /* ecr */
    { { 0, 1, 0, 1 }, { 2, 3, 2, 3 }, { 0, 1, 0, 1 }, { 2, 3, 2, 3 } }    /* rc16 */
  };
  return mode == 0 ? c >> (4 * i) & 15 : table[mode][c & 3][i];
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t c, int mode) {
  uint64_t all = WIDE(a, b);
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint32_t s = selector(c, i, mode), byte = (uint32_t)(all >> (8 * (s & 7))) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    out |= byte << (8 * i);
  }
  return out;
}
SIM_OP3(prmt_b32, u32, u32, u32, u32, permuted(a[l], b[l], c[l], in->mode))

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (uint32_t i = 0; i < 8; i++)
    r |= (table >> i & 1 ? SIM_ALL : 0) & (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}
SIM_OP3(lop3_b32, u32, u32, u32, u32, lop3(a[l], b[l], c[l], (uint32_t)in->value))
SIM_OP3(sad_s32, u32, s32, s32, u32, c[l] + (a[l] < b[l] ? (u32)b[l] - (u32)a[l] : (u32)a[l] - (u32)b[l]))
SIM_OP3(sad_u32, u32, u32, u32, u32, c[l] + (a[l] < b[l] ? b[l] - a[l] : a[l] - b[l]))

static inline uint32_t part(uint32_t x, unsigned i, unsigned bits, int is_signed) {
  uint32_t v = x >> (i * bits) & ((1u << bits) - 1);
  return is_signed && v >> (bits - 1) ? v - (1u << bits) : v;
}
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, int flags) {
  for (unsigned i = 0; i < 4; i++) c += part(a, i, 8, flags & 1) * part(b, i, 8, flags & 2);
  return c;
}
static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, int flags) {
  if (flags & 4) b >>= 16;
  for (unsigned i = 0; i < 2; i++) c += part(a, i, 16, flags & 1) * part(b, i, 8, flags & 2);
  return c;
}
SIM_OP3(dp4a, u32, u32, u32, u32, dot4(a[l], b[l], c[l], in->flags))
SIM_OP3(dp2a, u32, u32, u32, u32, dot2(a[l], b[l], c[l], in->flags))

/* ------------------------------------------- chains through the carry flag */

static inline void set_carry(sim_warp *w, const sim_insn *in, uint32_t carry) {
  if (in->flags & 2) w->carry = (w->carry & ~w->mask) | (carry & w->mask);
}
#define CARRY_ADD(name, T, product) SIM_BEGIN(name) \
  T *d = SIM_PLACE(T, w, in->r[0]); const T *a = SIM_PLACE(T, w, in->r[1]); \
  const T *b = SIM_PLACE(T, w, in->r[2]), *c = SIM_PLACE(T, w, in->r[3]); \
  uint32_t taken = in->flags & 1 ? w->carry : 0, given = 0; (void)c; \
  for (unsigned l = 0; l < SIM_LANES; l++) if (w->mask >> l & 1) { \
    T x, y; product; \
    T s = x + y, r = s + (T)(taken >> l & 1); \
    given |= (uint32_t)((s < x) | (r < s)) << l; \
    d[l] = r; \
  } \
  set_carry(w, in, given); SIM_END
CARRY_ADD(carry_add_b32, u32, x = a[l]; y = b[l])
CARRY_ADD(carry_add_b64, u64, x = a[l]; y = b[l])
CARRY_ADD(carry_mad_lo_b32, u32, x = a[l] * b[l]; y = c[l])
CARRY_ADD(carry_mad_lo_b64, u64, x = a[l] * b[l]; y = c[l])
CARRY_ADD(carry_mad_hi_u32, u32, x = (u32)((uint64_t)a[l] * b[l] >> 32); y = c[l])
CARRY_ADD(carry_mad_hi_s32, u32,
          x = (u32)((uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) >> 32); y = c[l])
CARRY_ADD(carry_mad_hi_u64, u64, x = (u64)((unsigned __int128)a[l] * b[l] >> 64); y = c[l])
CARRY_ADD(carry_mad_hi_s64, u64,
          x = (u64)((__int128)(int64_t)a[l] * (int64_t)b[l] >> 64); y = c[l])
#define CARRY_SUB(name, T) SIM_BEGIN(name) \
  T *d = SIM_PLACE(T, w, in->r[0]); const T *a = SIM_PLACE(T, w, in->r[1]); \
  const T *b = SIM_PLACE(T, w, in->r[2]); \
  uint32_t taken = in->flags & 1 ? w->carry : 0, given = 0; \
  for (unsigned l = 0; l < SIM_LANES; l++) if (w->mask >> l & 1) { \
    T x = a[l], y = b[l], s = x - y, r = s - (T)(taken >> l & 1); \
    given |= (uint32_t)((x < y) | (s < r)) << l; \
    d[l] = r; \
  } \
  set_carry(w, in, given); SIM_END
CARRY_SUB(carry_sub_b32, u32)
CARRY_SUB(carry_sub_b64, u64)

/* ------------------------------------------------------------------ select */

#define SELECT(name, T) SIM_BEGIN(name) \
  T *d = SIM_PLACE(T, w, in->r[0]); const T *a = SIM_PLACE(T, w, in->r[1]); \
  const T *b = SIM_PLACE(T, w, in->r[2]); \
  uint32_t m = SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0); \
  SIM_EACH(w, d[l] = m & lane_bit[l] ? a[l] : b[l]); SIM_END
SELECT(selp_b32, u32)
SELECT(selp_b64, u64)
SIM_OP3(slct_b32_s32, u32, u32, u32, s32, c[l] >= 0 ? a[l] : b[l])
SIM_OP3(slct_b64_s32, u64, u64, u64, s32, c[l] >= 0 ? a[l] : b[l])
SIM_OP3(slct_b32_f32, u32, u32, u32, f32, c[l] >= 0 ? a[l] : b[l])
SIM_OP3(slct_b64_f32, u64, u64, u64, f32, c[l] >= 0 ? a[l] : b[l])

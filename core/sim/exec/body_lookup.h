/*
** body_lookup.h - what AVX-512 does in one step and compilers do not find. Lanes' elements out
** of a few words side by side: the words are a table in registers. Elsewhere look_up returns
** 0, and the lanes fetch one by one.
*/
#ifdef __AVX512F__
#include <immintrin.h>

/* Whether 32 addresses are below 4 GiB; whether two lists of 32 words are the same. */
static inline int all_short(const uint64_t *v) {
  __m512i any = _mm512_or_si512(_mm512_or_si512(_mm512_loadu_si512(v), _mm512_loadu_si512(v + 8)),
                                _mm512_or_si512(_mm512_loadu_si512(v + 16), _mm512_loadu_si512(v + 24)));
  return _mm512_test_epi64_mask(any, _mm512_set1_epi64((long long)~UINT64_C(0xffffffff))) == 0;
}
static inline int same_words(const uint32_t *a, const uint32_t *b) {
  __m512i low = _mm512_xor_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
  __m512i high = _mm512_xor_si512(_mm512_loadu_si512(a + 16), _mm512_loadu_si512(b + 16));
  __m512i any = _mm512_or_si512(low, high);
  return _mm512_test_epi32_mask(any, any) == 0;
}

/* Up to 64 words `from` here on (256 bytes are readable); in s->word the first of each lane. */
static inline int look_up(sim_warp *w, const sim_insn *in, const sim_shape *s, const unsigned char *from) {
  __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
  __m512i left = _mm512_loadu_si512(s->word), right = _mm512_loadu_si512(s->word + 16), one = _mm512_set1_epi32(1);
  if (s->words <= 32)
    for (unsigned k = 0; k < in->vec; k++) {
      u32 *d = SIM_PLACE(u32, w, element(in, k));
      _mm512_store_si512(d, _mm512_permutex2var_epi32(low, left, high));
      _mm512_store_si512(d + 16, _mm512_permutex2var_epi32(low, right, high));
      left = _mm512_add_epi32(left, one);
      right = _mm512_add_epi32(right, one);
    }
  else {
    __m512i low2 = _mm512_loadu_si512(from + 128), high2 = _mm512_loadu_si512(from + 192), bit = _mm512_set1_epi32(32);
    for (unsigned k = 0; k < in->vec; k++) {
      u32 *d = SIM_PLACE(u32, w, element(in, k));
      __mmask16 ml = _mm512_test_epi32_mask(left, bit), mr = _mm512_test_epi32_mask(right, bit);
      __m512i l = _mm512_permutex2var_epi32(low, left, high), r = _mm512_permutex2var_epi32(low, right, high);
      l = _mm512_mask_mov_epi32(l, ml, _mm512_permutex2var_epi32(low2, left, high2));
      r = _mm512_mask_mov_epi32(r, mr, _mm512_permutex2var_epi32(low2, right, high2));
      _mm512_store_si512(d, l);
      _mm512_store_si512(d + 16, r);
      left = _mm512_add_epi32(left, one);
      right = _mm512_add_epi32(right, one);
    }
  }
  return 1;
}
#else
static inline int all_short(const uint64_t *v) {
  uint64_t any = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) any |= v[l];
  return any <= UINT32_MAX;
}
static inline int same_words(const uint32_t *a, const uint32_t *b) {
  uint32_t differ = 0;
  SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) differ |= a[l] ^ b[l];
  return differ == 0;
}
static inline int look_up(sim_warp *w, const sim_insn *in, const sim_shape *s, const unsigned char *from) {
  (void)w, (void)in, (void)s, (void)from;
  return 0;
}
#endif

/* sha256.c - FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2. */
#include "base/sha256.h"

#include <string.h>

/* 4.2.2: first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* 6.2.2, step 1: the message schedule. */
static void schedule(uint32_t w[64], const unsigned char *p) {
  for (int t = 0; t < 16; t++, p += 4)
    w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  for (int t = 16; t < 64; t++) {
    uint32_t a = w[t - 15], b = w[t - 2];
    uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3;
    uint32_t s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
}

/* 6.2.2, steps 2 to 4; v[0..7] are a..h. */
static void transform(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64], v[8];
  schedule(w, block);
  memcpy(v, state, sizeof v);
  for (int t = 0; t < 64; t++) {
    uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
    uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
    uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[t] + w[t];
    uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

void cawb_sha256_start(cawb_sha256 *s) {
  static const uint32_t initial[8] = {  /* 5.3.3 */
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
  };
  memcpy(s->state, initial, sizeof initial);
  s->size = 0;
}

void cawb_sha256_add(cawb_sha256 *s, const void *data, size_t size) {
  if (size == 0) return;  /* data may be NULL then */
  const unsigned char *p = data;
  size_t have = s->size % 64;
  s->size += size;
  if (have > 0) {
    size_t take = size < 64 - have ? size : 64 - have;
    memcpy(s->block + have, p, take);
    p += take;
    size -= take;
    if (have + take < 64) return;
    transform(s->state, s->block);
  }
  for (; size >= 64; p += 64, size -= 64) transform(s->state, p);
  if (size > 0) memcpy(s->block, p, size);
}

void cawb_sha256_end(cawb_sha256 *s, unsigned char digest[32]) {
  static const unsigned char pad[64] = { 0x80 };
  unsigned char bits[8];
  uint64_t n = s->size * 8;
  for (int i = 0; i < 8; i++) bits[i] = (unsigned char)(n >> (56 - 8 * i));
  size_t have = s->size % 64;
  cawb_sha256_add(s, pad, have < 56 ? 56 - have : 120 - have);  /* 5.1.1 */
  cawb_sha256_add(s, bits, sizeof bits);
  for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void cawb_sha256_field(cawb_sha256 *s, const void *data, size_t size) {
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)size >> (8 * i));
  cawb_sha256_add(s, length, sizeof length);
  cawb_sha256_add(s, data, size);
}

void cawb_sha256_end_hex(cawb_sha256 *s, char hex[65]) {
  unsigned char digest[32];
  cawb_sha256_end(s, digest);
  for (size_t i = 0; i < sizeof digest; i++) {
    hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  hex[64] = '\0';
}

void cawb_sha256_hex(const void *data, size_t size, char hex[65]) {
  cawb_sha256 s;
  cawb_sha256_start(&s);
  cawb_sha256_add(&s, data, size);
  cawb_sha256_end_hex(&s, hex);
}

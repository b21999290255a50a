/*
** sha256.h - SHA-256 (FIPS 180-4), in one call or in pieces, and the digest of
** a list of fields that cannot be confused with another list.
*/
#ifndef CAWB_BASE_SHA256_H
#define CAWB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct cawb_sha256 {
  uint32_t state[8];
  uint64_t size;               /* bytes seen */
  unsigned char block[64];     /* the last size % 64 bytes */
} cawb_sha256;

void cawb_sha256_start(cawb_sha256 *s);
void cawb_sha256_add(cawb_sha256 *s, const void *data, size_t size);
void cawb_sha256_end(cawb_sha256 *s, unsigned char digest[32]);

/* Add the length (8 bytes, little-endian), then the bytes: ("ab","c") and
** ("a","bc") give different digests. */
void cawb_sha256_field(cawb_sha256 *s, const void *data, size_t size);

/* Lower-case hex digits and a NUL. */
void cawb_sha256_end_hex(cawb_sha256 *s, char hex[65]);
void cawb_sha256_hex(const void *data, size_t size, char hex[65]);

#endif

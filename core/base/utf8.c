/* utf8.c - see utf8.h. The ranges are those of table 3-7 of the Unicode standard. */
#include "base/utf8.h"

#include <stddef.h>

/* Bytes of the well-formed sequence at `s`, which ends with a NUL; 0: there is none. */
static size_t sequence(const unsigned char *s) {
  unsigned char low = 0x80, high = 0xbf;       /* of the second byte */
  size_t n;
  if (s[0] < 0x80) return 1;
  if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
  if (s[0] == 0xe0) low = 0xa0;                /* shorter forms exist */
  if (s[0] == 0xed) high = 0x9f;               /* surrogates */
  if (s[0] == 0xf0) low = 0x90;
  if (s[0] == 0xf4) high = 0x8f;               /* beyond U+10FFFF */
  n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  if (s[1] < low || s[1] > high) return 0;
  for (size_t i = 2; i < n; i++)
    if (s[i] < 0x80 || s[i] > 0xbf) return 0;
  return n;
}

void cawb_utf8_clean(char *text) {
  for (unsigned char *s = (unsigned char *)text; *s != '\0';) {
    size_t n = sequence(s);
    if (n == 0) *s = '?';
    s += n > 0 ? n : 1;
  }
}

const char *cawb_utf8_flaw(const char *text) {
  for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
    size_t n = sequence(s);
    if (n == 0) return (const char *)s;
    s += n;
  }
  return NULL;
}

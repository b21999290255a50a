/* bytes.c - see bytes.h. Room doubles, so n appends cost O(total size). */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `more` bytes and a NUL. */
static int reserve(cawb_bytes *b, size_t more) {
  if (b->failed) return 0;
  if (more > SIZE_MAX / 4 - b->size) return b->failed = 1, 0;
  size_t need = b->size + more + 1;
  if (need <= b->room) return 1;
  size_t room = b->room > 0 ? b->room : 64;
  while (room < need) room *= 2;
  char *grown = realloc(b->data, room);
  if (grown == NULL) return b->failed = 1, 0;
  b->data = grown;
  b->room = room;
  return 1;
}

void cawb_bytes_add(cawb_bytes *b, const void *data, size_t size) {
  if (!reserve(b, size)) return;
  if (size > 0) memcpy(b->data + b->size, data, size);
  b->size += size;
  b->data[b->size] = '\0';
}

void cawb_bytes_text(cawb_bytes *b, const char *text) {
  cawb_bytes_add(b, text, strlen(text));
}

void cawb_bytes_print(cawb_bytes *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0 || !reserve(b, (size_t)n)) {
    b->failed = 1;
    return;
  }
  va_start(ap, fmt);
  vsnprintf(b->data + b->size, (size_t)n + 1, fmt, ap);
  va_end(ap);
  b->size += (size_t)n;
}

void cawb_bytes_free(cawb_bytes *b) {
  free(b->data);
  memset(b, 0, sizeof *b);
}

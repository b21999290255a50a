/*
** bytes.h - a byte buffer that grows. Zero-initialise it, append, free it.
** `data` is NULL until the first append and NUL-terminated after it. An append
** that finds no memory sets `failed` and changes nothing more: check it once.
*/
#ifndef CAWB_BASE_BYTES_H
#define CAWB_BASE_BYTES_H

#include <stddef.h>

typedef struct cawb_bytes {
  char *data;
  size_t size, room;
  int failed;
} cawb_bytes;

void cawb_bytes_add(cawb_bytes *b, const void *data, size_t size);
void cawb_bytes_text(cawb_bytes *b, const char *text);

__attribute__((format(printf, 2, 3)))
void cawb_bytes_print(cawb_bytes *b, const char *fmt, ...);

void cawb_bytes_free(cawb_bytes *b);   /* leaves it empty and usable */

#endif

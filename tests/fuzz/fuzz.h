/*
** fuzz.h - what the fuzzers share. Each is one libFuzzer entry point: any bytes
** may come in, nothing may crash, leak or go on for ever.
*/
#ifndef CAWB_TESTS_FUZZ_H
#define CAWB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a C string of their own, so that reading beyond its end shows. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) abort();
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* What must hold; libFuzzer keeps the input otherwise. */
#define FUZZ_CHECK(c) do { if (!(c)) abort(); } while (0)

#endif

/*
** failing_malloc.h - makes the Nth allocation of the test program fail, N counted
** from failing_start(N). Only calls out of the program itself count: the libraries
** that it loads keep their memory. glibc only; not for use with sanitizers, which
** have their own malloc. One test program includes it once.
*/
#ifndef CAWB_TESTS_FAILING_MALLOC_H
#define CAWB_TESTS_FAILING_MALLOC_H

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_MALLOC 0
#else
#define FAILING_MALLOC 1
#endif

static long failing_left = -1;   /* -1: none fails */
static int  failing_done;        /* the one meant to fail did */
/* Blocks allocated and not freed, by whomever. */
static __attribute__((unused)) long failing_live;

static inline void failing_start(long n) {
  failing_left = n;
  failing_done = 0;
}

static inline void failing_stop(void) { failing_left = -1; }

#if FAILING_MALLOC
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
extern char __executable_start, etext;

static int failing_now(const void *caller) {
  if (failing_left < 0 || (const char *)caller < &__executable_start || (const char *)caller >= &etext)
    return 0;
  if (failing_left-- > 0) return 0;
  failing_done = 1;
  return 1;
}

static void *failing_count(void *p) {
  failing_live += p != NULL;
  return p;
}

void *malloc(size_t n) {
  if (failing_now(__builtin_return_address(0))) return NULL;
  return failing_count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size) {
  if (failing_now(__builtin_return_address(0))) return NULL;
  return failing_count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n) {
  if (failing_now(__builtin_return_address(0))) return NULL;
  void *q = __libc_realloc(p, n);
  return p == NULL ? failing_count(q) : q;
}

void free(void *p) {
  failing_live -= p != NULL;
  __libc_free(p);
}

char *strndup(const char *s, size_t n) {
  if (failing_now(__builtin_return_address(0))) return NULL;
  size_t size = strnlen(s, n);
  char *copy = failing_count(__libc_malloc(size + 1));
  if (copy == NULL) return NULL;
  memcpy(copy, s, size);
  copy[size] = '\0';
  return copy;
}

char *strdup(const char *s) {
  if (failing_now(__builtin_return_address(0))) return NULL;
  size_t size = strlen(s) + 1;
  char *copy = failing_count(__libc_malloc(size));
  return copy != NULL ? memcpy(copy, s, size) : NULL;
}
#endif

#endif

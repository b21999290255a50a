/*
** check.h - what the C tests share: CHECK counts and goes on, check_report ends
** main. One test program includes it once.
*/
#ifndef CAWB_TESTS_CHECK_H
#define CAWB_TESTS_CHECK_H

#include <stdio.h>

static int check_count, check_failed;

#define CHECK(c) \
  do { \
    check_count++; \
    if (!(c)) { \
      check_failed++; \
      fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #c); \
    } \
  } while (0)

static inline int check_report(void) {
  printf("%d checks, %d failed\n", check_count, check_failed);
  return check_failed != 0;
}

#endif

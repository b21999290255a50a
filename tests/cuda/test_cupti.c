/*
** test_cupti.c - sets of metrics against the real libcupti, which needs no GPU for
** them: the sets of lua/cawb/judge/profile/metrics.lua take the passes that they promise. Without
** libcupti it says so and passes; CAWB_REQUIRE_CUPTI=1 makes that a failure.
*/
#include "cuda/cupti/cupti.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 64 };

/* It opens its parts with RTLD_DEEPBIND, which AddressSanitizer ends a process for. */
#if defined(CAWB_HAVE_CUPTI) && !defined(__SANITIZE_ADDRESS__)
#define WITH_LIBRARY
#endif

static int says(const cawb_err *err, const char *text) {
  if (strstr(err->msg, text) != NULL && strchr(err->msg, '\n') == NULL) return 1;
  fprintf(stderr, "no '%s' in: %s\n", text, err->msg);
  return 0;
}

static void test_no_library(void) {
  cawb_cupti *c = (cawb_cupti *)&c;
  cawb_err err = { 0 };
  cawb_places nowhere = { .cawb_cuda_home = CAWB_SOURCE "/tests" };
  if (cawb_cupti_open(&c, &nowhere, &err) == CAWB_OK) cawb_cupti_close(c);  /* the loader's */
  else CHECK(c == NULL && says(&err, "cupti"));
}

#ifdef WITH_LIBRARY

/* The names of a set; they stay on the stack of L. */
static size_t read_set(lua_State *L, const char *name, const char **out) {
  size_t n = 0;
  CHECK(luaL_dofile(L, CAWB_SOURCE "/lua/cawb/judge/profile/metrics.lua") == LUA_OK);
  lua_getfield(L, -1, name);
  CHECK(lua_istable(L, -1));
  int set = lua_gettop(L);
  for (; n < MOST && lua_geti(L, set, (lua_Integer)n + 1) == LUA_TSTRING; n++)
    out[n] = lua_tostring(L, -1);
  return n;
}

static void check_set(cawb_cupti *c, const char *name, const char *chip, size_t missing,
                      unsigned passes) {
  lua_State *L = luaL_newstate();
  const char *metrics[MOST];
  cawb_cupti_set *s = NULL;
  cawb_err err = { 0 };
  size_t n = read_set(L, name, metrics);
  CHECK(n == 16);
  CHECK(cawb_cupti_set_new(&s, c, chip, metrics, n, &err) == CAWB_OK);
  if (s != NULL) {
    CHECK(cawb_cupti_set_count(s) == n - missing && cawb_cupti_set_passes(s) == passes);
    printf("%s on %s: %zu metrics in %u passes\n", name, chip, cawb_cupti_set_count(s),
           cawb_cupti_set_passes(s));
  } else fprintf(stderr, "%s\n", err.msg);
  cawb_cupti_set_free(s);
  lua_close(L);
}

static void test_sets(cawb_cupti *c) {
  static const char *const chips[] = { "GA100", "AD102", "GH100", "GB100" };
  for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
    check_set(c, "default", chips[i], 0, 3);
    check_set(c, "quick", chips[i], 0, 1);
  }
  check_set(c, "default", "GB202", 2, 3);    /* it does not count the bytes of its memory */
}

static void test_unknown_metrics(cawb_cupti *c) {
  static const char *const metrics[] = { "launch__registers_per_thread", "smsp__inst_executed",
    "smsp__inst_executed.sum", "no__such_counter.sum" };
  cawb_cupti_set *s = NULL;
  cawb_err err = { 0 };
  CHECK(cawb_cupti_set_new(&s, c, "GH100", metrics, 4, &err) == CAWB_OK);
  CHECK(s != NULL && cawb_cupti_set_count(s) == 1 && cawb_cupti_set_passes(s) == 1);
  CHECK(s != NULL && strcmp(cawb_cupti_set_metric(s, 0), metrics[2]) == 0);
  cawb_cupti_set_free(s);
  CHECK(cawb_cupti_set_new(&s, c, "GH100", metrics, 2, &err) == CAWB_ERR_INVALID && s == NULL);
  CHECK(says(&err, "GH100 has none of the metrics asked for (launch__registers_per_thread, ...)"));
  CHECK(says(&err, "smsp__inst_executed.sum"));
  CHECK(cawb_cupti_set_new(&s, c, "GH100", metrics, 0, &err) == CAWB_ERR_INVALID && s == NULL);
}

static void test_unknown_chip(cawb_cupti *c) {
  static const char *const metrics[] = { "smsp__inst_executed.sum" };
  cawb_cupti_set *s = NULL;
  cawb_err err = { 0 };
  CHECK(cawb_cupti_set_new(&s, c, "GX999", metrics, 1, &err) == CAWB_ERR_UNSUPPORTED);
  CHECK(s == NULL && says(&err, "CUPTI: GX999: "));
}

static void test_with_library(void) {
  cawb_places places;
  cawb_cupti *c = NULL;
  cawb_err err = { 0 };
  cawb_places_default(&places, getenv("CAWB_TEST_SITE_PACKAGES"));
  if (cawb_cupti_open(&c, &places, &err) != CAWB_OK) {
    printf("skipped: %s\n", err.msg);
    CHECK(getenv("CAWB_REQUIRE_CUPTI") == NULL);
    return;
  }
  printf("%s\n", cawb_cupti_library(c)->path);
  test_sets(c);
  test_unknown_metrics(c);
  test_unknown_chip(c);
  cawb_cupti_close(c);
}
#else
static void test_with_library(void) {
  puts("skipped: built without CUPTI's headers, or with AddressSanitizer");
}
#endif

int main(void) {
  test_no_library();
  test_with_library();
  return check_report();
}

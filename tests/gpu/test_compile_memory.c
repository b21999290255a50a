/*
** test_compile_memory.c - each allocation on the way from source to kernels fails
** once: the answer is CAWB_ERR_MEMORY or right, nothing crashes, nothing leaks.
*/
#include <stdio.h>

#include "check.h"
#include "failing_malloc.h"

#include "base/store/cache.h"
#include "gpu/compile/compile.h"
#include "gpu/compile/source_check.h"

static char root[64] = "/tmp/cawb-memory-XXXXXX";
static cawb_places places;

static cawb_status kernels(void) {
  cawb_kernels k;
  cawb_status code = cawb_ptx_kernels(&k, ".entry _Z1av(.param .u64 p, .param .b8 s[24]) { ret; } "
                                      ".entry b() {}", "ptxas info    : Used", NULL);
  if (code == CAWB_OK && k.count != 2) code = CAWB_ERR_INVALID;
  if (code != CAWB_OK && k.list != NULL) code = CAWB_ERR_INVALID;  /* must be left empty */
  cawb_ptx_free(&k);
  return code;
}

static cawb_status flags(void) {
  const char *options[] = { "-use_fast_math", "-maxrregcount=100" };
  cawb_define defines[] = { { "B", "2" }, { "A", "1" } };
  cawb_bytes out = { 0 };
  cawb_status code = cawb_compile_options(&out, options, 2, NULL);
  if (code == CAWB_OK) code = cawb_compile_defines(&out, defines, 2, NULL);
  cawb_bytes_free(&out);
  return code;
}

static cawb_status source(void) {
  char text[] = "#include <a>\n#include <b>\n";
  cawb_source_head head;
  cawb_status code = cawb_source_check(text, &head, NULL);
  cawb_source_head_free(&head);
  return code;
}

static cawb_status cache(void) {
  static const char key[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
  cawb_cache_item items[] = { { "a", (void *)"x", 1 }, { "b", (void *)"yz", 2 } };
  int hit = 1;
  cawb_status code = cawb_cache_put(root, key, items, 2, NULL);
  if (code == CAWB_OK) code = cawb_cache_get(root, key, items, 2, &hit, NULL);
  if (code != CAWB_OK) return code;
  free(items[0].data);
  free(items[1].data);
  return hit ? CAWB_OK : CAWB_ERR_INVALID;
}

static cawb_status opening(void) {
  cawb_compiler_setting s = { &places, root, root, 1 << 24, NULL };
  cawb_compiler *c;
  cawb_status code = cawb_compiler_open(&c, &s, NULL);
  if ((code == CAWB_OK) != (c != NULL)) code = CAWB_ERR_INVALID;
  cawb_compiler_close(c);
  return code;
}

/* Each round another text, so that the cache does not answer. */
static cawb_status compiling(void) {
  static int round;
  static cawb_compiler *c;
  cawb_compiler_setting s = { &places, root, root, 1 << 24, NULL };
  cawb_compile_result r;
  cawb_define defines[] = { { "N", "1" } };
  char text[160];
  if (c == NULL) {
    long left = failing_left;
    failing_stop();
    if (cawb_compiler_open(&c, &s, NULL) != CAWB_OK) return CAWB_ERR_MISSING;
    failing_left = left;
  }
  snprintf(text, sizeof text, "#include <cuda_fp16.h>\n__global__ void k%d(int *p) { *p = N; }", round++);
  cawb_compile_request q = { text, strlen(text), defines, 1, NULL, 0, "sm_90" };
  cawb_status code = cawb_compiler_compile(c, &q, &r, NULL);
  if (r.ok != (code == CAWB_OK)) code = CAWB_ERR_INVALID;
  cawb_compile_result_free(&r);
  if (failing_left < 0 || failing_done == 0) {       /* the last round: all is well */
    failing_stop();
    cawb_compiler_close(c);
    c = NULL;
  }
  return code;
}

static void sweep(const char *name, cawb_status (*run)(void), int balanced) {
  long n = 0;
  for (failing_done = 1; failing_done && n < 1000; n++) {
    long before = failing_live;
    failing_start(n);
    cawb_status code = run();
    failing_stop();
    long leaked = balanced ? failing_live - before : 0;
    int fine = code == CAWB_OK || (failing_done && code == CAWB_ERR_MEMORY);
    CHECK(fine);
    CHECK(leaked == 0);
    if (!fine || leaked != 0)
      fprintf(stderr, "  %s, allocation %ld: %s, %ld leaked\n", name, n, cawb_status_name(code), leaked);
  }
  CHECK(n > 1 && n < 1000);                          /* something failed, and at last nothing */
}

int main(void) {
  char command[128];
  cawb_found f;
  if (!FAILING_MALLOC) return printf("skipped: a sanitizer has its own malloc\n"), 0;
  if (mkdtemp(root) == NULL) return 1;
  cawb_places_default(&places, getenv("CAWB_TEST_SITE_PACKAGES"));
  sweep("kernels", kernels, 1);
  sweep("flags", flags, 1);
  sweep("source", source, 1);
  sweep("cache", cache, 1);
  if (cawb_locate_library(&f, &places, "libnvrtc.so", NULL) == CAWB_OK) {
    sweep("opening", opening, 0);                    /* the loader keeps books of its own */
    sweep("compiling", compiling, 0);
  } else {
    printf("skipped in part: no NVRTC\n");
    CHECK(getenv("CAWB_REQUIRE_NVRTC") == NULL);
  }
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(system(command) == 0);
  return check_report();
}

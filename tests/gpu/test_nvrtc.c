/*
** test_nvrtc.c - NVRTC opened at run time, and precompiled headers through it.
** Without NVRTC it says "skipped" and passes, unless CAWB_REQUIRE_NVRTC=1.
*/
#include "gpu/compile/nvrtc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "gpu/compile/pch.h"

static char root[64] = "/tmp/cawb-nvrtc-XXXXXX";
static char include[4200];
static const char HEADERS[] = "#include <cuda_fp16.h>\n", OTHERS[] = "#include <cuda_bf16.h>\n";
static cawb_err err;

static const char *const OPTIONS[] = { "-arch=sm_90", "--ptxas-options=-v", include };
static const char *const LIMITED[] = { "-arch=sm_90", "--ptxas-options=-v", include, "-maxrregcount=32" };
static const char *const FAST[] = { "-arch=sm_90", "--ptxas-options=-v", include, "-use_fast_math" };

static void compiling(cawb_nvrtc *n) {
  cawb_nvrtc_output out;
  int major, minor;
  cawb_nvrtc_version(n, &major, &minor);
  CHECK(major >= 12 && minor >= 0);
  CHECK(cawb_nvrtc_compile(n, "__global__ void k() {}", "kernel.cu", OPTIONS, 2, &out, &err) == CAWB_OK);
  CHECK(strstr(out.ptx, ".entry _Z1kv") != NULL && out.cubin_size > 500);
  CHECK(strstr(out.log, "Compiling entry function '_Z1kv' for 'sm_90'") != NULL);
  cawb_nvrtc_output_free(&out);
  CHECK(out.ptx == NULL && out.log == NULL && out.cubin == NULL);
  CHECK(cawb_nvrtc_compile(n, "nonsense", "kernel.cu", OPTIONS, 2, &out, &err) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(out.log, "kernel.cu(1): error") != NULL && out.ptx == NULL);
  cawb_nvrtc_output_free(&out);
}

static void wrong_options(cawb_nvrtc *n) {
  const char *bad[] = { "-arch=sm_90", "--no-such-option" }, *virtual[] = { "-arch=compute_90" };
  cawb_nvrtc_output out;
  CHECK(cawb_nvrtc_compile(n, "", "kernel.cu", bad, 2, &out, &err) == CAWB_ERR_UNSUPPORTED);
  cawb_nvrtc_output_free(&out);
  CHECK(cawb_nvrtc_compile(n, "__global__ void k() {}", "kernel.cu", virtual, 1, &out, &err)
        == CAWB_ERR_UNSUPPORTED && strstr(err.msg, "no cubin") != NULL);
  cawb_nvrtc_output_free(&out);
}

static int files_left(void) {
  int n = 0;
  DIR *d = opendir(root);
  if (d == NULL) return -1;
  while (readdir(d) != NULL) n++;
  closedir(d);
  return n - 2;
}

/* Does a kernel that follows `headers` compile with the file `path` of find? */
static int usable(cawb_nvrtc *n, const char *path, const char *const *options, int count) {
  const char *all[8];
  char use[128];
  cawb_bytes text = { 0 };
  cawb_nvrtc_output out;
  for (int i = 0; i < count; i++) all[i] = options[i];
  snprintf(use, sizeof use, "--use-pch=%s", path);
  all[count] = use;
  all[count + 1] = "--pch-messages=false";
  cawb_pch_prefix(&text, HEADERS);
  cawb_bytes_text(&text, "#define N 1\n__global__ void k(__half *y) { y[0] = __float2half(N); }");
  cawb_status code = cawb_nvrtc_compile(n, text.data, "kernel.cu", all, count + 2, &out, &err);
  int good = code == CAWB_OK && strstr(out.log, "precompiled header") == NULL;
  cawb_nvrtc_output_free(&out);
  cawb_bytes_free(&text);
  return good;
}

static void reuse(cawb_nvrtc *n) {
  cawb_pch *p;
  char first[64] = "";
  CHECK(cawb_pch_open(&p, root, (size_t)64 << 20, &err) == CAWB_OK);
  const char *path = cawb_pch_find(p, n, HEADERS, OPTIONS, 3);
  CHECK(path != NULL && files_left() == 0);          /* unlinked as soon as it is open */
  if (path == NULL) return cawb_pch_close(p);
  snprintf(first, sizeof first, "%s", path);
  CHECK(usable(n, first, OPTIONS, 3));
  path = cawb_pch_find(p, n, HEADERS, LIMITED, 4);   /* the register limit does not matter */
  CHECK(path != NULL && strcmp(path, first) == 0 && usable(n, first, LIMITED, 4));
  path = cawb_pch_find(p, n, HEADERS, FAST, 4);
  CHECK(path != NULL && strcmp(path, first) != 0 && usable(n, path, FAST, 4));
  cawb_pch_refuse(p);
  CHECK(cawb_pch_find(p, n, HEADERS, FAST, 4) == NULL);
  CHECK(cawb_pch_find(p, n, HEADERS, OPTIONS, 3) != NULL && usable(n, first, OPTIONS, 3));
  cawb_pch_close(p);
}

/* Room for one of them only: the second takes the place of the first, which is
** then made anew; and where not even one fits there is none. */
static void bounded(cawb_nvrtc *n) {
  cawb_pch *p;
  CHECK(cawb_pch_open(&p, root, (size_t)12 << 20, &err) == CAWB_OK);
  CHECK(cawb_pch_find(p, n, HEADERS, OPTIONS, 3) != NULL);
  CHECK(cawb_pch_find(p, n, OTHERS, OPTIONS, 3) != NULL);
  const char *path = cawb_pch_find(p, n, HEADERS, OPTIONS, 3);
  CHECK(path != NULL && usable(n, path, OPTIONS, 3));
  cawb_pch_close(p);
  CHECK(cawb_pch_open(&p, root, 1000, &err) == CAWB_OK);
  CHECK(cawb_pch_find(p, n, HEADERS, OPTIONS, 3) == NULL);
  cawb_pch_close(p);
}

static void hopeless(cawb_nvrtc *n) {
  cawb_pch *p;
  CHECK(cawb_pch_open(&p, root, (size_t)64 << 20, &err) == CAWB_OK);
  for (int i = 0; i < 2; i++)
    CHECK(cawb_pch_find(p, n, "#include <no_such_header.h>\n", OPTIONS, 3) == NULL);
  for (int i = 0; i < 100; i++) {                    /* more than it remembers */
    char headers[64];
    snprintf(headers, sizeof headers, "#include <no_such_%d.h>\n", i);
    CHECK(cawb_pch_find(p, n, headers, OPTIONS, 3) == NULL);
  }
  cawb_pch_close(p);
  CHECK(files_left() == 0);
}

int main(void) {
  cawb_places places;
  cawb_includes in;
  cawb_nvrtc *n;
  int major = 0, minor = 0;
  cawb_places_default(&places, getenv("CAWB_TEST_SITE_PACKAGES"));
  if (cawb_nvrtc_open(&n, &places, &err) != CAWB_OK) {
    printf("skipped: %s\n", err.msg);
    CHECK(getenv("CAWB_REQUIRE_NVRTC") == NULL);
    return check_report();
  }
  compiling(n);
  wrong_options(n);
  cawb_nvrtc_version(n, &major, &minor);
  if (cawb_locate_includes(&in, &places, &err) == CAWB_OK && major * 100 + minor >= 1208) {
    if (mkdtemp(root) == NULL) return 1;
    snprintf(include, sizeof include, "-I%s", in.list[0].path);
    reuse(n);
    bounded(n);
    hopeless(n);
    CHECK(rmdir(root) == 0);
  }
  cawb_nvrtc_close(n);
  return check_report();
}

/*
** test_compile.c - from source to cubin with the machine's NVRTC. Without one it
** says "skipped" and passes, unless CAWB_REQUIRE_NVRTC=1. With a folder name in
** CAWB_TEST_SITE_PACKAGES the whole is repeated with the toolkit hidden.
*/
#include "gpu/compile/compile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char root[64] = "/tmp/cawb-compile-XXXXXX";
static const char SCALE[] =
  "extern \"C\" __global__ void scale(float *y, const float *x, int n, float a) {\n"
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
  "  if (i < n) y[i] = a * x[i];\n"
  "}\n";

static cawb_compiler *compiler;
static cawb_compile_result result;
static cawb_err err;

static cawb_status build(const char *source, const cawb_define *d, size_t nd,
                         const char *const *o, size_t no) {
  cawb_compile_request r = { source, strlen(source), d, nd, o, no, "sm_90" };
  cawb_compile_result_free(&result);
  memset(&err, 0, sizeof err);
  return cawb_compiler_compile(compiler, &r, &result, &err);
}

static int plain(const char *source) { return build(source, NULL, 0, NULL, 0) == CAWB_OK; }

static cawb_status build_request(const cawb_compile_request *r) {
  cawb_compile_result_free(&result);
  return cawb_compiler_compile(compiler, r, &result, &err);
}

/* The candidate's fault, and the message has `words`. */
static int refused(const char *source, const char *words) {
  if (build(source, NULL, 0, NULL, 0) != CAWB_ERR_CANDIDATE) return 0;
  if (result.ok || result.ptx != NULL || result.kernels.count > 0) return 0;
  if (strstr(err.msg, words) != NULL) return 1;
  fprintf(stderr, "message: %s\n", err.msg);
  return 0;
}

static char *slurp(const char *path, size_t *size) {
  FILE *f = path != NULL ? fopen(path, "rb") : NULL;
  char *data = calloc(1, 1 << 22);
  *size = f != NULL && data != NULL ? fread(data, 1, (1 << 22) - 1, f) : 0;
  if (f != NULL) fclose(f);
  return data;
}

static void good(void) {
  size_t size;
  CHECK(plain(SCALE) && result.ok && !result.cached && result.seconds > 0);
  CHECK(strlen(result.key) == 64 && strstr(result.log, "Used ") != NULL);
  CHECK(strstr(result.log, "Compile time") == NULL);
  char *ptx = slurp(result.ptx, &size);
  CHECK(strstr(ptx, ".entry scale") != NULL && strstr(ptx, ".target sm_90") != NULL);
  CHECK(strstr(ptx, ".loc") != NULL);               /* -lineinfo */
  free(ptx);
  char *cubin = slurp(result.cubin, &size);
  CHECK(size > 1000 && memcmp(cubin, "\177ELF", 4) == 0);
  free(cubin);
  const cawb_kernel *k = cawb_ptx_find(&result.kernels, "scale");
  CHECK(k != NULL && k->nparams == 4 && k->registers > 0 && k->spill_loads == 0 && k->shared == 0);
  CHECK(k != NULL && k->params[0].kind == CAWB_PARAM_POINTER && k->params[1].kind == CAWB_PARAM_POINTER);
  CHECK(k != NULL && k->params[2].kind == CAWB_PARAM_INT && k->params[3].kind == CAWB_PARAM_FLOAT);
}

static void caching(void) {
  char key[65], path[4096];
  CHECK(plain(SCALE));
  snprintf(key, sizeof key, "%s", result.key);
  CHECK(plain(SCALE) && result.cached && strcmp(result.key, key) == 0);
  CHECK(result.kernels.count == 1 && result.kernels.list[0].registers > 0 && result.log != NULL);
  snprintf(path, sizeof path, "%s", result.cubin);
  CHECK(truncate(path, 10) == 0);                   /* a torn entry is made again */
  CHECK(plain(SCALE) && !result.cached);
  CHECK(plain(SCALE) && result.cached);
  const char *fast[] = { "-use_fast_math" }, *lines[] = { "--lineinfo" };
  CHECK(build(SCALE, NULL, 0, fast, 1) == CAWB_OK && !result.cached && strcmp(result.key, key) != 0);
  CHECK(build(SCALE, NULL, 0, lines, 1) == CAWB_OK && strcmp(result.key, key) == 0);
}

static void defines(void) {
  static const char source[] =
    "extern \"C\" __global__ void k(float *y) { __shared__ float t[BLOCK * VEC]; t[0] = y[0];\n"
    "  __syncthreads(); y[1] = t[threadIdx.x]; }\n";
  cawb_define d[] = { { "BLOCK", "128" }, { "VEC", NULL } }, swapped[] = { { "VEC", "1" }, { "BLOCK", "128" } };
  cawb_define bad[][1] = { { { "2X", "1" } }, { { "A(x)", "1" } }, { { "A", "1\n#include \"/x\"" } },
                           { { "A", "/*" } }, { { "A", "\"x\"" } }, { { "A", "x\\" } }, { { "", "1" } } };
  cawb_define twice[] = { { "A", "1" }, { "A", "2" } };
  CHECK(build(source, d, 2, NULL, 0) == CAWB_OK && result.kernels.list[0].shared == 512);
  CHECK(build(source, swapped, 2, NULL, 0) == CAWB_OK && result.cached);
  CHECK(refused(source, "kernel.cu(1): error: identifier \"BLOCK\" is undefined"));
  CHECK(build("\n\nint x = Y;", d, 2, NULL, 0) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(result.log, "kernel.cu(3): error") != NULL);  /* defines move no line */
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK(build(SCALE, bad[i], 1, NULL, 0) == CAWB_ERR_CANDIDATE && strstr(err.msg, "define") != NULL);
  CHECK(build(SCALE, twice, 2, NULL, 0) == CAWB_ERR_CANDIDATE && strstr(err.msg, "twice") != NULL);
}

static void options(void) {
  const char *fine[] = { "-use_fast_math", "--fmad=false", "-ftz=true", "-prec-div=false",
                         "-prec-sqrt=false", "-maxrregcount=32", "-extra-device-vectorization",
                         "-restrict", "-std=c++20", "-lineinfo" };
  const char *bad[] = { "-I/etc", "-G", "use_fast_math", "-maxrregcount=", "-maxrregcount=9999",
                        "-fmad=maybe", "-std=c++98", "-restrict=1", "-ftz", "-DX=1", "-", "",
                        "-std=c++17|c++20", "--use-pch=/etc/passwd", "-fmad=true -I/etc" };
  const char *twice[] = { "-fmad=true", "--fmad=false" };
  CHECK(build(SCALE, NULL, 0, fine, sizeof fine / sizeof *fine) == CAWB_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK(build(SCALE, NULL, 0, &bad[i], 1) == CAWB_ERR_CANDIDATE
          && strstr(err.msg, "allowed are -use_fast_math") != NULL);
  CHECK(build(SCALE, NULL, 0, twice, 2) == CAWB_ERR_CANDIDATE && strstr(err.msg, "twice") != NULL);
}

static void faults(void) {
  cawb_compile_request nul = { "int\0x;", 6, NULL, 0, NULL, 0, "sm_90" };
  cawb_compile_request arch = { SCALE, sizeof SCALE - 1, NULL, 0, NULL, 0, "sm_11" };
  CHECK(refused("", "the source is empty"));
  CHECK(refused(" \n\t", "the source is empty"));
  CHECK(refused("__device__ int x;", "offers no kernel"));
  CHECK(refused("template<class T> __global__ void k(T *p) { *p = 1; }", "explicit instantiation"));
  CHECK(refused("extern \"C\" __global__ void k(float *y) { y[0] = z; }",
                "kernel.cu(1): error: identifier \"z\" is undefined"));
  CHECK(strstr(result.log, "1 error detected") != NULL);
  CHECK(refused("extern \"C\" __global__ void k(int *y) {\n  asm(\"bogus;\");\n}", "ptxas"));
  CHECK(refused("template<class T> __global__ void big(T *y) { __shared__ T s[76800]; s[threadIdx.x] = y[0];\n"
                "  __syncthreads(); y[1] = s[(int)y[2]]; }\ntemplate __global__ void big(float *);\n"
                "extern \"C\" __global__ void small(float *y) { y[0] = 1; }",
                "ptxas: kernel 'big' uses 307200 bytes of static shared memory; a block may have 49152"));
  CHECK(refused("__constant__ float c[20000];\nextern \"C\" __global__ void k(float *y) { y[0] = c[(int)y[1]]; }",
                "more than 65536 bytes of __constant__"));
  CHECK(refused("// \xff\nextern \"C\" __global__ void k() {}", "kernel.cu(1): the byte 0xff is no UTF-8"));
  CHECK(refused("#include \"/etc/hostname\"\n", "absolute path") && result.log == NULL);
  CHECK(refused("#include <no_such_header.h>\n", "no_such_header.h"));
  CHECK(build_request(&nul) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(err.msg, "NUL byte at offset 3") != NULL);
  CHECK(build_request(&arch) == CAWB_ERR_UNSUPPORTED && strstr(err.msg, "sm_11") != NULL);
  arch.arch = "compute_90";
  CHECK(build_request(&arch) == CAWB_ERR_INVALID);
}

static void sizes(void) {
  size_t size = CAWB_COMPILE_MAX_SOURCE + 1;
  char *big = malloc(size + 1);
  if (big == NULL) return;
  memset(big, ' ', size);
  big[size] = '\0';
  CHECK(refused(big, "at most 4194304"));
  /* One wrong line of 100 kB, reported over and over: the log must stay small. */
  size_t n = (size_t)snprintf(big, size, "#define E(x) ");
  for (int i = 0; i < 60; i++) n += (size_t)snprintf(big + n, size - n, "\n%*s z%d = q;", 10000, "", i);
  CHECK(refused(big, "error") && strlen(result.log) <= CAWB_COMPILE_MAX_LOG);
  CHECK(strstr(result.log, "the middle of the log is left out") != NULL);
  free(big);
}

/* Headers: precompiled or not, the same PTX, and nothing of it in the log. */
static void headers(void) {
  static const char body[] = "\nextern \"C\" __global__ void k(__half *y) { y[0] = __float2half(N); }\n";
  char source[256];
  cawb_define d[] = { { "N", "3" } };
  for (int i = 0; i < 3; i++) {
    snprintf(source, sizeof source, "// try %d\n#include \"cuda_fp16.h\"\n#define V%d%s", i, i, body);
    CHECK(build(source, d, 1, NULL, 0) == CAWB_OK && !result.cached);
    CHECK(strstr(result.log, "precompiled") == NULL && strstr(result.log, "PCH") == NULL);
    CHECK(strncmp(result.log, "ptxas info", 10) == 0);
  }
  snprintf(source, sizeof source, "#include \"cuda_fp16.h\"\n\n__global__ void k() { q(); }\n");
  CHECK(refused(source, "kernel.cu(3): error"));
  const char *few[] = { "-maxrregcount=32" };
  snprintf(source, sizeof source, "#include <cuda_fp16.h>%s", body);
  CHECK(build(source, d, 1, few, 1) == CAWB_OK && strncmp(result.log, "ptxas info", 10) == 0);
}

static cawb_status open_compiler(const cawb_places *places, const char *scratch) {
  static char cache[128];
  snprintf(cache, sizeof cache, "%s/cache-%d", root, scratch != NULL);
  cawb_compiler_setting s = { places, cache, scratch, (size_t)64 << 20, CAWB_SOURCE "/core/gpu/compile/headers" };
  return cawb_compiler_open(&compiler, &s, &err);
}

static void everything(const cawb_places *places) {
  char scratch[96], command[256];
  snprintf(scratch, sizeof scratch, "%s/scratch", root);
  snprintf(command, sizeof command, "mkdir -p %s", scratch);
  CHECK(system(command) == 0);
  for (int i = 0; i < 2; i++) {
    CHECK(open_compiler(places, i == 0 ? scratch : NULL) == CAWB_OK);
    if (compiler == NULL) return;
    good();
    caching();
    defines();
    options();
    faults();
    sizes();
    headers();
    cawb_compile_result_free(&result);
    cawb_compiler_close(compiler);
  }
  snprintf(command, sizeof command, "rmdir %s && rm -rf %s/cache-*", scratch, root);
  CHECK(system(command) == 0);   /* rmdir: no precompiled header is left behind */
}

/* With and without precompiled headers: the same machine code. */
static void same_code(const cawb_places *places) {
  static const char source[] = "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half *y) "
                               "{ y[threadIdx.x] = __hadd(y[0], y[1]); }\n";
  char *ptx[2];
  for (int i = 0; i < 2; i++) {
    size_t size;
    CHECK(open_compiler(places, i == 0 ? root : NULL) == CAWB_OK && plain(source));
    ptx[i] = slurp(result.ptx, &size);
    CHECK(size > 0);
    cawb_compile_result_free(&result);
    cawb_compiler_close(compiler);
  }
  CHECK(strcmp(ptx[0], ptx[1]) == 0);
  free(ptx[0]);
  free(ptx[1]);
}

/* A place for precompiled headers that cannot be used costs nothing but time. */
static void no_room(const cawb_places *places) {
  static char cache[128];
  snprintf(cache, sizeof cache, "%s/cache-x", root);
  cawb_compiler_setting s[] = { { places, cache, "/proc/nowhere", 1 << 30, NULL },
                                { places, cache, root, 1000, NULL } };
  for (int i = 0; i < 2; i++) {
    char source[512];
    snprintf(source, sizeof source, "#include <cuda_fp16.h>\n// %d\n%s", i, SCALE);
    CHECK(cawb_compiler_open(&compiler, &s[i], &err) == CAWB_OK && plain(source));
    CHECK(!result.cached && strncmp(result.log, "ptxas info", 10) == 0);
    cawb_compile_result_free(&result);
    cawb_compiler_close(compiler);
  }
}

/* A toolkit of libraries only: our own headers serve, a missing one is the machine's fault. */
static void without_headers(const cawb_places *places) {
  cawb_found f;
  char home[96], libraries[128];
  cawb_places bare = { home, NULL, NULL, NULL };
  CHECK(cawb_locate_library(&f, places, "libnvrtc.so", &err) == CAWB_OK);
  *strrchr(f.path, '/') = '\0';
  snprintf(home, sizeof home, "%s/bare", root);
  snprintf(libraries, sizeof libraries, "%s/lib64", home);
  CHECK(mkdir(home, 0700) == 0 && symlink(f.path, libraries) == 0);
  CHECK(open_compiler(&bare, NULL) == CAWB_OK);
  if (compiler == NULL) return;
  CHECK(plain("#include <cmath>\n#include <stdint.h>\nextern \"C\" __global__ void k(float *y) { y[0] = sqrtf(y[1]); }"));
  CHECK(build("__device__ int a;\n#include <cuda_fp16.h>\n", NULL, 0, NULL, 0) == CAWB_ERR_MISSING);
  CHECK(strstr(err.msg, "kernel.cu(2)") != NULL && strstr(err.msg, "header folder") != NULL);
  CHECK(refused("__device__ int a = b;", "identifier \"b\" is undefined"));
  cawb_compile_result_free(&result);
  cawb_compiler_close(compiler);
}

static void without_nvrtc(void) {
  cawb_places nowhere = { "/nowhere", NULL, NULL, NULL };
  cawb_found f;
  if (cawb_locate_library(&f, &nowhere, "libnvrtc.so", &err) == CAWB_OK) return;
  CHECK(open_compiler(&nowhere, NULL) == CAWB_ERR_MISSING && compiler == NULL);
  CHECK(strstr(err.msg, "pip install nvidia-cuda-nvrtc") != NULL);
}

/* Lines of this process's map that name a builtins library: of `folder`, of others. */
static void builtins(const char *folder, int *here, int *elsewhere) {
  char line[4400];
  FILE *f = fopen("/proc/self/maps", "r");
  *here = *elsewhere = 0;
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (strstr(line, "libnvrtc-builtins") != NULL) ++*(strstr(line, folder) != NULL ? here : elsewhere);
  if (f != NULL) fclose(f);
}

static void hidden_toolkit(const cawb_places *places) {
  cawb_places hidden = { NULL, NULL, "/nowhere/cuda", places->site_packages };
  CHECK(open_compiler(&hidden, NULL) == CAWB_OK);
  if (compiler == NULL) return;
  CHECK(strcmp(cawb_compiler_library(compiler)->origin, "PyPI packages") == 0);
  int here, elsewhere;
  CHECK(plain("__global__ void any() {}"));
  builtins(places->site_packages, &here, &elsewhere);
  CHECK(here > 0 && elsewhere == 0);
  cawb_compile_result_free(&result);
  cawb_compiler_close(compiler);
  everything(&hidden);
}

/* In a process of its own: it loads another NVRTC than the rest of the test. */
static void with_toolkit_hidden(const cawb_places *places) {
  int status = -1;
  if (places->site_packages == NULL) return;
  pid_t pid = fork();
  if (pid == 0) {
    hidden_toolkit(places);
    exit(check_failed != 0);
  }
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  cawb_places places;
  cawb_found f;
  cawb_places_default(&places, getenv("CAWB_TEST_SITE_PACKAGES"));
  if (mkdtemp(root) == NULL) return 1;
  without_nvrtc();
  with_toolkit_hidden(&places);
  if (cawb_locate_library(&f, &places, "libnvrtc.so", &err) == CAWB_OK) {
    everything(&places);
    same_code(&places);
    no_room(&places);
    without_headers(&places);
  } else {
    printf("skipped: %s\n", err.msg);
    CHECK(getenv("CAWB_REQUIRE_NVRTC") == NULL);
  }
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(system(command) == 0);
  return check_report();
}

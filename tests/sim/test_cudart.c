/* test_cudart.c - the CUDA runtime in front of the simulator, called as a program's own code calls it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "sim/cudart/errors.h"
#include "sim/cudart/fatbin.h"
#include "sim/cudart/unpack.h"
#include "sim_figures.h"

typedef struct dim3 { unsigned x, y, z; } dim3;
typedef struct wrapper { int magic, version; const void *data, *more; } wrapper;

void **__cudaRegisterFatBinary(const wrapper *w);
void __cudaRegisterFunction(void **m, const char *host, char *u, const char *name, int n, void *a, void *b, void *c, void *d, int *e);
void __cudaRegisterVar(void **m, char *host, char *u, const char *name, int e, size_t size, int constant, int global);
int cudaMalloc(void **p, size_t n);
int cudaMallocManaged(void **p, size_t n, unsigned flags);
int cudaFree(void *p);
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);
int cudaMemset(void *p, int value, size_t n);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind);
int cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, void *stream);
typedef struct attribute { int id; unsigned unused, value[16]; } attribute;
typedef struct extended { dim3 grid, block; size_t shared; void *stream; const attribute *attributes; unsigned n; } extended;
int cudaLaunchKernelExC(const extended *c, const void *f, void **args);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaStreamCreate(void **s);
int cudaStreamDestroy(void *s);
int cudaEventCreate(void **e);
int cudaEventRecord(void *e, void *s);
int cudaEventElapsedTime(float *ms, const void *a, const void *b);
int cudaEventDestroy(void *e);

static const char ptx[] =
  ".version 8.0\n.target sm_90\n.address_size 64\n"
  ".visible .global .align 4 .u32 calls = 7;\n"
  ".visible .entry twice(.param .u64 at, .param .u8 odd, .param .u32 count)\n{\n"
  ".reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<3>; .reg .pred %p<2>;\n"
  "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [count]; setp.ge.u32 %p1, %r1, %r2; @%p1 bra DONE;\n"
  "ld.param.u64 %rd1, [at]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
  "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2;\n"
  "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u64 %rd4, calls; atom.global.add.u32 %r3, [%rd4], 1;\n"
  "DONE: ret;\n}\n";

/* ---------------------------------------------------------------- fat binaries */

static unsigned char binary[8192];

static void put(size_t at, uint64_t v, unsigned bytes) { memcpy(binary + at, &v, bytes); }

/* One entry with the PTX, or with what is given in its place. */
static const void *fat(unsigned arch, uint64_t flags, const void *text, size_t size, size_t whole) {
  enum { HEAD = 16, ENTRY = 64 };
  memset(binary, 0, sizeof binary);
  put(0, 0xba55ed50, 4); put(4, 1, 2); put(6, HEAD, 2); put(8, ENTRY + size, 8);
  put(HEAD, 1, 2); put(HEAD + 4, ENTRY, 4); put(HEAD + 8, size, 8); put(HEAD + 16, flags != 0 ? size : 0, 4);
  put(HEAD + 28, arch, 4); put(HEAD + 40, flags, 8); put(HEAD + 56, whole, 8);
  memcpy(binary + HEAD + ENTRY, text, size);
  return binary;
}

static void test_fatbin(void) {
  cawb_fatbin f;
  cawb_err err;
  CHECK(cawb_fatbin_read(&f, fat(80, 0, ptx, sizeof ptx, 0), 90, &err) == CAWB_OK && strcmp(f.ptx, ptx) == 0 && f.cubin == NULL);
  cawb_fatbin_free(&f);
  CHECK(cawb_fatbin_read(&f, fat(100, 0, ptx, sizeof ptx, 0), 90, &err) == CAWB_ERR_MISSING);
  CHECK(strstr(err.msg, "no PTX for sm_90: compile it with nvcc -arch=sm_90") != NULL);
  cawb_fatbin_free(&f);
  CHECK(cawb_fatbin_read(&f, "no fat binary ..", 90, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_fatbin_read(&f, NULL, 90, &err) == CAWB_ERR_INVALID);
  fat(80, 0, ptx, sizeof ptx, 0);
  put(16 + 8, UINT64_MAX - 8, 8);                /* an entry that is longer than all */
  CHECK(cawb_fatbin_read(&f, binary, 90, &err) == CAWB_ERR_MISSING);
  static const unsigned char packed[] = { 0x35, 'a', 'b', 'c', 3, 0, 0x10, '.' };
  CHECK(cawb_fatbin_read(&f, fat(80, 0x2000, packed, sizeof packed, 13), 90, &err) == CAWB_OK);
  CHECK(strcmp(f.ptx, "abcabcabcabc.") == 0);
  cawb_fatbin_free(&f);
  CHECK(cawb_fatbin_read(&f, fat(80, 0x8000, packed, sizeof packed, 13), 90, &err) != CAWB_OK);
  CHECK(strstr(err.msg, "compile with -no-compress") != NULL);
  cawb_fatbin_free(&f);
}

static void test_lz4(void) {
  unsigned char out[512], in[600];
  cawb_err err;
  in[0] = 0xf0; in[1] = 255; in[2] = 30;         /* 15 + 255 + 30 literals */
  for (int i = 0; i < 300; i++) in[3 + i] = (unsigned char)i;
  CHECK(cawb_unpack_lz4(out, 300, in, 303, &err) == CAWB_OK && out[299] == (unsigned char)299);
  CHECK(cawb_unpack_lz4(out, 301, in, 303, &err) == CAWB_ERR_INVALID);     /* too few */
  CHECK(cawb_unpack_lz4(out, 100, in, 303, &err) == CAWB_ERR_INVALID);     /* too many */
  static const unsigned char before[] = { 0x14, 'x', 2, 0 }, zero[] = { 0x14, 'x', 0, 0 }, cut[] = { 0x1f, 'x', 1, 0, 255 };
  CHECK(cawb_unpack_lz4(out, 9, before, sizeof before, &err) == CAWB_ERR_INVALID);   /* from before the beginning */
  CHECK(cawb_unpack_lz4(out, 9, zero, sizeof zero, &err) == CAWB_ERR_INVALID);
  CHECK(cawb_unpack_lz4(out, 500, cut, sizeof cut, &err) == CAWB_ERR_INVALID);
}

/* ------------------------------------------------------------------- a program */

static char handle_twice, handle_calls, handle_none;

static int launch(float *at, unsigned n, unsigned threads) {
  unsigned char odd = 1;
  void *args[] = { &at, &odd, &n };
  return cudaLaunchKernel(&handle_twice, (dim3){ 1, 1, 1 }, (dim3){ threads, 1, 1 }, args, 0, NULL);
}

static void count_lines(const char *path, const char *word, int want) {
  char line[4096];
  int n = 0;
  FILE *f = fopen(path, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) n += strstr(line, word) != NULL;
  if (f != NULL) fclose(f);
  CHECK(n == want);
}

/* May begin while the launch before it ends; it does not wait for that. */
static int launch_dependent(float *at, unsigned n) {
  static const attribute programmatic = { .id = 6, .value = { 1 } };
  unsigned char odd = 1;
  void *args[] = { &at, &odd, &n };
  const extended how = { { 1, 1, 1 }, { n, 1, 1 }, 0, NULL, &programmatic, 1 };
  return cudaLaunchKernelExC(&how, &handle_twice, args);
}

/* Each mistake is told once, so that the harmless ones come first. */
static void test_dependent(const char *report) {
  static const char race[] = "which a launch before it wrote and may not have ended";
  float *x;
  CHECK(cudaMalloc((void **)&x, 256) == CAWB_CUDA_OK && cudaMemset(x, 0, 256) == CAWB_CUDA_OK);
  CHECK(launch_dependent(x, 32) == CAWB_CUDA_OK);                      /* the memset has ended */
  CHECK(cudaDeviceSynchronize() == CAWB_CUDA_OK && launch_dependent(x, 32) == CAWB_CUDA_OK);
  CHECK(launch(x, 32, 32) == CAWB_CUDA_OK);
  count_lines(report, race, 0);
  CHECK(launch_dependent(x, 32) == CAWB_CUDA_OK && cudaFree(x) == CAWB_CUDA_OK);
  count_lines(report, race, 1);
}

static void test_memory(void) {
  float h[64], *x, *both;
  for (int i = 0; i < 64; i++) h[i] = (float)i;
  CHECK(cudaMalloc((void **)&x, sizeof h) == CAWB_CUDA_OK);
  CHECK(cudaMemcpy(x, h, sizeof h, 1) == CAWB_CUDA_OK && launch(x, 64, 64) == CAWB_CUDA_OK);
  CHECK(cudaMemcpy(h, x, sizeof h, 2) == CAWB_CUDA_OK && h[5] == 10 && h[63] == 126);
  CHECK(cudaMemcpy(x + 32, h, sizeof h, 1) == CAWB_CUDA_VALUE && cudaGetLastError() == CAWB_CUDA_VALUE);
  CHECK(cudaMemcpy(h, x, sizeof h, 9) == CAWB_CUDA_DIRECTION && cudaMemset(h, 0, 4) == CAWB_CUDA_VALUE);
  CHECK(cudaMemset(x, 0, 253) == CAWB_CUDA_OK && cudaMemcpy(h, x, sizeof h, 4) == CAWB_CUDA_OK && h[62] == 0 && h[63] != 0);
  CHECK(cudaFree(x + 1) == CAWB_CUDA_VALUE && cudaFree(x) == CAWB_CUDA_OK && cudaFree(x) == CAWB_CUDA_VALUE);
  CHECK(cudaFree(NULL) == CAWB_CUDA_OK);
  CHECK(cudaMallocManaged((void **)&both, 100, 1) == CAWB_CUDA_OK);
  for (int i = 0; i < 25; i++) both[i] = 3;
  CHECK(launch(both, 25, 32) == CAWB_CUDA_OK && both[0] == 6 && both[24] == 6);
  CHECK(cudaFree(both) == CAWB_CUDA_OK);
  CHECK(cudaMalloc((void **)&x, (size_t)1 << 60) == CAWB_CUDA_MEMORY && x == NULL);
}

static void test_launches(void) {
  unsigned calls = 0;
  CHECK(cudaMemcpyFromSymbol(&calls, &handle_calls, 4, 0, 2) == CAWB_CUDA_OK && calls == 7 + 2);     /* what is left stays */
  CHECK(cudaMemcpyFromSymbol(&calls, &handle_calls, 4, 1, 2) == CAWB_CUDA_VALUE);
  CHECK(cudaMemcpyFromSymbol(&calls, &handle_none, 4, 0, 2) == CAWB_CUDA_SYMBOL);
  CHECK(launch(NULL, 0, 0) == CAWB_CUDA_CONFIGURATION && launch(NULL, 0, 1025) == CAWB_CUDA_CONFIGURATION);
  CHECK(cudaLaunchKernel(&handle_none, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL) == CAWB_CUDA_FUNCTION);
  CHECK(cudaLaunchKernel(&handle_twice, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, &handle_none) == CAWB_CUDA_HANDLE);
}

/* What is asked of two streams overlaps, but not on one engine. */
static void test_times(void) {
  enum { SIZE = 64 << 20 };
  void *s[2], *e[3], *x, *h = calloc(1, SIZE);
  float one, two;
  for (int i = 0; i < 2; i++) CHECK(cudaStreamCreate(&s[i]) == CAWB_CUDA_OK);
  for (int i = 0; i < 3; i++) CHECK(cudaEventCreate(&e[i]) == CAWB_CUDA_OK);
  CHECK(cudaMalloc(&x, SIZE) == CAWB_CUDA_OK && cudaEventRecord(e[0], s[0]) == CAWB_CUDA_OK);
  CHECK(cudaEventElapsedTime(&one, e[0], e[1]) == CAWB_CUDA_HANDLE);
  cudaMemcpyAsync(x, h, SIZE, 1, s[0]);
  cudaEventRecord(e[1], s[0]);
  cudaMemcpyAsync(h, x, SIZE, 2, s[1]);
  cudaEventRecord(e[2], s[1]);
  CHECK(cudaEventElapsedTime(&one, e[0], e[1]) == CAWB_CUDA_OK && cudaEventElapsedTime(&two, e[0], e[2]) == CAWB_CUDA_OK);
  CHECK(fabs(one - 1e3 * (2e-6 + SIZE / 64e9)) < 1e-4 && two == one);      /* up and down at once */
  for (int i = 0; i < 2; i++) cudaMemcpyAsync(x, h, SIZE, 1, s[i]);
  cudaEventRecord(e[2], s[1]);
  cudaEventElapsedTime(&two, e[0], e[2]);
  CHECK(fabs(two - 3 * one) < 1e-4);                                       /* both up: one after the other */
  for (int i = 0; i < 2; i++) CHECK(cudaStreamDestroy(s[i]) == CAWB_CUDA_OK && cudaStreamDestroy(s[i]) == CAWB_CUDA_HANDLE);
  for (int i = 0; i < 3; i++) cudaEventDestroy(e[i]);
  free(h);
}

/* Nothing works after it. */
static void test_fault(void) {
  float *x;
  CHECK(cudaMalloc((void **)&x, 16) == CAWB_CUDA_OK && cudaMemset(x, 0, 16) == CAWB_CUDA_OK);
  CHECK(launch(x, 8, 32) == CAWB_CUDA_OK);       /* launches do not wait */
  CHECK(cudaDeviceSynchronize() == CAWB_CUDA_ADDRESS && cudaMemset(x, 0, 16) == CAWB_CUDA_ADDRESS);
  CHECK(strcmp(cawb_errors_name(CAWB_CUDA_ADDRESS), "cudaErrorIllegalAddress") == 0);
}

int main(void) {
  char report[] = "/tmp/cawb-test-XXXXXX", told[8192];
  int fd = mkstemp(report);
  static wrapper w = { 0x466243b1, 1, NULL, NULL };
  test_fatbin();
  test_lz4();
  snprintf(told, sizeof told, "{\"device\":\"sim:h100\",\"report\":\"%s\",\"figures\":%s}", report, SIM_FIGURES);
  setenv("CAWB_EXEC", told, 1);
  w.data = fat(80, 0, ptx, sizeof ptx, 0);
  void **m = __cudaRegisterFatBinary(&w);
  __cudaRegisterFunction(m, &handle_twice, NULL, "twice", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(m, &handle_calls, NULL, "calls", 0, 4, 0, 1);
  test_memory();
  test_launches();
  test_dependent(report);
  test_times();
  test_fault();
  count_lines(report, "\"event\":\"begin\"", 1);
  count_lines(report, "\"kind\":\"fault\"", 1);
  count_lines(report, "twice: cannot be launched with a grid of (1,1,1) and blocks of (1025,1,1)", 1);
  unlink(report);
  close(fd);
  return check_report();
}

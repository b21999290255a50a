/*
** test_device_cuda_library.c - library calls of the GPU device without a GPU: against test
** doubles of the driver, of cuBLASLt and of cuDNN, built beside this.
*/
#include "cuda/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fake_cuda.h"
#include "fake_libraries.h"

static fake_cuda *cuda;
static fake_cublaslt *blas;
static fake_cudnn *dnn;

typedef struct bench {
  cawb_device *d;
  cawb_module *m;
  cawb_addr a, b, c, bias, space;
  cawb_gemm gemm;
  cawb_conv conv;
  cawb_step step;
  cawb_choice choice;
  cawb_err err;
} bench;

enum { M = 3, N = 5, K = 4, COUNT = 2, ROOM = 4096 };

static int says(const cawb_err *err, const char *text) {
  if (strstr(err->msg, text) != NULL) return 1;
  fprintf(stderr, "no '%s' in: %s\n", text, err->msg);
  return 0;
}

static cawb_addr buffer(bench *b, const char *label) {
  float values[ROOM / 4];
  cawb_addr at = 0;
  for (int i = 0; i < ROOM / 4; i++) values[i] = (float)(i % 7 - 3);
  CHECK(cawb_device_alloc(b->d, ROOM, label, &at, &b->err) == CAWB_OK);
  CHECK(cawb_device_write(b->d, at, values, sizeof values, &b->err) == CAWB_OK);
  return at;
}

static int begin(bench *b) {
  memset(b, 0, sizeof *b);
  memset(cuda, 0, sizeof *cuda);
  memset(blas, 0, sizeof *blas);
  memset(dnn, 0, sizeof *dnn);
  CHECK(cawb_cuda_open(&b->d, "0", CAWB_FAKE_CUDA, &b->err) == CAWB_OK);
  if (b->d == NULL) return 0;
  CHECK(cawb_device_load(b->d, &(cawb_image){ .ptx = "good" }, &b->m, &b->err) == CAWB_OK);
  b->a = buffer(b, "a");
  b->b = buffer(b, "b");
  b->c = buffer(b, "c");
  b->bias = buffer(b, "bias");
  b->space = buffer(b, "workspace");
  b->step.operand[CAWB_OPERAND_A] = b->a;
  b->step.operand[CAWB_OPERAND_B] = b->b;
  b->step.operand[CAWB_OPERAND_C] = b->c;
  b->step.operand[CAWB_OPERAND_BIAS] = b->bias;
  b->step.operand[CAWB_OPERAND_WORKSPACE] = b->space;
  b->step.gemm = &b->gemm;
  b->step.conv = &b->conv;
  return 1;
}

static void end(bench *b) {
  cawb_device_close(b->d);
  CHECK(cuda->live == 0 && blas->live == 0 && dnn->live == 0);
}

static cawb_status choose(bench *b) {
  memset(&b->err, 0, sizeof b->err);
  return cawb_device_choose(b->d, &b->step, 1, NULL, &b->choice, &b->err);
}

static cawb_status run(bench *b) {
  cawb_report report;
  return cawb_device_run(b->d, b->m, &b->step, 1, &report, &b->err);
}

/* ---- gemm ---- */

static cawb_matrix matrix(int64_t rows, int64_t cols, int transposed) {
  return (cawb_matrix){ .row = transposed ? 1 : cols, .column = transposed ? rows : 1,
                        .batch = rows * cols, .align = 64 };
}

static void product(bench *b, int ta, int tb) {
  memset(&b->gemm, 0, sizeof b->gemm);
  b->gemm = (cawb_gemm){ .m = M, .n = N, .k = K, .count = COUNT, .a = matrix(M, K, ta),
                         .b = matrix(K, N, tb), .c = matrix(M, N, 0), .alpha = 2, .beta = 1,
                         .epilogue = CAWB_EPILOGUE_BIAS | CAWB_EPILOGUE_RELU, .workspace = 1024 };
  b->step.kind = CAWB_STEP_GEMM;
}

static float element(cawb_addr at, const cawb_matrix *m, int s, int i, int j) {
  return ((const float *)(uintptr_t)at)[s * m->batch + i * m->row + j * m->column];
}

/* Whether c is what it should be, given what it was. */
static int is_product(const bench *b, const float *was) {
  const cawb_gemm *g = &b->gemm;
  for (int s = 0; s < COUNT; s++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        float sum = 0, want;
        for (int k = 0; k < K; k++) sum += element(b->a, &g->a, s, i, k) * element(b->b, &g->b, s, k, j);
        want = 2 * sum + was[s * M * N + i * N + j] + ((const float *)(uintptr_t)b->bias)[j];
        if (element(b->c, &g->c, s, i, j) != (want < 0 ? 0 : want)) return 0;
      }
  return 1;
}

/* Rows are columns to the library: every combination must come out as the plan meant it. */
static void test_products(void) {
  bench b;
  float was[COUNT * M * N];
  if (!begin(&b)) return;
  for (int t = 0; t < 4; t++) {
    product(&b, t & 1, t >> 1);
    CHECK(choose(&b) == CAWB_OK && b.choice.algorithm == 60 && b.choice.fused == 1);
    CHECK(strcmp(b.choice.library, "cuBLASLt 13.1.2") == 0);
    memcpy(was, (const void *)(uintptr_t)b.c, sizeof was);
    int before = blas->asked;
    CHECK(run(&b) == CAWB_OK && is_product(&b, was));
    CHECK(blas->asked == before);            /* what was chosen is found again */
  }
  CHECK(blas->compute == 68 && blas->epilogue == 6 && blas->align_a == 64);
  b.gemm.compute = CAWB_COMPUTE_TF32;
  CHECK(choose(&b) == CAWB_OK && blas->compute == 77);
  b.gemm.epilogue = 0;
  CHECK(choose(&b) == CAWB_OK && blas->epilogue == 1);
  b.gemm.a.dtype = b.gemm.b.dtype = CAWB_BFLOAT16;
  b.gemm.compute = CAWB_COMPUTE_BF16;
  CHECK(choose(&b) == CAWB_OK && blas->compute == 68);
  end(&b);
}

static void test_algorithms(void) {
  bench b;
  if (!begin(&b)) return;
  product(&b, 0, 0);
  blas->refused = 2;                         /* heuristics promised too much */
  blas->least = 512;
  CHECK(choose(&b) == CAWB_OK && b.choice.algorithm == 62 && b.choice.workspace == 512);
  CHECK(run(&b) == CAWB_OK && blas->algorithm == 62 && blas->workspace == 512);
  b.gemm.alpha = 3;
  blas->refused = 3;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "the library refuses it: CUBLAS_STATUS_NOT_SUPPORTED"));
  blas->refused = 0;
  CHECK(choose(&b) == CAWB_OK);              /* a failure is not kept */
  b.gemm.workspace = 100;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "workspace = 100; give it 512 bytes"));
  blas->none = 1;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "cuBLASLt cannot compute 3 x 5 x 4 of float32"));
  end(&b);
}

static void test_bounds(void) {
  bench b;
  if (!begin(&b)) return;
  product(&b, 0, 0);
  b.step.operand[CAWB_OPERAND_C] += ROOM - 4;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "gemm: operand 3: 120 bytes"));
  CHECK(run(&b) == CAWB_ERR_CANDIDATE && blas->ran == 0);
  b.step.operand[CAWB_OPERAND_C] = b.c;
  b.gemm.workspace = ROOM + 1;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "operand 5"));
  end(&b);
}

/* ---- conv ---- */

static void convolution(bench *b, int transposed) {
  memset(&b->conv, 0, sizeof b->conv);
  b->conv = (cawb_conv){
    .x = { { 2, 4, 3, 5 }, { 60, 15, 5, 1 } }, .w = { { 6, 2, 3, 3 }, { 18, 9, 3, 1 } },
    .y = { { 2, 6, 3, 5 }, { 90, 15, 5, 1 } }, .stride = { 1, 1, 1 }, .padding = { 1, 1, 0 },
    .dilation = { 1, 1, 1 }, .groups = 2, .space = 2, .workspace = 1024
  };
  if (transposed) {
    b->conv.x = (cawb_conv_tensor){ { 2, 6, 3, 5 }, { 90, 15, 5, 1 } };
    b->conv.y = (cawb_conv_tensor){ { 2, 4, 3, 5 }, { 60, 15, 5, 1 } };
    b->conv.transposed = 1;
  }
  b->step.kind = CAWB_STEP_CONV;
}

static void test_convolutions(void) {
  bench b;
  if (!begin(&b)) return;
  convolution(&b, 0);
  CHECK(choose(&b) == CAWB_OK && b.choice.algorithm == 5 && b.choice.fused == 1);
  CHECK(strcmp(b.choice.library, "cuDNN 9.10.2") == 0);
  CHECK(dnn->forward == 1 && dnn->math == 3 && dnn->groups == 2 && dnn->type == 0 && dnn->format == 0);
  CHECK(dnn->x[1] == 4 && dnn->w[1] == 2 && dnn->y[1] == 6 && dnn->strides[0] == 60 && dnn->pad[0] == 1);
  CHECK(run(&b) == CAWB_OK && dnn->forward == 2 && dnn->asked == 1);
  CHECK(dnn->added == 0 && dnn->activated == 0 && dnn->stream == ((cawb_cuda *)b.d)->stream);
  b.conv.compute = CAWB_COMPUTE_TF32;
  CHECK(choose(&b) == CAWB_OK && dnn->algorithm == 5);
  b.conv.dtype = CAWB_FLOAT16;
  CHECK(choose(&b) == CAWB_OK && dnn->type == 2);
  convolution(&b, 1);
  CHECK(choose(&b) == CAWB_OK && dnn->backward == 1 && dnn->x[1] == 6 && dnn->y[1] == 4);
  /* channels last: strides for x and y, a word for the weights */
  convolution(&b, 0);
  b.conv.x = (cawb_conv_tensor){ { 2, 4, 3, 5 }, { 60, 1, 20, 4 } };
  b.conv.w = (cawb_conv_tensor){ { 6, 2, 3, 3 }, { 18, 1, 6, 2 } };
  CHECK(choose(&b) == CAWB_OK && dnn->format == 1 && dnn->strides[1] == 1);
  end(&b);
}

/* A bias is fused with ReLU by any algorithm, alone by one; what is left goes apart. */
static void test_epilogues(void) {
  bench b;
  if (!begin(&b)) return;
  convolution(&b, 0);
  b.conv.epilogue = CAWB_EPILOGUE_BIAS | CAWB_EPILOGUE_RELU;
  CHECK(choose(&b) == CAWB_OK && b.choice.fused && b.choice.algorithm == 5);
  CHECK(dnn->fused == 1 && dnn->forward == 0 && dnn->activation == 1);
  b.conv.workspace = 1000;                   /* another call: its fused form fails */
  dnn->refused = 1;
  CHECK(choose(&b) == CAWB_OK && !b.choice.fused && b.choice.algorithm == 5);
  CHECK(dnn->fused == 2 && dnn->forward == 1 && dnn->added == 1 && dnn->activated == 1);
  b.conv.epilogue = CAWB_EPILOGUE_RELU;
  CHECK(choose(&b) == CAWB_OK && !b.choice.fused && dnn->activated == 2 && dnn->added == 1);
  b.conv.epilogue = CAWB_EPILOGUE_BIAS;
  CHECK(choose(&b) == CAWB_OK && !b.choice.fused && dnn->added == 2 && dnn->activated == 2);
  dnn->refused = 1;                          /* then the next one, which can */
  b.conv.workspace = 900;
  CHECK(choose(&b) == CAWB_OK && b.choice.fused && b.choice.algorithm == 1 && dnn->activation == 5);
  convolution(&b, 1);
  b.conv.epilogue = CAWB_EPILOGUE_BIAS | CAWB_EPILOGUE_RELU;
  CHECK(choose(&b) == CAWB_OK && !b.choice.fused && dnn->backward == 1 && dnn->added == 3 && dnn->activated == 3);
  end(&b);
}

static void test_refused_convolutions(void) {
  bench b;
  if (!begin(&b)) return;
  convolution(&b, 0);
  dnn->least = 2000;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "workspace = 1024; give it 2000 bytes"));
  dnn->least = 0;
  dnn->refused = 100;
  CHECK(choose(&b) == CAWB_ERR_CANDIDATE && says(&b.err, "CUDNN_STATUS_NOT_SUPPORTED"));
  dnn->refused = 0;
  CHECK(choose(&b) == CAWB_OK);
  end(&b);
}

/* ---- both ---- */

/* A machine without a library fails the candidate, which could do without. */
static void test_broken_library(void) {
  bench b;
  char folder[] = "/tmp/cawb-test-XXXXXX", lib[64], file[96];
  if (!begin(&b)) return;
  CHECK(mkdtemp(folder) != NULL);
  snprintf(lib, sizeof lib, "%s/lib64", folder);
  snprintf(file, sizeof file, "%s/libcublasLt.so.99", lib);
  CHECK(mkdir(lib, 0700) == 0 && symlink(CAWB_SOURCE "/README.md", file) == 0);
  setenv("CAWB_CUDA_HOME", folder, 1);
  product(&b, 0, 0);
  CHECK(choose(&b) == CAWB_ERR_UNSUPPORTED && says(&b.err, "libcublasLt.so cannot be loaded"));
  setenv("CAWB_CUDA_HOME", CAWB_FAKE_LIBRARIES, 1);
  CHECK(choose(&b) == CAWB_OK);              /* the next one may find it */
  unlink(file);
  rmdir(lib);
  rmdir(folder);
  end(&b);
}

/* A profile has the time of a call; its kernels are not counted. */
static void test_profile(void) {
  bench b;
  cawb_profile p = { 0 };
  static const char *const metrics[] = { "dram__bytes.sum" };
  if (!begin(&b)) return;
  product(&b, 0, 0);
  CHECK(choose(&b) == CAWB_OK);
  CHECK(cawb_device_profile(b.d, b.m, &b.step, 1, metrics, 1, &p, &b.err) == CAWB_OK);
  CHECK(p.count == 1 && strcmp(p.list[0].kernel, "gemm") == 0 && strcmp(p.list[0].metric, "seconds") == 0);
  CHECK(strstr(p.note, "calls a library (gemm)") != NULL);
  cawb_profile_free(&p);
  end(&b);
}

static void *symbol(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW);
  if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
  return handle != NULL ? dlsym(handle, name) : NULL;
}

int main(void) {
  cuda = symbol(CAWB_FAKE_CUDA, "fake_cuda_state");
  blas = symbol(CAWB_FAKE_LIBRARIES "/lib64/libcublasLt.so", "fake_cublaslt_state");
  dnn = symbol(CAWB_FAKE_LIBRARIES "/lib64/libcudnn.so", "fake_cudnn_state");
  CHECK(cuda != NULL && blas != NULL && dnn != NULL);
  setenv("CAWB_CUDA_HOME", CAWB_FAKE_LIBRARIES, 1);
  if (check_failed == 0) {
    test_products();
    test_algorithms();
    test_bounds();
    test_convolutions();
    test_epilogues();
    test_refused_convolutions();
    test_broken_library();
    test_profile();
  }
  return check_report();
}

/*
** test_device_cuda_gpu.c - the contract of device/device.h on a real GPU, each case in its
** own process, since a fault takes the context with it. Without a GPU it says so
** and passes; CAWB_TEST_GPU=1 makes that a failure. This process never starts CUDA.
*/
#include "cuda/device.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SKIPPED 77

/* ---- what the cases share ---- */

typedef struct bench { cawb_device *d; cawb_module *m; cawb_err err; } bench;

static char *read_file(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 65536);
  if (f == NULL || text == NULL || fread(text, 1, 65535, f) == 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
  return text;
}

static int ok(const bench *b, cawb_status s) {
  if (s != CAWB_OK) fprintf(stderr, "%s: %s\n", cawb_status_name(s), b->err.msg);
  return s == CAWB_OK;
}

static void load(bench *b, const char *path) {
  char *ptx = read_file(path);
  CHECK(ok(b, cawb_device_load(b->d, &(cawb_image){ .ptx = ptx }, &b->m, &b->err)));
  free(ptx);
}

static bench begin(void) {
  bench b = { 0 };
  if (!ok(&b, cawb_device_open_cuda(&b.d, "0", &b.err))) exit(1);
  load(&b, CAWB_SOURCE "/tests/cuda/gpu/kernels.ptx");
  if (b.m == NULL) exit(1);
  return b;
}

static void end(bench *b) { cawb_device_close(b->d); }

static cawb_addr buffer(bench *b, size_t size, const char *label) {
  cawb_addr a = 0;
  CHECK(ok(b, cawb_device_alloc(b->d, size, label, &a, &b->err)));
  return a;
}

static cawb_step launch(const char *kernel, unsigned grid, unsigned block,
                        const void *args, size_t size) {
  return (cawb_step){ .kind = CAWB_STEP_LAUNCH, .kernel = kernel, .grid = { grid, 1, 1 },
                      .block = { block, 1, 1 }, .cluster = { 1, 1, 1 }, .args = args,
                      .args_size = size };
}

static cawb_status run(bench *b, const cawb_step *steps, size_t n) {
  cawb_report report;
  cawb_status s = cawb_device_run(b->d, b->m, steps, n, &report, &b->err);
  if (s != CAWB_OK) printf("  %s: %s\n", cawb_status_name(s), b->err.msg);
  return s;
}

/* Parameters as PTX lays them out, without tail padding. */
typedef struct saxpy_args { cawb_addr y, x; float a; uint32_t n; } saxpy_args;
typedef struct copy_args { cawb_addr dst, src; uint32_t n; } __attribute__((packed)) copy_args;

static cawb_addr floats(bench *b, uint32_t n, float step, const char *label) {
  float *v = malloc(n * sizeof *v);
  cawb_addr a = buffer(b, n * sizeof *v, label);
  for (uint32_t i = 0; i < n; i++) v[i] = step * (float)(i % 1000);
  CHECK(ok(b, cawb_device_write(b->d, a, v, n * sizeof *v, &b->err)));
  free(v);
  return a;
}

/* How many of y's n floats are not factor * (i % 1000). */
static uint32_t wrong(bench *b, cawb_addr y, uint32_t n, float factor) {
  float *v = malloc(n * sizeof *v);
  uint32_t bad = 0;
  CHECK(ok(b, cawb_device_read(b->d, v, y, n * sizeof *v, &b->err)));
  for (uint32_t i = 0; i < n; i++) bad += !(fabsf(v[i] - factor * (float)(i % 1000)) <= 1e-3f);
  free(v);
  return bad;
}

/* ---- the cases ---- */

static void about(void) {
  bench b = begin();
  const cawb_device_info *i = cawb_device_about(b.d);
  printf("  %s: %s, %s, driver %s, %s, %u SMs, %zu bytes, L2 %zu, shared %zu, %u threads\n",
         i->name, i->model, i->arch, i->driver, i->uuid, i->sms, i->memory, i->l2,
         i->shared_block, i->threads_block);
  CHECK(strncmp(i->arch, "sm_", 3) == 0 && i->model[0] != '\0' && i->driver[0] != '\0');
  CHECK(strlen(i->uuid) == 40 && i->sms > 0 && i->memory > 1u << 30 && i->l2 > 0);
  CHECK(i->shared_block >= 48 << 10 && i->threads_block >= 1024 && !i->modelled);
  CHECK(cawb_device_open_cuda(&(cawb_device *){ NULL }, "1000", &b.err) == CAWB_ERR_MISSING);
  printf("  %s\n", b.err.msg);
  end(&b);
}

static void saxpy(void) {
  enum { N = 100003 };
  bench b = begin();
  saxpy_args args = { .a = 2, .n = N };
  args.x = floats(&b, N, 1, "inputs[1]");
  args.y = floats(&b, N, 3, "outputs[1]");
  cawb_step s = launch("saxpy", (N + 255) / 256, 256, &args, sizeof args);
  CHECK(run(&b, &s, 1) == CAWB_OK && wrong(&b, args.y, N, 5) == 0);
  end(&b);
}

static void slip(void) {
  enum { N = 1000 };
  bench b = begin();
  saxpy_args args = { .a = 2, .n = N };
  args.x = floats(&b, N, 1, "inputs[1]");
  args.y = floats(&b, N, 3, "outputs[1]");
  cawb_step s = launch("saxpy_slip", 4, 256, &args, sizeof args);
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(b.err.msg, "wrote past the end of outputs[1]") != NULL);
  s.kernel = "saxpy";
  CHECK(!cawb_device_lost(b.d) && run(&b, &s, 1) == CAWB_OK);
  end(&b);
}

/* Behind what the guards see there is nothing, and what is protected cannot be written to. */
static void out_of_reach(size_t by, int protect) {
  enum { N = 1000 };
  bench b = begin();
  saxpy_args args = { .a = 2, .n = N };
  args.x = floats(&b, N, 1, "inputs[1]");
  args.y = floats(&b, N, 3, "inputs[2]");
  if (!cawb_device_about(b.d)->protects) exit(SKIPPED);
  if (protect) CHECK(ok(&b, cawb_device_protect(b.d, args.y, &b.err)));
  args.y += by;
  cawb_step s = launch("saxpy", 4, 256, &args, sizeof args);
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE && cawb_device_lost(b.d));
  CHECK(strstr(b.err.msg, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL);
  end(&b);
}

static void astray(void) { out_of_reach(8192, 0); }
static void read_only(void) { out_of_reach(0, 1); }

static void faults(const char *kernel, const char *says) {
  bench b = begin();
  cawb_addr a = buffer(&b, 64, "outputs[1]");
  cawb_step s = launch(kernel, 1, 1, strcmp(kernel, "crooked") == 0 ? &a : NULL,
                       strcmp(kernel, "crooked") == 0 ? sizeof a : 0);
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE && strstr(b.err.msg, says) != NULL);
  CHECK(strncmp(b.err.msg, kernel, strlen(kernel)) == 0 && cawb_device_lost(b.d));
  CHECK(cawb_device_fill(b.d, a, 0, 64, &b.err) == CAWB_ERR_DEVICE);
  end(&b);
}

static void wild(void) { faults("wild", "CUDA_ERROR_ILLEGAL_ADDRESS"); }
static void crooked(void) { faults("crooked", "CUDA_ERROR_MISALIGNED_ADDRESS"); }
static void stop(void) { faults("stop", "CUDA_ERROR_"); }

static void fault_while_timed(void) {
  bench b = begin();
  double samples[10];
  cawb_timing t = { .max_samples = 10, .budget = 1, .samples = samples };
  cawb_step s = launch("wild", 1, 1, NULL, 0);
  CHECK(cawb_device_time(b.d, b.m, &s, 1, &t, &b.err) == CAWB_ERR_CANDIDATE);
  CHECK(strstr(b.err.msg, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL && cawb_device_lost(b.d));
  end(&b);
}

static void limits(void) {
  bench b = begin();
  uint32_t found = 0;
  struct { cawb_addr out; uint32_t bytes; } __attribute__((packed)) args;
  args.out = buffer(&b, 4, "outputs[1]");
  cawb_step s = launch("far_shared", 1, 1, &args, sizeof args);
  args.bytes = (uint32_t)cawb_device_about(b.d)->shared_block;
  s.shared = args.bytes + 16;
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE);
  s.shared = args.bytes;
  CHECK(run(&b, &s, 1) == CAWB_OK);
  CHECK(ok(&b, cawb_device_read(b.d, &found, args.out, 4, &b.err)) && found == 42);
  s.block[0] = 2048;
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE);
  s = launch("absent", 1, 1, NULL, 0);
  CHECK(run(&b, &s, 1) == CAWB_ERR_CANDIDATE && !cawb_device_lost(b.d));
  end(&b);
}

/* The driver's default heap is 8 MiB; a plan's kernels get next to none. */
static void heap(void) {
  bench b = begin();
  uint32_t given = 7;
  struct { cawb_addr out; uint64_t bytes; } args = { 0, 6 << 20 };
  args.out = buffer(&b, 4, "outputs[1]");
  cawb_step s = launch("heap", 1, 1, &args, sizeof args);
  CHECK(run(&b, &s, 1) == CAWB_OK);
  CHECK(ok(&b, cawb_device_read(b.d, &given, args.out, 4, &b.err)) && given == 0);
  end(&b);
}

static void cluster(void) {
  bench b = begin();
  uint32_t size = 0;
  cawb_addr out = buffer(&b, 4, "outputs[1]");
  if (atoi(cawb_device_about(b.d)->arch + 3) < 90) exit(SKIPPED);
  load(&b, CAWB_SOURCE "/tests/cuda/gpu/cluster.ptx");
  cawb_step s = launch("cluster_size", 32, 32, &out, sizeof out);
  const unsigned sizes[] = { 1, 4, 8 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    s.cluster[0] = sizes[i];
    CHECK(run(&b, &s, 1) == CAWB_OK);
    CHECK(ok(&b, cawb_device_read(b.d, &size, out, 4, &b.err)) && size == sizes[i]);
  }
  s.cluster[0] = 16;           /* not every GPU that has clusters has these */
  cawb_status large = run(&b, &s, 1);
  CHECK(large == CAWB_OK || (large == CAWB_ERR_CANDIDATE && !cawb_device_lost(b.d)));
  end(&b);
}

/* A memset and two launches, repeated: the memset makes every repeat the same. */
static void plan(void) {
  enum { N = 4096 };
  bench b = begin();
  double samples[25];
  cawb_timing t = { .warmup = 3, .max_samples = 25, .budget = 60, .samples = samples };
  saxpy_args args = { .a = 2, .n = N };
  args.x = floats(&b, N, 1, "inputs[1]");
  args.y = floats(&b, N, 9, "outputs[1]");
  cawb_step steps[] = {
    { .kind = CAWB_STEP_FILL, .addr = args.y, .size = N * 4, .pattern = 0 },
    launch("saxpy", N / 256, 256, &args, sizeof args),
    launch("saxpy", N / 256, 256, &args, sizeof args)
  };
  CHECK(run(&b, steps, 3) == CAWB_OK && wrong(&b, args.y, N, 4) == 0);
  CHECK(ok(&b, cawb_device_time(b.d, b.m, steps, 3, &t, &b.err)) && t.count == 25);
  CHECK(wrong(&b, args.y, N, 4) == 0);
  for (unsigned i = 0; i < t.count; i++) CHECK(isfinite(samples[i]) && samples[i] > 0);
  end(&b);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Times copies; the numbers are printed for whoever reads, only nonsense fails. */
static void copies(void) {
  bench b = begin();
  const size_t sizes[] = { 1u << 20, 64u << 20, 256u << 20 };
  double s[100];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    copy_args args = { buffer(&b, sizes[i], "outputs[1]"), buffer(&b, sizes[i], "inputs[1]"),
                       (uint32_t)(sizes[i] / 16) };
    cawb_timing t = { .warmup = 3, .max_samples = 100, .budget = 5, .samples = s };
    cawb_step step = launch("copy16", args.n / 256, 256, &args, sizeof args);
    CHECK(ok(&b, cawb_device_fill(b.d, args.src, 0x3f8ccccd, sizes[i], &b.err)));
    CHECK(ok(&b, cawb_device_time(b.d, b.m, &step, 1, &t, &b.err)) && t.count >= 10);
    qsort(s, t.count, sizeof *s, compare);
    CHECK(isfinite(s[0]) && s[0] > 0 && isfinite(s[t.count - 1]));
    if (t.count > 0)
      printf("  copy of %zu bytes: %u samples, median %.2f us, p5 %.2f, p95 %.2f, %.3g TB/s\n",
             sizes[i], t.count, s[t.count / 2] * 1e6, s[t.count / 20] * 1e6,
             s[t.count * 19 / 20] * 1e6, 2e-12 * (double)sizes[i] / s[t.count / 2]);
    cawb_device_free(b.d, args.src);
    cawb_device_free(b.d, args.dst);
  }
  end(&b);
}

/* ---- another process's memory ---- */

/*
** Offers 4096 words of 0x2a2a2a2a, until the reader of `done` has finished. A device's own
** buffers are mapped, and have no such handle.
*/
static void offer(int out, int done) {
  cawb_device *d = NULL;
  cawb_err err;
  CUdeviceptr a = 0;
  CUipcMemHandle handle;
  char byte;
  if (cawb_device_open_cuda(&d, "0", &err) != CAWB_OK) exit(1);
  const cawb_cuda_driver *cu = &((cawb_cuda *)d)->cu;
  CUresult (*get)(CUipcMemHandle *, CUdeviceptr);
  void *f = dlsym(cu->library, "cuIpcGetMemHandle");
  memcpy(&get, &f, sizeof get);
  if (f == NULL || cu->cuMemAlloc(&a, 16384) != CUDA_SUCCESS) exit(1);
  cu->cuMemsetD32Async(a, 0x2a2a2a2a, 4096, ((cawb_cuda *)d)->stream);
  cu->cuCtxSynchronize();
  if (get(&handle, a) != CUDA_SUCCESS || write(out, &handle, sizeof handle) < 0) exit(1);
  if (read(done, &byte, 1) < 0) exit(1);
  cawb_device_close(d);
  exit(0);
}

static void attach(void) {
  int handles[2], done[2];
  cawb_share share = { .fd = -1, .size = 16384 };
  cawb_addr a = 0;
  uint32_t words[4096] = { 0 };
  CHECK(pipe(handles) == 0 && pipe(done) == 0);
  if (fork() == 0) {                /* before either process starts CUDA */
    close(done[1]);
    offer(handles[1], done[0]);
  }
  close(handles[1]);
  CHECK(read(handles[0], share.ipc, sizeof share.ipc) == (ssize_t)sizeof share.ipc);
  bench b = begin();
  CHECK(ok(&b, cawb_device_attach(b.d, &share, &a, &b.err)));
  CHECK(ok(&b, cawb_device_read(b.d, words, a, sizeof words, &b.err)));
  CHECK(words[0] == 0x2a2a2a2a && words[4095] == 0x2a2a2a2a);
  cawb_device_detach(b.d, a);
  CHECK(cawb_device_read(b.d, words, a, 4, &b.err) == CAWB_ERR_INVALID);
  end(&b);
  close(done[1]);
  int status = 1;
  CHECK(wait(&status) > 0 && status == 0);
}

/* ---- running them ---- */

static void present(void) {
  cawb_device *d = NULL;
  cawb_err err = { 0 };
  cawb_status s = cawb_device_open_cuda(&d, "0", &err);
  if (s == CAWB_OK) cawb_device_close(d);
  else printf("%s\n", err.msg);
  if (s != CAWB_OK) exit(s == CAWB_ERR_MISSING ? SKIPPED : 1);
}

/* The exit status of `body` in a process of its own. */
static int apart(void (*body)(void)) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    check_failed = 0;                /* its own failures, not those before it */
    body();
    exit(check_failed != 0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void) {
  const struct { const char *name; void (*body)(void); } cases[] = {
    { "about", about }, { "saxpy", saxpy }, { "off by one", slip },
    { "behind the guards", astray }, { "a write to an input", read_only }, { "illegal address", wild }, { "misaligned address", crooked }, { "trap", stop },
    { "fault while timed", fault_while_timed }, { "limits", limits }, { "heap", heap },
    { "cluster", cluster }, { "plan of three steps", plan }, { "copies", copies },
    { "another process's memory", attach },
  };
  const char *wanted = getenv("CAWB_TEST_GPU");
  int there = apart(present);
  if (there == SKIPPED && (wanted == NULL || strcmp(wanted, "1") != 0)) {
    printf("skipped: there is no GPU (CAWB_TEST_GPU=1 insists on one)\n");
    return 0;
  }
  CHECK(there == 0);
  for (size_t i = 0; there == 0 && i < sizeof cases / sizeof *cases; i++) {
    int code = apart(cases[i].body);
    printf("%s: %s\n", cases[i].name, code == 0 ? "ok" : code == SKIPPED ? "skipped" : "FAILED");
    CHECK(code == 0 || code == SKIPPED);
  }
  return check_report();
}

/*
** test_sim_kernels.c - whole kernels on the simulated device: results against
** plain C in double, the counters where they can be told by hand, the modelled
** time where it can be ranked.
*/
#include <math.h>

#include "check.h"
#include "sim_fixture.h"

static double worst(const float *got, const double *want, size_t n) {
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    double e = fabs(got[i] - want[i]) / (1 + fabs(want[i]));
    if (!(e <= most)) most = e;
  }
  return most;
}

enum { ROWS = 16, COLS = 1000, N = ROWS * COLS };
static float input[N], output[N];
static double want[N];

static void fill_input(void) {
  unsigned seed = 1;
  for (int i = 0; i < N; i++) input[i] = noise(&seed) * 4;
}

static void test_saxpy(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", input, sizeof input);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, float, 0.5f); ARG(x, int, N);
  CHECK(launch(x, "saxpy", (N + 255) / 256, 1, 256, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  for (int i = 0; i < N; i++) CHECK(output[i] == fmaf(input[i], 0.5f, input[i]));
  const cawb_report *r = &x->report;
  unsigned warps = N / 32, idle = (N + 255) / 256 * 8 - warps;    /* N is a multiple of 32 */
  CHECK(r->counted && r->global_requests == 3 * warps && r->global_sectors == 12 * warps);
  CHECK(r->dram_bytes == 3 * sizeof input);     /* x once, y read and written */
  CHECK(r->branches == warps + idle && r->divergent_branches == 0);
  CHECK(r->thread_instructions <= 32 * r->warp_instructions && r->shared_requests == 0);
  CHECK(r->seconds > 0 && r->bound.memory > 0 && r->bound.launch > 0);
}

static void test_gelu(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", NULL, sizeof input);
  for (int i = 0; i < N; i++) want[i] = 0.5 * input[i] * (1 + erf(input[i] * sqrt(0.5)));
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, N);
  CHECK(launch(x, "gelu", (N + 127) / 128, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  CHECK(worst(output, want, N) < 1e-6);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, N / 4);
  CHECK(launch(x, "gelu4", 7, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  CHECK(worst(output, want, N) < 1e-6);
  CHECK(x->report.global_sectors == 16 * x->report.global_requests);
  for (int i = 0; i < N; i++) {
    double v = input[i];
    want[i] = 0.5 * v * (1 + tanh(0.79788456 * (v + 0.044715 * v * v * v)));
  }
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, N);
  CHECK(launch(x, "gelu_tanh", (N + 127) / 128, 1, 128, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  CHECK(worst(output, want, N) < 1e-6);
}

static void test_softmax(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", NULL, sizeof input);
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int i = 0; i < COLS; i++) sum += exp(input[r * COLS + i]);
    for (int i = 0; i < COLS; i++) want[r * COLS + i] = exp(input[r * COLS + i]) / sum;
  }
  static const unsigned threads[] = { 32, 96, 256, 1024 };
  for (int k = 0; k < 4; k++) {
    ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, COLS);
    CHECK(launch(x, "softmax_rows", ROWS, 1, threads[k], 1, 0) == CAWB_OK);
    fetch_tensor(x, output, Y, sizeof output);
    CHECK(worst(output, want, N) < 1e-7);
    CHECK(x->report.races == 0 && x->report.race[0] == '\0');
    CHECK(x->report.barriers == ROWS * 3 * (threads[k] / 32));
    CHECK(x->report.dram_bytes == 2 * sizeof input);
  }
}

static void test_layernorm(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", NULL, sizeof input);
  for (int r = 0; r < ROWS; r++) {
    const float *v = input + r * COLS;
    double s = 0, q = 0;
    for (int i = 0; i < COLS; i++) s += v[i], q += (double)v[i] * v[i];
    double mean = s / COLS, var = q / COLS - mean * mean;
    for (int i = 0; i < COLS; i++) want[r * COLS + i] = (v[i] - mean) / sqrt(var + 1e-5) * input[i] + input[COLS + i];
  }
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, cawb_addr, X); ARG(x, cawb_addr, X + COLS * 4); ARG(x, int, COLS); ARG(x, float, 1e-5f);
  CHECK(launch(x, "layernorm", ROWS, 1, 128, 1, 2 * 128 * 8) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  CHECK(worst(output, want, N) < 2e-6);
  CHECK(x->report.races == 0);
}

static void test_rowsum(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", NULL, ROWS * 4);
  for (int r = 0; r < ROWS; r++) {
    want[r] = 0;
    for (int i = 0; i < COLS; i++) want[r] += input[r * COLS + i];
  }
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, COLS);
  CHECK(launch(x, "rowsum", ROWS, 1, 256, 1, 0) == CAWB_OK);
  fetch_tensor(x, output, Y, ROWS * 4);
  CHECK(worst(output, want, ROWS) < 1e-5);
  CHECK(x->report.races == 0);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, COLS);
  CHECK(launch(x, "rowsum_race", ROWS, 1, 256, 1, 0) == CAWB_OK);
  CHECK(x->report.races > 0);
  CHECK(strstr(x->report.race, "rowsum_race, kernel.cu line ") != NULL && strstr(x->report.race, "warp 1 writes") != NULL);
}

static void test_matmul(sim_fixture *x) {
  enum { M = 64, NN = 128, K = 48 };
  static float a[M * K], b[K * NN], c[M * NN];
  static double product[M * NN];
  unsigned seed = 9;
  for (int i = 0; i < M * K; i++) a[i] = noise(&seed);
  for (int i = 0; i < K * NN; i++) b[i] = noise(&seed);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < NN; j++) {
      product[i * NN + j] = 0;
      for (int k = 0; k < K; k++) product[i * NN + j] += (double)a[i * K + k] * b[k * NN + j];
    }
  cawb_addr A = tensor(x, "inputs[1]", a, sizeof a), B = tensor(x, "inputs[2]", b, sizeof b), C = tensor(x, "outputs[1]", NULL, sizeof c);
  ARG(x, cawb_addr, C); ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, int, M); ARG(x, int, NN); ARG(x, int, K);
  CHECK(launch(x, "matmul_tiled", NN / 64, M / 64, 256, 1, 0) == CAWB_OK);
  fetch_tensor(x, c, C, sizeof c);
  CHECK(worst(c, product, M * NN) < 1e-5);
  CHECK(x->report.races == 0 && x->report.divergent_branches == 0);
  CHECK(x->report.shared_wavefronts > x->report.shared_requests);    /* 16-byte loads take four passes */
  ARG(x, cawb_addr, C); ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, int, M); ARG(x, int, NN); ARG(x, int, K);
  CHECK(launch(x, "matmul_naive", NN / 32, M / 8, 32, 8, 0) == CAWB_OK);
  fetch_tensor(x, c, C, sizeof c);
  CHECK(worst(c, product, M * NN) < 1e-5);
}

/* A plan of a fill and a launch; timing gives the same seconds in one sample. */
static void test_plan(sim_fixture *x) {
  cawb_addr X = tensor(x, "inputs[1]", input, sizeof input), Y = tensor(x, "outputs[1]", input, sizeof input);
  struct { cawb_addr y, x; float a; int n; } args = { Y, X, 2, N };
  cawb_step steps[2] = { { .kind = CAWB_STEP_FILL, .addr = Y, .size = sizeof input, .pattern = 0x3f800000 },
                         { .kind = CAWB_STEP_LAUNCH, .kernel = "saxpy", .grid = { 63, 1, 1 }, .block = { 256, 1, 1 },
                           .cluster = { 1, 1, 1 }, .args = &args, .args_size = sizeof args } };
  double sample = 0;
  cawb_timing timing = { .max_samples = 1, .samples = &sample };
  CHECK(cawb_device_run(x->d, x->m, steps, 2, &x->report, &x->err) == CAWB_OK);
  fetch_tensor(x, output, Y, sizeof output);
  for (int i = 0; i < N; i++) CHECK(output[i] == fmaf(2, input[i], 1));
  CHECK(cawb_device_time(x->d, x->m, steps, 2, &timing, &x->err) == CAWB_OK);
  CHECK(timing.count == 1 && sample == x->report.seconds);
}

/* Modelled times must rank what is known to be faster. */
static void test_ranking(sim_fixture *x) {
  enum { BIG = 1 << 21 };
  cawb_addr X = tensor(x, "inputs[1]", NULL, BIG * 4), Y = tensor(x, "outputs[1]", NULL, BIG * 4);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, BIG / 4);
  CHECK(launch(x, "gelu4", BIG / 1024, 1, 256, 1, 0) == CAWB_OK);
  double wide = x->report.seconds, floor = 2.0 * BIG * 4 / 3.35e12;
  CHECK(wide > floor && wide < 3 * floor);
  ARG(x, cawb_addr, Y); ARG(x, cawb_addr, X); ARG(x, int, BIG / 4);
  CHECK(launch(x, "gelu4", 8, 1, 256, 1, 0) == CAWB_OK);
  CHECK(x->report.seconds > 4 * wide);         /* 8 blocks leave most SMs idle */
  cawb_addr A = tensor(x, "a", NULL, 512 * 512 * 4), C = tensor(x, "c", NULL, 512 * 512 * 4);
  ARG(x, cawb_addr, C); ARG(x, cawb_addr, A); ARG(x, cawb_addr, A); ARG(x, int, 512); ARG(x, int, 512); ARG(x, int, 512);
  CHECK(launch(x, "matmul_tiled", 8, 8, 256, 1, 0) == CAWB_OK);
  double tiled = x->report.seconds;
  ARG(x, cawb_addr, C); ARG(x, cawb_addr, A); ARG(x, cawb_addr, A); ARG(x, int, 512); ARG(x, int, 512); ARG(x, int, 512);
  CHECK(launch(x, "matmul_naive", 16, 64, 32, 8, 0) == CAWB_OK);
  CHECK(x->report.seconds > tiled);
}

int main(void) {
  sim_fixture x;
  fixture_open(&x, "basic.ptx");
  fill_input();
  test_saxpy(&x);
  test_gelu(&x);
  test_softmax(&x);
  test_layernorm(&x);
  test_rowsum(&x);
  test_matmul(&x);
  test_plan(&x);
  test_ranking(&x);
  fixture_close(&x);
  return check_report();
}

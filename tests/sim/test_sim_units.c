/*
** test_sim_units.c - matrices, bulk copies, barrier objects and clusters of the simulated
** device, on every executor that this machine can run, against plain C.
*/
#include <math.h>

#include "check.h"
#include "sim/isa/isas.h"
#include "sim/memory/device.h"
#include "sim_fixture.h"

static const sim_isa *isas[3];
static int nisas;

static void find_isas(void) {
  const sim_isa *best = sim_isa_best();
  isas[nisas++] = &sim_isa_base;
  if (best == &sim_isa_avx512) isas[nisas++] = &sim_isa_avx2;
  if (best != &sim_isa_base) isas[nisas++] = best;
}

static void open_with(sim_fixture *x, const sim_isa *isa) {
  fixture_open(x, "units.ptx");
  cawb_device_unload(x->d, x->m);
  ((sim_device *)x->d)->isa = isa;
  fixture_load(x, "units.ptx");
}

/* A half that is a multiple of 1/8 in [-4, 4): sixteen bits that are easily made. */
static uint16_t half_of(int eighths) {
  int sign = eighths < 0 ? 0x8000 : 0, v = abs(eighths), e = 0;
  if (v == 0) return 0;
  while (v >> (e + 1) != 0) e++;
  return (uint16_t)(sign | (e - 3 + 15) << 10 | (v << (10 - e) & 1023));
}

static int ok(sim_fixture *x, cawb_status status) {
  if (status != CAWB_OK) fprintf(stderr, "%s\n", x->err.msg);
  return status == CAWB_OK && x->report.races == 0;
}

/* Sums of 16 products of eighths: exact in any order. */
static void test_product(sim_fixture *x) {
  uint16_t a[16 * 16], b[8 * 16];
  float c[16 * 8], d[16 * 8];
  for (int i = 0; i < 256; i++) a[i] = half_of(i * 37 % 64 - 32);
  for (int i = 0; i < 128; i++) b[i] = half_of(i * 29 % 61 - 30), c[i] = (float)(i % 17) - 8.5f;
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), C = tensor(x, "c", c, sizeof c);
  cawb_addr D = tensor(x, "d", NULL, sizeof d);
  ARG(x, cawb_addr, D); ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, C);
  CHECK(ok(x, launch(x, "product", 1, 1, 32, 1, 0)));
  fetch_tensor(x, d, D, sizeof d);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 8; j++) {
      int sum = 0;
      for (int k = 0; k < 16; k++) sum += ((i * 16 + k) * 37 % 64 - 32) * ((j * 16 + k) * 29 % 61 - 30);
      CHECK(d[i * 8 + j] == (float)sum / 64 + c[i * 8 + j]);
    }
}

static void test_bytes(sim_fixture *x) {
  signed char a[16 * 32], b[8 * 32];
  int d[16 * 8];
  for (int i = 0; i < 512; i++) a[i] = (signed char)(i * 73 + 5);
  for (int i = 0; i < 256; i++) b[i] = (signed char)(i * 91 - 7);
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), D = tensor(x, "d", NULL, sizeof d);
  ARG(x, cawb_addr, D); ARG(x, cawb_addr, A); ARG(x, cawb_addr, B);
  CHECK(ok(x, launch(x, "product_bytes", 1, 1, 32, 1, 0)));
  fetch_tensor(x, d, D, sizeof d);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 8; j++) {
      int sum = 0;
      for (int k = 0; k < 32; k++) sum += a[i * 32 + k] * b[j * 32 + k];
      CHECK(d[i * 8 + j] == sum);
    }
}

static void test_fragments(sim_fixture *x) {
  uint16_t a[256], b[256];
  float c[256], d[256];
  for (int i = 0; i < 256; i++) {
    a[i] = half_of(i * 37 % 64 - 32);
    b[i] = half_of(i * 29 % 61 - 30);
    c[i] = (float)(i % 31) / 4;
  }
  cawb_addr A = tensor(x, "a", a, sizeof a), B = tensor(x, "b", b, sizeof b), C = tensor(x, "c", c, sizeof c);
  cawb_addr D = tensor(x, "d", NULL, sizeof d);
  ARG(x, cawb_addr, D); ARG(x, cawb_addr, A); ARG(x, cawb_addr, B); ARG(x, cawb_addr, C);
  CHECK(ok(x, launch(x, "fragments", 1, 1, 32, 1, 0)));
  fetch_tensor(x, d, D, sizeof d);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      int sum = 0;
      for (int k = 0; k < 16; k++) sum += ((k * 16 + i) * 37 % 64 - 32) * ((k * 16 + j) * 29 % 61 - 30);
      CHECK(d[i * 16 + j] == 2 * ((float)sum / 64 + c[i * 16 + j]));
    }
}

static void test_turned(sim_fixture *x) {
  uint16_t in[256], out[256];
  for (int i = 0; i < 256; i++) in[i] = (uint16_t)(i * 257);
  cawb_addr I = tensor(x, "in", in, sizeof in), O = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, O); ARG(x, cawb_addr, I);
  CHECK(ok(x, launch(x, "turned", 1, 1, 32, 1, 0)));
  fetch_tensor(x, out, O, sizeof out);
  for (int m = 0; m < 4; m++)
    for (int r = 0; r < 8; r++)
      for (int c = 0; c < 8; c++) CHECK(out[64 * m + 8 * r + c] == in[64 * m + 8 * c + r]);
}

static void test_ring(sim_fixture *x) {
  int in[64 * 9], out[64], sum = 0;
  for (int i = 0; i < 64 * 9; i++) in[i] = i * i;
  cawb_addr I = tensor(x, "in", in, sizeof in), O = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, O); ARG(x, cawb_addr, I); ARG(x, int, 9);
  CHECK(ok(x, launch(x, "ring", 1, 1, 64, 1, 0)));
  fetch_tensor(x, out, O, sizeof out);
  for (int i = 0; i < 9; i++) sum += in[64 * i + 5];
  CHECK(out[5] == sum);
  ARG(x, cawb_addr, O); ARG(x, cawb_addr, I); ARG(x, int, 10);     /* the last copy is beyond the tensor */
  CHECK(launch(x, "ring", 1, 1, 64, 1, 0) == CAWB_ERR_CANDIDATE && strstr(x->err.msg, "read of 256 bytes, 0 bytes past the end of in") != NULL);
}

static void test_clusters(sim_fixture *x) {
  int out[8 * 32];
  cawb_addr O = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, O);
  CHECK(ok(x, launch(x, "neighbour", 8, 1, 32, 1, 0)));
  fetch_tensor(x, out, O, sizeof out);
  for (int i = 0; i < 8 * 32; i++) CHECK(out[i] == (i / 128 * 4 + (i / 32 + 1) % 4) * 100 + i % 32);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "neighbour", 6, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && strstr(x->err.msg, "is not divided by a cluster of (4,1,1)") != NULL);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "stored_nowhere", 4, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && strstr(x->err.msg, "write of 4 bytes") != NULL);
  ARG(x, cawb_addr, O);
  CHECK(launch(x, "left_early", 4, 1, 32, 1, 0) == CAWB_ERR_CANDIDATE && strstr(x->err.msg, "a block of the cluster that has ended") != NULL);
}

int main(void) {
  find_isas();
  for (int i = 0; i < nisas; i++) {
    sim_fixture x;
    open_with(&x, isas[i]);
    test_product(&x);
    test_bytes(&x);
    test_fragments(&x);
    test_turned(&x);
    test_ring(&x);
    test_clusters(&x);
    fixture_close(&x);
  }
  return check_report();
}

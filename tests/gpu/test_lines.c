/* test_lines.c - samples by line and reason. */
#include "gpu/device/lines.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing_malloc.h"

static const char *const reasons[] = { "waiting", "working" };

static void test_sums(void) {
  cawb_lines l = { 0 };
  CHECK(cawb_lines_begin(&l, reasons, 2, NULL) == CAWB_OK && l.nreasons == 2);
  CHECK(cawb_lines_add(&l, "k", "kernel.cu", 3, 0, 5, NULL) == CAWB_OK);
  CHECK(cawb_lines_add(&l, "k", "kernel.cu", 4, 1, 7, NULL) == CAWB_OK);
  CHECK(cawb_lines_add(&l, "k", "kernel.cu", 3, 0, 1, NULL) == CAWB_OK);
  CHECK(cawb_lines_add(&l, "k", "other.h", 3, 0, 2, NULL) == CAWB_OK);
  CHECK(cawb_lines_add(&l, "m", "kernel.cu", 3, 0, 9, NULL) == CAWB_OK);
  CHECK(l.count == 4 && l.list[0].samples[0] == 6 && l.list[0].samples[1] == 0);
  CHECK(l.list[1].number == 4 && l.list[1].samples[1] == 7);
  CHECK(strcmp(l.list[2].file, "other.h") == 0 && strcmp(l.list[3].kernel, "m") == 0);
  CHECK(strcmp(l.reasons[1], "working") == 0);
  cawb_lines_free(&l);
  CHECK(l.count == 0 && l.nreasons == 0 && l.list == NULL);
  cawb_lines_free(&l);
}

static void test_unknown_reason(void) {
  cawb_lines l = { 0 };
  cawb_err err;
  CHECK(cawb_lines_begin(&l, reasons, 2, NULL) == CAWB_OK);
  CHECK(cawb_lines_add(&l, "k", "", 0, 2, 1, &err) == CAWB_ERR_INVALID && l.count == 0);
  cawb_lines_free(&l);
}

static void test_many(void) {
  cawb_lines l = { 0 };
  CHECK(cawb_lines_begin(&l, reasons, 2, NULL) == CAWB_OK);
  for (unsigned i = 0; i < 1000; i++)
    CHECK(cawb_lines_add(&l, "k", "kernel.cu", i % 300, i % 2, 1, NULL) == CAWB_OK);
  CHECK(l.count == 300 && l.list[299].number == 299);
  cawb_lines_free(&l);
}

/* Each allocation of ours fails once: an answer, and nothing is lost. */
static void test_memory(void) {
  long live = failing_live;
  for (long n = 0; n < 50; n++) {
    cawb_lines l = { 0 };
    failing_start(n);
    cawb_status rc = cawb_lines_begin(&l, reasons, 2, NULL);
    for (unsigned i = 0; i < 5 && rc == CAWB_OK; i++)
      rc = cawb_lines_add(&l, "k", "kernel.cu", i, 0, 1, NULL);
    failing_stop();
    CHECK(rc == (failing_done ? CAWB_ERR_MEMORY : CAWB_OK));
    cawb_lines_free(&l);
    CHECK(failing_live == live);
    if (!failing_done) return;
  }
  CHECK(!"so few lines take fewer allocations");
}

int main(void) {
  test_memory();
  test_sums();
  test_unknown_reason();
  test_many();
  return check_report();
}

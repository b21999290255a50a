/* test_tensor.c - what the spec of a tensor may say. */
#include "base/tensor.h"

#include <string.h>

#include "check.h"

static cawb_err err;
static cawb_tensor t;

static cawb_status read_spec(const char *json) {
  cJSON *spec = cJSON_Parse(json);
  cawb_status rc = cawb_tensor_read(&t, spec, "inputs[1]", &err);
  cJSON_Delete(spec);
  return rc;
}

#define SPEC(shape, strides, bytes) \
  "{\"shape\":[" shape "],\"strides\":[" strides "],\"dtype\":\"float32\",\"offset\":0,\"bytes\":" bytes "}"

static int refused(const char *json, const char *with) {
  return read_spec(json) == CAWB_ERR_INVALID && strstr(err.msg, with) != NULL;
}

static void test_specs(void) {
  CHECK(read_spec(SPEC("4,8", "8,1", "128")) == CAWB_OK && t.numel == 32 && t.bytes == 128);
  CHECK(read_spec(SPEC("4,8", "0,1", "32")) == CAWB_OK && t.numel == 32);    /* expanded */
  CHECK(read_spec(SPEC("", "", "4")) == CAWB_OK && t.rank == 0 && t.numel == 1);
  CHECK(read_spec(SPEC("0,8", "8,1", "0")) == CAWB_OK && t.numel == 0);
  CHECK(refused(SPEC("4,8", "8,1", "127"), "127 bytes do not hold its shape"));
  CHECK(refused(SPEC("4,8", "9,1", "128"), "do not hold"));
  CHECK(refused(SPEC("4,8", "8", "128"), "1 strides for 2 dimensions"));
  CHECK(refused(SPEC("-1", "1", "4"), "dimension 1 is no size"));
  CHECK(refused(SPEC("1.5", "1", "8"), "dimension 1 is no size"));
  CHECK(refused(SPEC("1e300", "1", "4"), "dimension 1 is no size"));
  CHECK(refused(SPEC("4", "-1", "16"), "no size"));
  CHECK(refused(SPEC("4e9,4e9", "1,1", "16"), "overflows"));
  CHECK(refused(SPEC("4e9", "4e15", "16"), "do not hold"));
  CHECK(refused(SPEC("4", "1", "-16"), "no 'bytes'"));
  CHECK(refused(SPEC("4", "1", "1e999"), "no 'bytes'"));
  CHECK(refused(SPEC("4", "1", "16,\"offset\":5"), "") || t.bytes == 16);
  CHECK(refused("{\"shape\":[1],\"strides\":[1],\"dtype\":\"float32\",\"bytes\":4}", "no 'offset'"));
  CHECK(refused(SPEC("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1", "4"), "more than 16"));
  CHECK(refused("{\"dtype\":\"float32\"}", "no list of sizes"));
  CHECK(read_spec("{\"dtype\":\"complex64\"}") == CAWB_ERR_UNSUPPORTED);
  CHECK(read_spec("7") == CAWB_ERR_UNSUPPORTED);
}

static void test_a_label_is_cut_between_letters(void) {
  char label[200];
  cJSON *spec = cJSON_Parse(SPEC("1", "1", "4"));
  memset(label, 'x', sizeof label);
  label[94] = '\xc3';
  label[95] = '\xa9';
  label[sizeof label - 1] = '\0';
  CHECK(cawb_tensor_read(&t, spec, label, &err) == CAWB_OK);
  CHECK(strlen(t.label) == 95 && t.label[94] == '?');
  cJSON_Delete(spec);
}

static void test_contiguous(void) {
  cawb_tensor c = { .label = "scratch[1]", .dtype = "float32", .rank = 3, .shape = { 2, 3, 4 } };
  CHECK(cawb_tensor_contiguous(&c, &err) == CAWB_OK && c.bytes == 96 && c.numel == 24);
  CHECK(c.strides[0] == 12 && c.strides[1] == 4 && c.strides[2] == 1);
  cawb_tensor wide = { .dtype = "float64", .rank = 3, .shape = { 0, 1ll << 40, 1ll << 40 } };
  CHECK(cawb_tensor_contiguous(&wide, &err) == CAWB_ERR_INVALID);
  cawb_tensor heavy = { .dtype = "float64", .rank = 1, .shape = { 1ll << 61 } };
  CHECK(cawb_tensor_contiguous(&heavy, &err) == CAWB_ERR_INVALID);
}

int main(void) {
  test_specs();
  test_a_label_is_cut_between_letters();
  test_contiguous();
  return check_report();
}

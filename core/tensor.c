/* tensor.c - see tensor.h. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

size_t cawb_tensor_dtype_size(const char *dtype) {
  static const struct { const char *name; size_t size; } sizes[] = {
    { "float32", 4 }, { "float64", 8 }, { "float16", 2 }, { "bfloat16", 2 },
    { "int64", 8 }, { "int32", 4 }, { "int16", 2 }, { "int8", 1 }, { "uint8", 1 },
    { "bool", 1 }
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strcmp(sizes[i].name, dtype) == 0) return sizes[i].size;
  return 0;
}

static cawb_status read_dims(int64_t *out, int *rank, const cJSON *list,
                             const char *label, cawb_err *err) {
  const cJSON *item;
  int n = 0;
  if (!cJSON_IsArray(list))
    return cawb_fail(err, CAWB_ERR_INVALID, "%s: its spec has no list of sizes", label);
  cJSON_ArrayForEach(item, list) {
    if (n == CAWB_TENSOR_RANK)
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: more than %d dimensions", label,
                       CAWB_TENSOR_RANK);
    if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > 1e15)
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: dimension %d is no size", label, n + 1);
    out[n++] = (int64_t)item->valuedouble;
  }
  *rank = n;
  return CAWB_OK;
}

static double number(const cJSON *spec, const char *key) {
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(spec, key);
  return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static cawb_status count(cawb_tensor *t, cawb_err *err) {
  t->numel = 1;
  for (int i = 0; i < t->rank; i++)
    if (__builtin_mul_overflow(t->numel, t->shape[i], &t->numel))
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: its shape overflows", t->label);
  return CAWB_OK;
}

cawb_status cawb_tensor_contiguous(cawb_tensor *t, cawb_err *err) {
  cawb_status rc = count(t, err);
  int64_t step = 1, bytes = 0;
  if (rc != CAWB_OK) return rc;      /* what follows would overflow too */
  for (int i = t->rank - 1; i >= 0; i--) {
    t->strides[i] = step;
    step *= t->shape[i] > 0 ? t->shape[i] : 1;
  }
  int64_t size = (int64_t)cawb_tensor_dtype_size(t->dtype);
  if (__builtin_mul_overflow(t->numel, size, &bytes))
    return cawb_fail(err, CAWB_ERR_INVALID, "%s: its size overflows", t->label);
  t->bytes = (size_t)bytes;
  return CAWB_OK;
}

cawb_status cawb_tensor_read(cawb_tensor *out, const cJSON *spec, const char *label,
                             cawb_err *err) {
  int strides = 0;
  memset(out, 0, sizeof *out);
  snprintf(out->label, sizeof out->label, "%s", label);
  const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(spec, "dtype");
  if (!cJSON_IsString(dtype) || cawb_tensor_dtype_size(dtype->valuestring) == 0)
    return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s: tensors of type %s are not supported",
                     label, cJSON_IsString(dtype) ? dtype->valuestring : "(none)");
  snprintf(out->dtype, sizeof out->dtype, "%s", dtype->valuestring);
  cawb_status rc = read_dims(out->shape, &out->rank,
                             cJSON_GetObjectItemCaseSensitive(spec, "shape"), label, err);
  if (rc == CAWB_OK)
    rc = read_dims(out->strides, &strides,
                   cJSON_GetObjectItemCaseSensitive(spec, "strides"), label, err);
  if (rc == CAWB_OK && strides != out->rank)
    rc = cawb_fail(err, CAWB_ERR_INVALID, "%s: %d strides for %d dimensions", label,
                   strides, out->rank);
  if (rc == CAWB_OK) rc = count(out, err);
  out->bytes = (size_t)number(spec, "bytes");
  out->offset = (size_t)number(spec, "offset");
  return rc;
}

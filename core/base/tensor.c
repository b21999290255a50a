/* tensor.c - see tensor.h. */
#include "base/tensor.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

size_t cawb_tensor_dtype_size(const char *dtype) {
  static const struct { const char *name; size_t size; } sizes[] = {
    { "float32", 4 }, { "float64", 8 }, { "float16", 2 }, { "bfloat16", 2 },
    { "int64", 8 }, { "int32", 4 }, { "int16", 2 }, { "int8", 1 }, { "uint8", 1 },
    { "bool", 1 }, { "float8_e4m3fn", 1 }, { "float8_e5m2", 1 }
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strcmp(sizes[i].name, dtype) == 0) return sizes[i].size;
  return 0;
}

/* A whole number that nothing was lost of on its way through a double. */
static int is_count(const cJSON *v) {
  return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= 0x1p53 &&
         v->valuedouble == (double)(int64_t)v->valuedouble;
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
    if (!is_count(item))
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: dimension %d is no size", label, n + 1);
    out[n++] = (int64_t)item->valuedouble;
  }
  *rank = n;
  return CAWB_OK;
}

static cawb_status read_place(size_t *out, const cJSON *spec, const char *key,
                              const char *label, cawb_err *err) {
  const cJSON *v = cJSON_GetObjectItemCaseSensitive(spec, key);
  if (!is_count(v))
    return cawb_fail(err, CAWB_ERR_INVALID, "%s: its spec has no '%s' in bytes", label, key);
  *out = (size_t)v->valuedouble;
  return CAWB_OK;
}

static cawb_status count(cawb_tensor *t, cawb_err *err) {
  t->numel = 1;
  for (int i = 0; i < t->rank; i++)
    if (__builtin_mul_overflow(t->numel, t->shape[i], &t->numel))
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: its shape overflows", t->label);
  return CAWB_OK;
}

/* `bytes` must reach the last element, which lies (size-1)*stride behind the first
** in each dimension. */
static cawb_status check_bytes(const cawb_tensor *t, cawb_err *err) {
  int64_t last = 0, step, need;
  int bad = 0;
  for (int i = 0; i < t->rank && t->numel > 0; i++)
    bad |= __builtin_mul_overflow(t->shape[i] - 1, t->strides[i], &step) ||
           __builtin_add_overflow(last, step, &last);
  int64_t count = t->numel > 0 ? 1 : 0;
  bad = bad || __builtin_add_overflow(last, count, &count) ||
        __builtin_mul_overflow(count, (int64_t)cawb_tensor_dtype_size(t->dtype), &need);
  if (!bad && (size_t)need <= t->bytes) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID, "%s: its %zu bytes do not hold its shape", t->label,
                   t->bytes);
}

cawb_status cawb_tensor_contiguous(cawb_tensor *t, cawb_err *err) {
  cawb_status rc = count(t, err);
  int64_t step = 1, bytes = 0;
  if (rc != CAWB_OK) return rc;
  for (int i = t->rank - 1; i >= 0; i--) {
    t->strides[i] = step;
    if (__builtin_mul_overflow(step, t->shape[i] > 0 ? t->shape[i] : 1, &step))
      return cawb_fail(err, CAWB_ERR_INVALID, "%s: its shape overflows", t->label);
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
  cawb_utf8_clean(out->label);       /* a long name may have been cut within a letter */
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
  if (rc == CAWB_OK) rc = read_place(&out->bytes, spec, "bytes", label, err);
  if (rc == CAWB_OK) rc = read_place(&out->offset, spec, "offset", label, err);
  return rc == CAWB_OK ? check_bytes(out, err) : rc;
}

/* figures.c - see figures.h. */
#include "gpu/device/figures.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct field {
  const char *name;
  size_t at;
  double least, most;
} field;

static const field fields[] = {
#define F(name, least, most) { #name, offsetof(cawb_figures, name), least, most }
  F(sms, 1, 4096), F(memory, 1 << 20, 1e15), F(l1, 1024, 1e9), F(l2, 1024, 1e12),
  F(shared_block, 0, 1e9), F(shared_sm, 0, 1e9), F(threads_block, 32, 1024),
  F(threads_sm, 32, 65536), F(blocks_sm, 1, 1024), F(registers_sm, 1024, 1e9),
  F(clock, 1e6, 1e11), F(dram, 1e6, 1e16), F(l2_rate, 1e6, 1e17), F(l2_sm, 1, 1e6),
  F(fp32, 1e6, 1e18), F(tf32, 1e6, 1e18), F(bf16, 1e6, 1e18), F(fp16, 1e6, 1e18),
  F(link, 1e6, 1e15), F(launch, 0, 1), F(launch_next, 0, 1), F(launch_dependent, 0, 1), F(latency_dram, 0, 1), F(latency_l2, 0, 1),
  F(latency_l1, 0, 1e6), F(latency_shared, 0, 1e6), F(latency_alu, 0, 1e6), F(latency_product, 0, 1e6),
  F(latency_predicate, 0, 1e6), F(latency_special, 0, 1e6), F(latency_fp64, 0, 1e6), F(latency_shuffle, 0, 1e6),
  F(latency_tensor, 0, 1e6), F(latency_atomic, 0, 1e6), F(latency_barrier, 0, 1e6), F(latency_cluster, 0, 1e6),
  F(latency_fence, 0, 1e6), F(latency_branch, 0, 1e6), F(latency_half, 0, 1e6), F(barrier_warp, 0, 1e6),
  F(fence_system, 0, 1e6), F(heap_call, 0, 1), F(heap_lane, 0, 1), F(heap_next, 0, 1), F(print_call, 0, 1),
  F(atomic_integer, 0, 1e6), F(gap, 0.1, 1e6),
  F(issue, 0.01, 1024), F(shared_wave, 0.01, 1024), F(l1_wave, 0.01, 1024),
  F(atomic_same, 0, 1e6), F(block_start, 0, 1e6), F(l2_share, 0.01, 1),
  F(dirty, 0, 1), F(merge, 0, 100), F(partial, 1, 100), F(latency_line, 0, 1e6),
  F(ramp, 0, 1), F(sharpness, 1, 100),
  F(pipe_fp32, 1e-3, 1024), F(pipe_int, 1e-3, 1024), F(pipe_fp64, 1e-3, 1024),
  F(pipe_special, 1e-3, 1024), F(pipe_memory, 1e-3, 1024), F(pipe_control, 1e-3, 1024),
  F(pipe_tensor, 1e-3, 1024), F(mma_share, 0.01, 1), F(library_gemm, 0.01, 1), F(library_conv, 0.01, 1),
  F(library_conv_tensor, 0.01, 1), F(library_conv_back, 0.01, 1)
#undef F
};
enum { FIELDS = sizeof fields / sizeof *fields };

static cawb_status read_text(char *out, size_t room, const cJSON *json, const char *key, cawb_err *err) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
  if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || strlen(item->valuestring) >= room)
    return cawb_fail(err, CAWB_ERR_INVALID, "figures: '%s' is a text of 1 to %zu bytes", key, room - 1);
  snprintf(out, room, "%s", item->valuestring);
  return CAWB_OK;
}

static cawb_status read_number(cawb_figures *out, const cJSON *json, const field *f, cawb_err *err) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, f->name);
  if (item == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "figures: '%s' is missing", f->name);
  if (!cJSON_IsNumber(item) || !(item->valuedouble >= f->least && item->valuedouble <= f->most))
    return cawb_fail(err, CAWB_ERR_INVALID, "figures: '%s' is a number from %g to %g", f->name, f->least,
                     f->most);
  memcpy((char *)out + f->at, &item->valuedouble, sizeof item->valuedouble);
  return CAWB_OK;
}

static int is_known(const char *key) {
  for (int i = 0; i < FIELDS; i++)
    if (strcmp(fields[i].name, key) == 0) return 1;
  return strcmp(key, "model") == 0 || strcmp(key, "arch") == 0;
}

cawb_status cawb_figures_read(cawb_figures *out, const cJSON *json, cawb_err *err) {
  const cJSON *item;
  memset(out, 0, sizeof *out);
  cawb_status rc = read_text(out->model, sizeof out->model, json, "model", err);
  if (rc == CAWB_OK) rc = read_text(out->arch, sizeof out->arch, json, "arch", err);
  for (int i = 0; i < FIELDS && rc == CAWB_OK; i++) rc = read_number(out, json, &fields[i], err);
  cJSON_ArrayForEach(item, json)
    if (rc == CAWB_OK && !is_known(item->string))
      rc = cawb_fail(err, CAWB_ERR_INVALID, "figures: '%s' is not known", item->string);
  return rc;
}

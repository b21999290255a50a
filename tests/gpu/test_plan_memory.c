/*
** test_plan_memory.c - each allocation of a sandbox and of a plan fails once, those
** of cJSON included: the answer is CAWB_ERR_MEMORY or right, nothing crashes, nothing
** leaks, and the candidate is never blamed for a machine that ran out of memory.
*/
#include "check.h"
#include "failing_malloc.h"

#include "gpu/plan/plan.h"
#include "base/tensor.h"

static const char ptx[] = ".entry rows(.param .u64 a, .param .u64 .ptr .global b, .param .u32 c) { ret; }";
static const char plan[] =
  "local t = tunables{ vec = {1, 4}, block = {256, 'big'} }\n"
  "local s = scratch{ shape = {4, 4} }\n"
  "prepare(function(p) launch('rows', { grid = 1, block = 32 }, s, p.w, 1) end)\n"
  "memset(s, 7)\n"
  "for i = 1, 3 do launch('rows', { grid = {64, 2}, block = t.block }, outputs[1], inputs[1], i) end\n";

static cawb_kernels kernels;
static cJSON *tensors, *params;

/* cJSON is a library of its own, whose calls do not count: these do. */
static void *(*volatile allocate)(size_t) = malloc;     /* not to be inlined */

static void *json_malloc(size_t n) {
  void *volatile p = allocate(n);
  return p;
}

static cawb_plan_setting setting(void) {
  return (cawb_plan_setting){ .inputs = tensors, .outputs = tensors, .params = params, .kernels = &kernels,
    .threads_block = 1024, .shared_block = 49152, .limits = { 8 << 20, 1000000 } };
}

static cawb_status sandbox(void) {
  const cawb_sandbox_limits limits = { 8 << 20, 1000000, 0 };
  cawb_sandbox *s;
  cawb_status rc = cawb_sandbox_new(&s, &limits, NULL);
  if (rc != CAWB_OK) return s == NULL ? rc : CAWB_ERR_INVALID;
  rc = cawb_sandbox_run(s, "local t = {} for i = 1, 9 do t[i] = ('x'):rep(i) end x = table.concat(t, ',')",
                        "plan.lua", NULL);
  cawb_sandbox_free(s);
  return rc;
}

static cawb_status recording(void) {
  cawb_plan_setting s = setting();
  cawb_plan *p;
  size_t n;
  cawb_status rc = cawb_plan_new(&p, plan, &s, NULL);
  if (rc != CAWB_OK) return p == NULL ? rc : CAWB_ERR_INVALID;
  cawb_plan_bind(p);
  cawb_plan_steps(p, CAWB_PLAN_CALL, &n);
  if (n != 4) rc = CAWB_ERR_INVALID;
  cJSON *words = cawb_plan_describe(p, CAWB_PLAN_CALL);
  if (words == NULL) rc = CAWB_ERR_MEMORY;
  else if (cJSON_GetArraySize(words) != 4) rc = CAWB_ERR_INVALID;
  cJSON_Delete(words);
  cawb_plan_free(p);
  return rc;
}

static cawb_status exporting(void) {
  cawb_plan_setting s = setting();
  cawb_plan *p;
  cawb_status rc = cawb_plan_new(&p, plan, &s, NULL);
  cJSON *whole = rc == CAWB_OK ? cawb_plan_export(p) : NULL;
  if (rc == CAWB_OK && whole == NULL) rc = CAWB_ERR_MEMORY;
  cJSON_Delete(whole);
  cawb_plan_free(p);
  return rc;
}

static cawb_status probing(void) {
  cawb_plan_setting s = setting();
  cJSON *list;
  cawb_status rc = cawb_plan_tunables(&list, plan, &s, NULL);
  if ((rc == CAWB_OK) != (list != NULL)) rc = CAWB_ERR_INVALID;
  if (rc == CAWB_OK && cJSON_GetArraySize(list) != 2) rc = CAWB_ERR_INVALID;
  cJSON_Delete(list);
  return rc;
}

static cawb_status probing_in_vain(void) {
  cawb_plan_setting s = setting();
  cJSON *list;
  cawb_status rc = cawb_plan_tunables(&list, "memset(outputs[1])", &s, NULL);
  cJSON_Delete(list);
  return rc;
}

static void sweep(const char *name, cawb_status (*run)(void)) {
  long n = 0;
  for (failing_done = 1; failing_done && n < 5000; n++) {
    long before = failing_live;
    failing_start(n);
    cawb_status code = run();
    failing_stop();
    long leaked = failing_live - before;
    int fine = code == CAWB_OK || (failing_done && code == CAWB_ERR_MEMORY);
    CHECK(fine);
    CHECK(leaked == 0);
    if (!fine || leaked != 0)
      fprintf(stderr, "  %s, allocation %ld: %s, %ld leaked\n", name, n, cawb_status_name(code), leaked);
  }
  CHECK(n > 1 && n < 5000);                          /* something failed, and at last nothing */
}

int main(void) {
  if (!FAILING_MALLOC) return printf("skipped: a sanitizer has its own malloc\n"), 0;
  cJSON_InitHooks(&(cJSON_Hooks){ json_malloc, free });
  CHECK(cawb_ptx_kernels(&kernels, ptx, NULL, NULL) == CAWB_OK);
  tensors = cJSON_Parse("[{\"shape\":[8,8],\"strides\":[8,1],\"dtype\":\"float32\",\"offset\":0,\"bytes\":256}]");
  params = cJSON_Parse("[{\"name\":\"w\",\"shape\":[8],\"strides\":[1],\"dtype\":\"float32\",\"offset\":0,\"bytes\":32}]");
  sweep("sandbox", sandbox);
  sweep("recording", recording);
  sweep("exporting", exporting);
  sweep("probing", probing);
  sweep("probing in vain", probing_in_vain);
  cawb_ptx_free(&kernels);
  cJSON_Delete(tensors);
  cJSON_Delete(params);
  return check_report();
}

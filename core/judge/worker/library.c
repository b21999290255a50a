/* library.c - see library.h. */
#include "judge/worker/library.h"

#include <stdlib.h>

#include "base/process/serve.h"

static int calls_library(const cawb_step *steps, size_t n) {
  int any = 0;
  for (size_t i = 0; i < n; i++)
    any |= steps[i].kind == CAWB_STEP_GEMM || steps[i].kind == CAWB_STEP_CONV;
  return any;
}

static cawb_status choose(cawb_device *d, cawb_plan *p, cawb_plan_phase phase,
                          const char *site_packages, cawb_err *err) {
  size_t n;
  const cawb_step *steps = cawb_plan_steps(p, phase, &n);
  if (!calls_library(steps, n)) return CAWB_OK;
  cawb_choice *choices = calloc(n, sizeof *choices);
  if (choices == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  cawb_status rc = cawb_device_choose(d, steps, n, site_packages, choices, err);
  if (rc == CAWB_OK) rc = cawb_plan_chose(p, phase, choices, err);
  free(choices);
  return rc;
}

cawb_status cawb_worker_choose(cawb_device *d, cawb_plan *p, const cJSON *request, cawb_err *err) {
  const char *site_packages = cawb_request_text(request, "packages");
  cawb_status rc = choose(d, p, CAWB_PLAN_PREPARE, site_packages, err);
  return rc == CAWB_OK ? choose(d, p, CAWB_PLAN_CALL, site_packages, err) : rc;
}

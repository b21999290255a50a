/* open.c - see open.h. */
#include "judge/worker/open.h"

#include <string.h>

#include "cuda/open.h"
#include "sim/open.h"

static cawb_status open_auto(cawb_device **out, const cawb_figures *figures, cawb_err *err) {
  cawb_err ignored;  /* no GPU is an ordinary outcome here */
  if (cawb_device_open_cuda(out, "0", &ignored) == CAWB_OK) return CAWB_OK;
  return cawb_device_open_sim(out, "h100", figures, err);
}

cawb_status cawb_device_open(cawb_device **out, const char *name, const cawb_figures *figures,
                             cawb_err *err) {
  *out = NULL;
  if (strcmp(name, "auto") == 0) return open_auto(out, figures, err);
  if (strncmp(name, "cuda:", 5) == 0) return cawb_device_open_cuda(out, name + 5, err);
  if (strncmp(name, "sim:", 4) == 0) return cawb_device_open_sim(out, name + 4, figures, err);
  return cawb_fail(err, CAWB_ERR_INVALID,
                   "unknown device '%s' (use auto, cuda:N or sim:h100)", name);
}

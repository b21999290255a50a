/* kernel.c - see kernel.h. */
#include "sim/kernel.h"

#include "sim/parse/module.h"
#include "sim/time/time.h"

static unsigned most_threads(const sim_model *m, const sim_function *f) {
  unsigned most = (unsigned)m->threads_block;
  return f->max_threads != 0 && f->max_threads < most ? f->max_threads : most;
}

cawb_status sim_kernel_facts(cawb_device *d, const cawb_module *m, const char *name, unsigned threads, size_t shared,
                             cawb_kernel_facts *out, cawb_err *err) {
  const sim_model *model = ((sim_device *)d)->model;
  const sim_function *f = sim_module_find(m, name);
  if (f == NULL) return cawb_fail(err, CAWB_ERR_MISSING, "no kernel '%.200s' in the compiled code", name);
  sim_exec x = { .function = f, .nwarps = (threads + SIM_LANES - 1) / SIM_LANES,
                 .shared_size = f->shared_size + (uint32_t)shared };
  *out = (cawb_kernel_facts){ .shared = f->shared_size, .local = f->local_size, .registers = f->regs_used,
                              .threads = most_threads(model, f) };
  if (threads > 0 && threads <= out->threads && f->shared_size + shared <= (size_t)model->shared_block)
    out->resident = (unsigned)sim_resident(model, &x);
  return CAWB_OK;
}

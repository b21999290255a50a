/*
** profile.c - what was counted of each launch, value by value, and of each line of its
** source: the warp instructions that it issued, by the unit that executed them. The
** counts are exact for the PTX, seconds are modelled.
*/
#include "sim.h"

#include <string.h>

struct sim_watch {
  cawb_profile *p;
  unsigned launches;
};

static const char *const units[SIM_PIPES] = {
  [SIM_PIPE_NONE] = "none", [SIM_PIPE_FP32] = "fp32", [SIM_PIPE_INT] = "int",
  [SIM_PIPE_FP64] = "fp64", [SIM_PIPE_SPECIAL] = "special", [SIM_PIPE_MEMORY] = "memory",
  [SIM_PIPE_CONTROL] = "control", [SIM_PIPE_TENSOR] = "tensor"
};

static cawb_status add_lines(const sim_exec *x, cawb_lines *lines, cawb_err *err) {
  const sim_function *f = x->function;
  cawb_status rc = CAWB_OK;
  for (uint32_t i = 0; i < f->count && rc == CAWB_OK; i++)
    if (x->hits[i] > 0)
      rc = cawb_lines_add(lines, f->name, f->code[i].line != 0 ? "kernel.cu" : "",
                          f->code[i].line, f->code[i].pipe, x->hits[i], err);
  return rc;
}

typedef struct value { const char *name; double value; } value;

static cawb_status add_values(sim_watch *w, const char *kernel, const value *list, size_t n,
                              cawb_err *err) {
  cawb_status rc = CAWB_OK;
  for (size_t i = 0; i < n && rc == CAWB_OK; i++)
    rc = cawb_profile_add(w->p, (cawb_profile_value){
      w->launches, kernel, list[i].name, "simulator", list[i].value }, err);
  return rc;
}

/* What the step added to the report. */
static cawb_status add_counts(sim_watch *w, const char *kernel, const cawb_report *a,
                              const cawb_report *b, cawb_err *err) {
  const value values[] = {
#define COUNT(name) { #name, (double)(b->name - a->name) }
    COUNT(warp_instructions), COUNT(thread_instructions), COUNT(global_requests),
    COUNT(global_sectors), COUNT(shared_requests), COUNT(shared_wavefronts), COUNT(branches),
    COUNT(divergent_branches), COUNT(dram_bytes), COUNT(barriers), COUNT(races), COUNT(seconds),
#undef COUNT
    { "bound_memory", b->bound.memory - a->bound.memory }, { "bound_l2", b->bound.l2 - a->bound.l2 },
    { "bound_shared", b->bound.shared - a->bound.shared },
    { "bound_issue", b->bound.issue - a->bound.issue },
    { "bound_launch", b->bound.launch - a->bound.launch }
  };
  return add_values(w, kernel, values, sizeof values / sizeof *values, err);
}

cawb_status sim_watch_library(sim_device *d, const char *name, const cawb_report *a,
                              const cawb_report *b, cawb_err *err) {
  cawb_status rc = add_counts(d->watch, name, a, b, err);
  d->watch->launches++;
  return rc;
}

cawb_status sim_watch_launch(const sim_exec *x, const cawb_report *a, const cawb_report *b,
                             cawb_err *err) {
  sim_watch *w = x->device->watch;
  const unsigned *g = x->step->grid;
  const value values[] = {
    { "blocks", (double)g[0] * g[1] * g[2] }, { "threads_per_block", x->threads },
    { "shared_bytes", x->shared_size }, { "registers", x->function->regs_used }
  };
  size_t n = sizeof values / sizeof *values - (x->function->regs_used == 0);
  cawb_status rc = add_counts(w, x->step->kernel, a, b, err);
  if (rc == CAWB_OK) rc = add_values(w, x->step->kernel, values, n, err);
  if (rc == CAWB_OK && w->p->sampling.image != NULL)
    rc = add_lines(x, &w->p->sampling.seen.lines, err);
  w->launches++;
  return rc;
}

cawb_status sim_profile(cawb_device *dev, cawb_module *m, const cawb_step *steps, size_t n,
                        const char *const *metrics, size_t nmetrics, cawb_profile *p,
                        cawb_err *err) {
  sim_device *d = (sim_device *)dev;
  sim_watch w = { p, 0 };
  cawb_report report;
  (void)metrics; (void)nmetrics;
  memset(&report, 0, sizeof report);
  cawb_status rc = cawb_lines_begin(&p->sampling.seen.lines, units, SIM_PIPES, err);
  if (rc != CAWB_OK) return rc;
  d->watch = &w;
  rc = sim_run(dev, m, steps, n, &report, err);
  d->watch = NULL;
  p->passes = p->sampling.runs = 1;
  p->sampling.unit = "warp instructions";
  return rc;
}

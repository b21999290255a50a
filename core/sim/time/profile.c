/*
** profile.c - what was counted of each launch, value by value, and of each line of its
** source: the warp instructions that it issued, by the unit that executed them. The
** counts are exact for the PTX, those by NVIDIA's names are of the machine code where that is
** at hand; seconds are modelled.
*/
#include "sim/time/profile.h"

#include "sim/exec/traffic.h"
#include "sim/instructions/ops.h"
#include "sim/sass/sass.h"
#include "sim/time/time.h"

#include <math.h>
#include <string.h>

static const char *const units[SIM_PIPES] = {
  [SIM_PIPE_NONE] = "none", [SIM_PIPE_FP32] = "fp32", [SIM_PIPE_INT] = "int",
  [SIM_PIPE_FP64] = "fp64", [SIM_PIPE_SPECIAL] = "special", [SIM_PIPE_MEMORY] = "memory",
  [SIM_PIPE_CONTROL] = "control", [SIM_PIPE_TENSOR] = "tensor", [SIM_PIPE_PRODUCT] = "product"
};

static cawb_status add_lines(const sim_exec *x, cawb_lines *lines, cawb_err *err) {
  const sim_function *f = x->function;
  cawb_status rc = CAWB_OK;
  for (uint32_t i = 0; i < f->count && rc == CAWB_OK; i++)
    if (x->hits[i] > 0) {
      const char *file = f->code[i].line != 0 ? "kernel.cu" : "";
      rc = cawb_lines_add(lines, f->name, file, f->code[i].line, sim_ops[f->code[i].op].pipe, x->hits[i], err);
      if (rc == CAWB_OK && x->by_line) rc = cawb_lines_add_traffic(lines, f->name, file, f->code[i].line, sim_traffic_at(x, i), err);
    }
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
    { "bound_l1", b->bound.l1 - a->bound.l1 }, { "bound_shared", b->bound.shared - a->bound.shared },
    { "bound_issue", b->bound.issue - a->bound.issue },
    { "bound_latency", b->bound.latency - a->bound.latency },
    { "bound_blocks", b->bound.blocks - a->bound.blocks },
    { "bound_launch", b->bound.launch - a->bound.launch }
  };
  return add_values(w, kernel, values, sizeof values / sizeof *values, err);
}

cawb_status sim_profile_library(sim_device *d, const char *name, const cawb_report *a,
                              const cawb_report *b, cawb_err *err) {
  cawb_status rc = add_counts(d->watch, name, a, b, err);
  d->watch->launches++;
  return rc;
}

/* By NVIDIA's names, where the simulator knows what they count. */
static cawb_status add_counters(sim_watch *w, const sim_exec *x, const cawb_report *a,
                                const cawb_report *b, cawb_err *err) {
  const sim_launch_facts *f = &x->facts;
  const sim_model *m = x->device->model;
  const sim_counts *c = &x->counts;
  double k = f->executed > 0 ? f->blocks / f->executed : 1, seconds = b->seconds - a->seconds;
  double executed = (double)(b->warp_instructions - a->warp_instructions);
  double lanes = (double)(b->thread_instructions - a->thread_instructions) / executed;
  double machine = k * sim_sass_issued(x).issued, issued = machine > 0 ? machine : f->issued;
  double conflicts = (double)c->shared_wavefronts - (double)c->shared_least;
  double here = ceil(f->blocks / m->sms), room = m->l2 * m->dirty / 32;
  double warps = (here < f->resident ? f->blocks / m->sms : f->resident) * f->warps * SIM_LANES / m->threads_sm;
  double reads = f->fresh - f->written + f->evicted + f->merged;
  double writes = f->merged + (f->written > room ? f->written - room : 0);
  const value values[] = {
    { "gpu__time_duration.sum", seconds * 1e9 },
    { "sm__cycles_elapsed.max", seconds * m->clock },
    { "smsp__inst_executed.sum", issued },
    { "smsp__thread_inst_executed.sum", issued * lanes },
    { "smsp__average_thread_inst_executed_per_inst_executed.ratio", lanes },
    { "smsp__issue_active.avg.pct_of_peak_sustained_active",
      100 * issued / (m->issue * m->clock * seconds * m->sms) },
    { "sm__warps_active.avg.pct_of_peak_sustained_active", 100 * warps },
    { "dram__bytes_read.sum", 32 * reads }, { "dram__bytes_write.sum", 32 * writes },
    { "lts__t_sectors.sum", f->sectors + reads },
    { "lts__t_sectors_lookup_hit.sum", f->sectors > reads ? f->sectors - reads : 0 },
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", k * (double)c->load_sectors },
    { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", k * (double)c->load_requests },
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", k * (double)c->load_hits },
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", k * (double)c->store_sectors },
    { "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", k * (double)c->store_requests },
    { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", k * conflicts },
    { "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", k * (double)c->shared_wavefronts }
  };
  return add_values(w, x->step->kernel, values, sizeof values / sizeof *values, err);
}

/* What the time was modelled from. */
static cawb_status add_facts(sim_watch *w, const sim_exec *x, cawb_err *err) {
  const sim_launch_facts *f = &x->facts;
  const value values[] = {
    { "resident_blocks", f->resident }, { "skew", f->skew }, { "fresh_sectors", f->fresh },
    { "evicted_sectors", f->evicted }, { "merged_sectors", f->merged },
    { "merged_lines", f->merged_lines }, { "partial_sectors", f->partial },
    { "load_spread", f->spread },
    { "written_sectors", f->written }, { "earlier_sectors", f->earlier },
    { "again_sectors", f->again }, { "l2_sectors", f->sectors }, { "l1_lines", f->lines },
    { "loads_l1", f->level[0] }, { "loads_l2", f->level[1] }, { "loads_dram", f->level[2] },
    { "hottest_atomic", f->hottest }, { "issued", f->issued }, { "pipe_fp32", f->pipe[SIM_PIPE_FP32] },
    { "pipe_int", f->pipe[SIM_PIPE_INT] }, { "pipe_fp64", f->pipe[SIM_PIPE_FP64] },
    { "pipe_special", f->pipe[SIM_PIPE_SPECIAL] }, { "pipe_memory", f->pipe[SIM_PIPE_MEMORY] },
    { "pipe_control", f->pipe[SIM_PIPE_CONTROL] }, { "pipe_product", f->pipe[SIM_PIPE_PRODUCT] },
    { "block_clocks", f->clocks }, { "longest_clocks", f->longest }, { "busy_sms", f->busy }, { "crowd", f->crowd },
    { "blocks_executed", f->executed }, { "sample_spread", sim_sample_spread(x) }
  };
  return add_values(w, x->step->kernel, values, sizeof values / sizeof *values, err);
}

cawb_status sim_profile_launch(const sim_exec *x, const cawb_report *a, const cawb_report *b,
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
  if (rc == CAWB_OK) rc = add_counters(w, x, a, b, err);
  if (rc == CAWB_OK) rc = add_facts(w, x, err);
  if (rc == CAWB_OK && w->p->sampling.image != NULL)
    rc = add_lines(x, &w->p->sampling.seen.lines, err);
  w->launches++;
  return rc;
}

cawb_status sim_profile_begin(sim_device *d, sim_watch *w, cawb_profile *p, cawb_err *err) {
  *w = (sim_watch){ p, 0 };
  d->watch = w;
  return cawb_lines_begin(&p->sampling.seen.lines, units, SIM_PIPES, err);
}

void sim_profile_end(sim_device *d) {
  cawb_profile *p = d->watch->p;
  d->watch = NULL;
  p->passes = p->sampling.runs = 1;
  p->sampling.unit = "warp instructions";
}

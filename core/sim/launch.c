/* launch.c - executes the steps of a plan and reports what they did. */
#include "sim/launch.h"

#include "sim/access/cache.h"
#include "sim/cores/cores.h"
#include "sim/exec/fault.h"
#include "sim/library/library.h"
#include "sim/memory/device.h"
#include "sim/parse/module.h"
#include "sim/read/passes.h"
#include "sim/sass/sass.h"
#include "sim/time/profile.h"
#include "sim/time/time.h"
#include "sim/variables.h"
#include "sim/watch/ahead.h"
#include "sim/watch/order.h"
#include "sim/watch/race.h"
#include "sim/watch/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ checks */

static cawb_status check_shape(const sim_device *d, const sim_function *f, const cawb_step *s,
                               cawb_err *err) {
  static const uint32_t grid_most[] = { 2147483647u, 65535, 65535 }, block_most[] = { 1024, 1024, 64 };
  for (int i = 0; i < 3; i++) {
    if (s->grid[i] == 0 || s->grid[i] > grid_most[i])
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: grid (%u,%u,%u): each part must be 1 to %u, %u, %u",
                       f->plain, s->grid[0], s->grid[1], s->grid[2],
                       grid_most[0], grid_most[1], grid_most[2]);
    if (s->block[i] == 0 || s->block[i] > block_most[i])
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: block (%u,%u,%u): each part must be 1 to 1024, 1024, 64",
                       f->plain, s->block[0], s->block[1], s->block[2]);
  }
  unsigned threads = s->block[0] * s->block[1] * s->block[2];
  unsigned most = (unsigned)d->model->threads_block;
  if (f->max_threads != 0 && f->max_threads < most) most = f->max_threads;
  if (threads > most)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %u threads in a block, at most %u are possible", f->plain,
                     threads, most);
  return CAWB_OK;
}

static cawb_status check_known(const sim_function *f, cawb_err *err) {
  char at[160], what[320];
  if (f->unknown == NULL) return CAWB_OK;
  sim_place(at, sizeof at, f->plain, f->unknown_line);
  sim_refusal(what, sizeof what, f->unknown, strlen(f->unknown));
  return cawb_fail(err, CAWB_ERR_UNSUPPORTED, "%s: %s", at, what);
}

static cawb_status check_launch(const sim_device *d, const sim_function *f, const cawb_step *s,
                                cawb_err *err) {
  cawb_status status = check_known(f, err);
  if (status == CAWB_OK) status = check_shape(d, f, s, err);
  if (status == CAWB_OK) status = sim_cluster_check(f, s, err);
  if (status != CAWB_OK) return status;
  size_t most = (size_t)d->model->shared_block;
  if (s->shared + f->shared_size > most || s->shared > most)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %zu bytes of shared memory (%zu dynamic, %u static), "
                     "a block may have %zu", f->plain, s->shared + f->shared_size, s->shared, f->shared_size, most);
  if (s->args_size != f->args_size)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %zu bytes of arguments, its parameters take %zu", f->plain,
                     s->args_size, f->args_size);
  return CAWB_OK;
}

/* Blocks that wait for all others must all be there. */
static cawb_status check_cooperative(const sim_exec *x, cawb_err *err) {
  const sim_model *m = x->device->model;
  const unsigned *g = x->step->grid;
  double blocks = (double)g[0] * g[1] * g[2], most = sim_resident(m, x) * m->sms;
  if (!x->step->cooperative || blocks <= most) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s: %.0f blocks cannot be under way at once, as a cooperative launch "
                   "needs: the device holds %.0f of them", x->function->plain, blocks, most);
}

/* The words where grid.sync() counts begin at 0. */
static cawb_status ready_grid_barrier(sim_device *d, const cawb_step *s, cawb_err *err) {
  if (!s->cooperative) return CAWB_OK;
  if (d->grid_barrier == 0) {
    sim_region *r = sim_region_new(d, 128, "the grid's barrier", err);
    if (r == NULL) return CAWB_ERR_MEMORY;
    d->grid_barrier = r->base;
  }
  return sim_memory_fill(&d->base, d->grid_barrier, 0, 128, err);
}

/* ----------------------------------------------------------------- counting */

/* ptxas begins and ends a kernel with instructions of its own. */
enum { AROUND = 4 };

static void count_code(const sim_exec *x, sim_launch_facts *facts, cawb_report *sum) {
  const sim_function *f = x->function;
  facts->issued = (double)AROUND * x->nwarps * facts->executed;
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    unsigned pipe = sim_ops[in->op].pipe;
    sum->warp_instructions += x->hits[i];
    double times = in->unrolled ? (double)x->hits[i] / SIM_UNROLL : (double)x->hits[i];
    facts->pipe[pipe] += times * in->cost;
    if (pipe != SIM_PIPE_NONE) facts->issued += times * ((pipe == SIM_PIPE_TENSOR ? 1 : in->cost) + in->more);
    facts->pipe[SIM_PIPE_FP32] += times * in->more;
    if (sim_op_has(in->op, OP_JUMPS) && in->guard != SIM_NOGUARD) sum->branches += x->hits[i];
  }
}

static void count_memory(const sim_exec *x, sim_launch_facts *facts) {
  const sim_counts *c = &x->counts;
  double loads = (double)(c->level[0] + c->level[1] + c->level[2]);
  facts->sectors = (double)(c->global_sectors - c->load_hits);
  facts->lines = (double)(c->lines + c->local_requests);
  facts->shared = (double)(c->shared_wavefronts + c->operands);
  facts->evicted = (double)c->evicted;
  facts->merged = (double)c->merged;
  facts->merged_lines = (double)c->merged_lines;
  facts->partial = (double)c->partial;
  facts->hottest = (double)c->hottest / SIM_CLOCK;
  facts->calls = (double)c->calls;
  facts->spread = loads > 0 ? (double)c->load_lines / loads : 0;
  for (int i = 0; i < 3; i++) facts->level[i] = loads > 0 ? (double)c->level[i] / loads : 0;
}

/*
** Registers that ptxas keeps in local memory: what the machine code accesses there beyond the PTX. Each such access
** is a lookup of L1, and a load is waited for, some at a time; what L1 has no room for goes to L2.
*/
enum { SPILLS_AT_ONCE = 4 };

static void count_spills(const sim_exec *x, sim_launch_facts *facts) {
  const sim_function *f = x->function;
  const sim_model *m = x->device->model;
  double own = 0, words = 0;
  if (f->sass == NULL || !f->sass->locals) return;
  sim_sass_counts machine = sim_sass_issued(x);
  for (uint32_t i = 0; i < f->count; i++) {
    const sim_insn *in = &f->code[i];
    if (in->op != SIM_OP_ld_local && in->op != SIM_OP_st_local) continue;
    own += (double)x->hits[i];
    words += (double)x->hits[i] * in->vec * (in->width > 4 ? 2 : 1);
  }
  double spills = machine.locals - own, lines = machine.words - words;
  if (!(machine.issued > 0) || spills <= 0) return;
  if (lines < spills) lines = spills;
  double room = m->l1 - facts->resident * (x->shared_size + 1024.0);
  double asked = (double)f->stack * facts->resident * facts->warps * SIM_LANES;
  double missed = asked > room && asked > 0 ? 1 - (room > 0 ? room : 0) / asked : 0;
  facts->lines += lines;
  facts->sectors += 4 * lines * missed;
  facts->pipe[SIM_PIPE_MEMORY] += spills;
  facts->issued += spills;
  double clocks = spills / 2 / SPILLS_AT_ONCE * m->latency_l1 / facts->warps / facts->executed;
  facts->clocks += clocks;
  facts->longest += clocks;
}

/* What was executed stands for the whole grid. */
static void scale_facts(sim_launch_facts *f) {
  double k = f->executed > 0 ? f->blocks / f->executed : 1;
  double *const sums[] = { &f->issued, &f->sectors, &f->lines,
                           &f->shared, &f->evicted, &f->merged, &f->merged_lines,
                           &f->partial, &f->hottest, &f->calls };
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] *= k;
  for (int i = 0; i < SIM_PIPES; i++) f->pipe[i] *= k;
}

static uint64_t scaled(uint64_t n, double k) { return k > 1 ? (uint64_t)((double)n * k + 0.5) : n; }

static void add_counts(const sim_exec *x, const cawb_report *sum, double k, cawb_report *report) {
  const sim_counts *c = &x->counts;
  report->warp_instructions += scaled(sum->warp_instructions, k);
  report->branches += scaled(sum->branches, k);
  report->thread_instructions += scaled(c->threads, k);
  report->global_requests += scaled(c->global_requests, k);
  report->global_sectors += scaled(c->global_sectors, k);
  report->shared_requests += scaled(c->shared_requests, k);
  report->shared_wavefronts += scaled(c->shared_wavefronts, k);
  report->divergent_branches += scaled(c->divergent, k);
  report->barriers += scaled(c->barriers, k);
  if (c->races > 0 && report->races == 0) sim_race_report(x, report);
  report->races += c->races;
}

/* What its blocks took each for itself. Of a sample nobody knows which of them would share a multiprocessor. */
static void count_chains(const sim_exec *x, sim_launch_facts *f) {
  const sim_chains *c = &x->chains;
  double here = ceil(f->blocks / x->device->model->sms);
  int all = c->blocks >= f->blocks && c->work > 0;
  f->clocks = c->blocks > 0 ? (c->sum - c->work) / c->blocks : 0;
  f->longest = c->longest;
  f->busy = all ? c->work / c->busiest : f->blocks / here;
  f->crowd = all ? c->crowd / c->sum * c->blocks : here;
}

static void settle(sim_exec *x, cawb_report *report) {
  sim_launch_facts *f = &x->facts;
  cawb_report sum = { 0 };
  sim_sectors touched = { 0, 0, 0 };
  const unsigned *g = x->step->grid;
  f->blocks = (double)g[0] * g[1] * g[2];
  f->executed = (double)x->executed;
  f->warps = x->nwarps;
  f->resident = sim_resident(x->device->model, x);
  f->skew = x->counts.threads > 0 ? x->longest * f->executed / (double)x->counts.threads : 1;
  f->first = x->device->launches++ == 0;
  f->dependent = x->step->dependent;
  count_code(x, f, &sum);
  count_memory(x, f);
  count_chains(x, f);
  count_spills(x, f);
  scale_facts(f);
  sim_sample_sectors(x, &touched);
  f->fresh = touched.fresh;
  f->again = touched.again;
  f->earlier = touched.earlier;
  add_counts(x, &sum, f->executed > 0 ? f->blocks / f->executed : 1, report);
  report->dram_bytes += (uint64_t)(32 * sim_traffic(x->device->model, f) + 0.5);
  sim_time_launch(x->device->model, f, report);
}

/* -------------------------------------------------------------------- steps */

/* What blocks and warps do to each other in global memory is looked at. */
static cawb_status follow_blocks(sim_exec *x, cawb_err *err) {
  sim_device *d = x->device;
  const unsigned *g = x->step->grid;
  uint64_t blocks = (uint64_t)g[0] * g[1] * g[2];
  x->follows = x->checks && blocks < SIM_STRETCH_MOST / 2 ? SIM_FOLLOWS : SIM_FOLLOWS_NOT;
  if (!x->follows) return CAWB_OK;
  if (x->function->fences && blocks > 1) x->order = sim_order_new(blocks);
  if (!sim_stretches_room(d, (uint32_t)blocks) || !sim_regions_follow(d) || (x->function->fences && blocks > 1 && x->order == NULL))
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory to execute %s", x->function->plain);
  if (d->last_stretch >= SIM_STRETCH_MOST / 2) {
    sim_regions_unfollow(d);
    d->last_stretch = 0;
  }
  x->first_stretch = d->last_stretch + 1;
  x->stretches = sim_stretch_next;
  x->turn = x->function->speaks ? d->turn : 0;
  return CAWB_OK;
}

/* As a GPU does where it maps inputs read-only, but only when the kernel has ended. */
static cawb_status check_guarded(const sim_device *d, const sim_function *f, cawb_err *err) {
  const sim_region *r = sim_region_trespassed(d);
  if (r == NULL) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s wrote to %s: inputs and parameters are read-only", f->plain, r->label);
}

static cawb_status run_launch(sim_device *d, const cawb_module *m, const cawb_step *s, cawb_report *report,
                              cawb_err *err) {
  sim_exec x;
  sim_function *f = sim_module_find(m, s->kernel);
  if (f == NULL) return cawb_fail(err, CAWB_ERR_CANDIDATE, "no kernel '%s' in the compiled code", s->kernel);
  cawb_status status = check_launch(d, f, s, err);
  if (status == CAWB_OK) status = ready_grid_barrier(d, s, err);
  if (status == CAWB_OK) status = sim_exec_make(&x, d, f, s, err);
  if (status != CAWB_OK) return status;
  memset(d->hot, 0, SIM_HOT * sizeof *d->hot);
  memset(d->sms, 0, 2 * (size_t)d->model->sms * sizeof *d->sms);
  cawb_report before = *report;
  status = sim_cluster_make(&x, err);
  if (status == CAWB_OK) status = check_cooperative(&x, err);
  if (status == CAWB_OK) status = follow_blocks(&x, err);
  if (status == CAWB_OK && (sim_grid_run(&x) == SIM_FAULT || sim_cluster_finish(&x) == SIM_FAULT))
    status = sim_fault_report(&x, err);
  f->in_order |= x.met;                         /* the next time at once */
  sim_stretches_settle(&x);
  settle(&x, report);
  if (status == CAWB_OK) status = check_guarded(d, f, err);
  if (status == CAWB_OK && d->watch != NULL) status = sim_profile_launch(&x, &before, report, err);
  sim_order *order = x.order;
  sim_exec_free(&x);
  sim_order_free(order);
  return status;
}

static cawb_status run_fill(sim_device *d, const cawb_step *s, cawb_report *report, cawb_err *err) {
  cawb_status status = sim_memory_fill(&d->base, s->addr, s->pattern, s->size, err);
  if (status != CAWB_OK) return status;
  if (s->poison) d->turn = s->pattern;           /* drawn anew for each call */
  if (s->poison && d->sample == 0 && d->sanitize) sim_region_poisoned(sim_region_at(d, s->addr));
  report->dram_bytes += 32 * sim_region_touch(sim_region_at(d, s->addr), SIM_WRITES_RUN, s->addr,
                                              s->size);
  sim_time_fill(d->model, s->size, report);
  return CAWB_OK;
}

static void begin_anew(sim_device *d, cawb_module *m) {
  sim_regions_forget(d);
  sim_variables_restore(m);
  d->launches = 0;
}

static int any_dependent(const cawb_step *steps, size_t n) {
  int any = 0;
  for (size_t i = 0; i < n; i++) any |= steps[i].dependent;
  return any;
}

cawb_status sim_run(cawb_device *dev, cawb_module *m, const cawb_step *steps, size_t n,
                    cawb_report *report, cawb_err *err) {
  sim_device *d = (sim_device *)dev;
  cawb_status status = CAWB_OK;
  if (!d->lasting) begin_anew(d, m);
  report->counted = 1;
  d->follows_ahead = d->sanitize && d->sample == 0 && (d->lasting || any_dependent(steps, n));
  for (size_t i = 0; i < n && status == CAWB_OK; i++) {
    sim_ahead_begin(d, &steps[i]);
    status = steps[i].kind == CAWB_STEP_FILL ? run_fill(d, &steps[i], report, err)
           : steps[i].kind == CAWB_STEP_LAUNCH ? run_launch(d, m, &steps[i], report, err)
           : sim_library_run(d, &steps[i], report, err);
  }
  return status;
}

/*
** model.c - the time of a launch, to first order:
**
**   seconds = launch + (memory^p + l2^p + l1^p + shared^p + issue^p + latency^p)^(1/p)
**
** which for a large p is the longest of the bounds, and a little more where two are alike:
**
**   memory   sectors that DRAM must give or take * 32 / its bandwidth. Those of an earlier
**            launch are free while everything fits into L2; those that a block comes back to
**            after more than L2 holds are paid again. A timed call begins with an L2 a part of
**            which must be written back when its place is taken, and ends with its own there.
**   l2       sectors that L1 asks for * 32 / its bandwidth, and atomics on one place, which
**            wait for each other.
**   l1       lines of 128 bytes, looked up one after the other.
**   shared   wavefronts, as many as the unit takes.
**   issue    the busiest of the issue slots and the execution units.
**   latency  what a block takes for itself: the longest of its warps' chains of instructions
**            that wait for each other (chain.c), and the batches of loads that it waits for. An SM
**            holds so many blocks at a time (Little's law, seen from the block); none is done
**            before the longest one. Calls of malloc and free wait for each other everywhere.
**   blocks   they are started one after the other.
**
** All but memory are spread over the SMs that have blocks, as loaded as the busiest of them: each
** block goes to the SM that has least to do (sample.c).
*/
#include "gpu/device/times.h"
#include "sim/time/time.h"

#include <math.h>

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* Blocks that a multiprocessor holds at a time. */
double sim_resident(const sim_model *m, const sim_exec *x) {
  double warps = (double)x->nwarps * SIM_LANES;
  double n = least(m->blocks_sm, floor(m->threads_sm / warps));
  if (x->shared_size > 0)          /* the system takes 1 KiB a block */
    n = least(n, floor(m->shared_sm / (x->shared_size + 1024.0)));
  if (x->function->regs_used > 0) n = least(n, floor(m->registers_sm / (x->function->regs_used * warps)));
  return most(n, 1);
}

/* Only a first launch finds what the caller left in L2. */
static double left_over(const sim_model *m, const sim_launch_facts *f) {
  return cawb_times_left_over(m->l2 / 32, m->dirty, f->first ? f->fresh : 0, f->written);
}

/* Sectors that DRAM gives or takes, sooner or later. */
double sim_traffic(const sim_model *m, const sim_launch_facts *f) {
  int cached = (f->earlier + f->fresh) * 32 <= m->l2 * m->l2_share;
  return f->fresh + f->evicted + f->merged + (cached ? 0 : f->again);
}

static double memory_time(const sim_model *m, const sim_launch_facts *f) {
  double sectors = sim_traffic(m, f) + f->merged_lines * m->merge + left_over(m, f);
  return sectors > 0 ? sectors * 32 / m->dram + m->ramp : 0;
}

static double l2_time(const sim_model *m, const sim_launch_facts *f, double sms) {
  double rate = least(m->l2_rate, sms * m->l2_sm * m->clock);
  double all = (f->sectors + f->partial * (m->partial - 1)) * 32 / rate;
  return most(all, f->hottest / m->clock);
}

static double issue_time(const sim_model *m, const sim_launch_facts *f, double sms) {
  const double rate[SIM_PIPES] = {
    [SIM_PIPE_FP32] = m->pipe_fp32, [SIM_PIPE_INT] = m->pipe_int, [SIM_PIPE_FP64] = m->pipe_fp64,
    [SIM_PIPE_SPECIAL] = m->pipe_special, [SIM_PIPE_MEMORY] = m->pipe_memory,
    [SIM_PIPE_CONTROL] = m->pipe_control, [SIM_PIPE_PRODUCT] = m->pipe_int,
    [SIM_PIPE_TENSOR] = 4 * m->pipe_tensor           /* in quarters of a clock */
  };
  double worst = f->issued / m->issue;
  for (int i = 0; i < SIM_PIPES; i++)
    if (rate[i] > 0) worst = most(worst, f->pipe[i] / rate[i]);
  return worst / (m->clock * sms);
}

/* Clocks that a warp waits for a batch of loads: by the levels that answer, and what comes behind the first line; what asked for no
   line was near. */
double sim_wait(const sim_model *m, const sim_moves *moves) {
  double loads = (double)(moves->level[0] + moves->level[1] + moves->level[2]);
  if (!(loads > 0)) return m->latency_shared;
  return ((double)moves->level[0] * m->latency_l1 + (double)moves->level[1] * m->latency_l2 * m->clock +
          (double)moves->level[2] * m->latency_dram * m->clock + (double)moves->missed * m->latency_line) / loads;
}

static double latency_time(const sim_model *m, const sim_launch_facts *f) {
  double rounds = most(1, f->crowd / f->resident);
  return most(most(rounds * f->clocks, f->longest) / m->clock, f->calls * m->heap_next);
}

static double launch_time(const sim_model *m, const sim_launch_facts *f) {
  return f->first ? m->launch : f->dependent ? m->launch_dependent : m->launch_next;
}

void sim_time_launch(const sim_model *m, const sim_launch_facts *f, cawb_report *r) {
  double sms = f->busy, launch = launch_time(m, f);
  double memory = memory_time(m, f), l2 = l2_time(m, f, sms);
  double l1 = f->lines / (m->l1_wave * m->clock * sms);
  double shared = f->shared / (m->shared_wave * m->clock * sms);
  double issue = issue_time(m, f, sms), latency = latency_time(m, f);
  double blocks = f->blocks * m->block_start / m->clock;
  const double bounds[] = { memory, l2, l1, shared, issue, latency, blocks };
  r->bound.memory += memory;
  r->bound.l2 += l2;
  r->bound.l1 += l1;
  r->bound.shared += shared;
  r->bound.issue += issue;
  r->bound.latency += latency;
  r->bound.blocks += blocks;
  r->bound.launch += launch;
  r->seconds += launch + cawb_times_norm(bounds, sizeof bounds / sizeof *bounds, m->sharpness);
}

/* A library's call: its arithmetic at the rate that it reaches, beside or behind what memory takes. */
void sim_time_library(const sim_model *m, double flops, double rate, double bytes, int passes, cawb_report *r) {
  double memory = passes * bytes / m->dram, issue = flops / rate;
  r->bound.memory += memory;
  r->bound.issue += issue;
  r->bound.launch += m->launch;
  r->seconds += m->launch + (passes > 1 ? memory + issue : most(memory, issue));
}

void sim_time_fill(const sim_model *m, size_t size, cawb_report *r) {
  double memory = (double)size / m->dram;
  r->bound.memory += memory;
  r->bound.launch += m->launch;
  r->seconds += m->launch + memory;
}

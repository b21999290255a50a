/*
** time_model.c - the time of a launch, to first order:
**
**   seconds = launch + max(memory, l2, shared, issue)
**
**   memory  unique sectors * 32 bytes / DRAM bandwidth; sectors that an earlier
**           launch touched are free while everything fits into L2.
**   l2      all sectors * 32 bytes / L2 bandwidth: there is no L1 in the model,
**           so uncoalesced access pays here.
**   shared  wavefronts, one a clock and SM.
**   issue   the busiest of the issue slots and the execution units.
**
** l2, shared and issue are spread over the SMs that have blocks, as loaded as
** the busiest of them. No part is faster than its chain: a warp waits for each
** batch of loads and goes on one instruction after the other, and an SM holds
** so many warps at a time (Little's law, seen from the warp):
**
**   chain = rounds of resident blocks * (batches * latency + instructions * step)
**
** It counts as memory where the waiting for global loads is the larger part of
** it, else as issue.
*/
#include "sim.h"

#include <math.h>

typedef struct shape {
  double blocks, per_sm;     /* blocks of the grid; resident on an SM */
  double waves;              /* rounds of the busiest SM, in blocks */
  double sms;                /* SMs' worth of work going on at a time */
} shape;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static shape shape_of(const sim_model *m, const sim_exec *x) {
  shape s;
  const sim_function *f = x->function;
  const unsigned *g = x->step->grid;
  s.blocks = (double)g[0] * g[1] * g[2];
  s.per_sm = least(m->blocks_sm, floor((double)m->threads_sm / (x->nwarps * SIM_LANES)));
  if (x->shared_size > 0)          /* the system takes 1 KiB a block */
    s.per_sm = least(s.per_sm, floor((double)m->shared_sm / (x->shared_size + 1024.0)));
  if (f->regs_used > 0)
    s.per_sm = least(s.per_sm, floor((double)m->registers_sm /
                                    ((double)f->regs_used * x->nwarps * SIM_LANES)));
  if (s.per_sm < 1) s.per_sm = 1;
  s.waves = ceil(s.blocks / m->sms);
  s.sms = s.blocks / s.waves;
  return s;
}

static double issue_time(const sim_model *m, const sim_launch_facts *facts, const shape *s) {
  double worst = (double)facts->issued / m->issue;
  for (int i = 0; i < SIM_PIPES; i++)
    if (m->pipe[i] > 0) worst = most(worst, (double)facts->pipe[i] / m->pipe[i]);
  return worst / (m->clock * s->sms);
}

/* Sectors that come from DRAM, or go there. */
static double dram_sectors(const sim_model *m, const sim_launch_facts *facts) {
  int cached = (double)(facts->earlier + facts->fresh) * 32 <= (double)m->l2;
  return (double)facts->fresh + (cached ? 0 : (double)facts->again);
}

/* The chain's two parts, in seconds: waiting for global loads, and the rest. */
static void chain_time(const sim_model *m, const sim_exec *x, const sim_launch_facts *facts, const shape *s,
                       double *waiting, double *rest) {
  double warps = s->blocks * x->nwarps, rounds = most(1, s->waves / s->per_sm);
  double sectors = (double)x->counts.global_sectors;
  double far = sectors > 0 ? least(1, dram_sectors(m, facts) / sectors) : 0;
  double latency = m->latency_l2 + far * (m->latency_dram - m->latency_l2);
  *waiting = rounds * (double)facts->waits_global / warps * latency;
  double clocks = (double)facts->waits_shared * m->latency_shared + (double)facts->issued * m->step;
  *rest = rounds * clocks / warps / m->clock;
}

void sim_time_launch(const sim_model *m, const sim_exec *x, const sim_launch_facts *facts, cawb_report *r) {
  shape s = shape_of(m, x);
  double memory = dram_sectors(m, facts) * 32 / m->dram;
  double l2 = (double)x->counts.global_sectors * 32 / (m->l2_rate * s.sms / m->sms);
  double shared = (double)x->counts.shared_wavefronts / (m->shared_wave * m->clock * s.sms);
  double issue = issue_time(m, facts, &s), waiting, rest;
  chain_time(m, x, facts, &s, &waiting, &rest);
  if (waiting >= rest) memory = most(memory, waiting + rest);
  else issue = most(issue, waiting + rest);
  r->bound.memory += memory;
  r->bound.l2 += l2;
  r->bound.shared += shared;
  r->bound.issue += issue;
  r->bound.launch += m->launch;
  r->seconds += m->launch + most(most(memory, l2), most(shared, issue));
}

/* A library's call is taken to reach the published rate, or that of memory. */
void sim_time_library(const sim_model *m, double flops, double rate, double bytes, cawb_report *r) {
  double memory = bytes / m->dram, issue = flops / rate;
  r->bound.memory += memory;
  r->bound.issue += issue;
  r->bound.launch += m->launch;
  r->seconds += m->launch + most(memory, issue);
}

void sim_time_fill(const sim_model *m, size_t size, cawb_report *r) {
  double memory = (double)size / m->dram;
  r->bound.memory += memory;
  r->bound.launch += m->launch;
  r->seconds += m->launch + memory;
}

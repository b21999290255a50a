/*
** time_model.c - the time of a launch, to first order:
**
**   seconds = launch + max(memory, l2, shared, issue)
**
**   memory  unique sectors * 32 bytes / DRAM bandwidth; sectors that an earlier
**           launch touched are free while everything fits into L2. Bandwidth
**           is also limited by the bytes in flight (Little's law): resident
**           warps * bytes a warp keeps in flight / latency.
**   l2      all sectors * 32 bytes / L2 bandwidth: there is no L1 in the model,
**           so uncoalesced access pays here.
**   shared  wavefronts, one a clock and SM.
**   issue   the busiest of the issue slots and the execution units.
**
** The last two are spread over the SMs that have blocks, the L2's share over
** those too, since each SM has its own port; whole waves of blocks count.
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
    s.per_sm = least(s.per_sm, floor((double)m->registers_sm / ((double)f->regs_used * x->nwarps * SIM_LANES)));
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

static double memory_time(const sim_model *m, const sim_exec *x, const sim_launch_facts *facts, const shape *s) {
  double sectors = (double)facts->fresh;
  if ((double)(facts->earlier + facts->fresh) * 32 > (double)m->l2) sectors += (double)facts->again;
  double resident = least(s->blocks, s->per_sm * m->sms) * x->nwarps;
  double reach = least(m->dram, resident * facts->in_flight / m->latency);
  return reach > 0 ? sectors * 32 / reach : sectors > 0 ? sectors * 32 / m->dram : 0;
}

void sim_time_launch(const sim_model *m, const sim_exec *x, const sim_launch_facts *facts, cawb_report *r) {
  shape s = shape_of(m, x);
  sim_launch_facts known = *facts;
  if (known.in_flight <= 0) {
    double requests = (double)x->counts.global_requests;
    known.in_flight = requests > 0 ? (double)x->counts.global_sectors * 32 / requests : 0;
  }
  double memory = memory_time(m, x, &known, &s);
  double l2 = (double)x->counts.global_sectors * 32 / (m->l2_rate * s.sms / m->sms);
  double shared = (double)x->counts.shared_wavefronts / (m->shared_wave * m->clock * s.sms);
  double issue = issue_time(m, &known, &s);
  r->bound.memory += memory;
  r->bound.l2 += l2;
  r->bound.shared += shared;
  r->bound.issue += issue;
  r->bound.launch += m->launch;
  r->seconds += m->launch + most(most(memory, l2), most(shared, issue));
}

void sim_time_fill(const sim_model *m, size_t size, cawb_report *r) {
  double memory = (double)size / m->dram;
  r->bound.memory += memory;
  r->bound.launch += m->launch;
  r->seconds += m->launch + memory;
}

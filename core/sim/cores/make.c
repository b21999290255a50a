/* make.c - all that a block needs to be executed: registers, constants, shared and local memory. */
#include "sim/access/async.h"
#include "sim/cores/cores.h"
#include "sim/exec/calls.h"
#include "sim/exec/shape.h"
#include "sim/exec/traffic.h"
#include "sim/memory/device.h"
#include "sim/time/profile.h"
#include "sim/watch/order.h"
#include "sim/watch/shadow.h"
#include "sim/watch/undefined.h"

#include <stdlib.h>
#include <string.h>

static uint64_t parameter(const sim_exec *x, const sim_constant *c) {
  uint64_t v = 0;
  memcpy(&v, x->params + c->value, c->width);
  unsigned drop = 64 - 8u * c->width;
  return c->sext ? (uint64_t)((int64_t)(v << drop) >> drop) : v;
}

static uint32_t dynamic_start(const sim_function *f) {
  uint32_t align = f->dynamic_align < 16 ? 16 : f->dynamic_align;
  return (f->shared_size + align - 1) / align * align;
}

static uint64_t cluster_constant(const sim_exec *x, const sim_constant *c) {
  unsigned shape[3];
  sim_cluster_shape(x->function, x->step, shape);
  if (c->kind == SIM_K_CLUSTER_SIZE) return (uint64_t)shape[0] * shape[1] * shape[2];
  return c->kind == SIM_K_CLUSTER ? shape[c->value] : x->step->grid[c->value] / shape[c->value];
}

static uint64_t constant_value(const sim_exec *x, const sim_constant *c) {
  switch (c->kind) {
    case SIM_K_PARAM: return parameter(x, c);
    case SIM_K_NTID: return x->step->block[c->value];
    case SIM_K_NCTAID: return x->step->grid[c->value];
    case SIM_K_DYNAMIC: return dynamic_start(x->function) + c->value;
    case SIM_K_DYNSIZE: return c->value == 0 ? x->step->shared : x->shared_size;
    case SIM_K_GRID_BARRIER: return (x->step->cooperative ? x->device->grid_barrier : 0) >> c->value & UINT32_MAX;
    case SIM_K_CLUSTER: case SIM_K_NCLUSTER: case SIM_K_CLUSTER_SIZE: return cluster_constant(x, c);
    default: return c->value;
  }
}

static void fill_constants(sim_exec *x) {
  for (uint32_t i = 0; i < x->function->nconsts; i++) {
    const sim_constant *c = &x->function->consts[i];
    unsigned char *at = x->consts + c->off;
    uint64_t v = constant_value(x, c);
    unsigned each = c->size == 0 ? 4 : c->size;
    for (unsigned l = 0; l < SIM_LANES; l++) memcpy(at + (size_t)l * each, &v, each);
  }
}

static void fill_specials(sim_exec *x, sim_warp *w) {
  unsigned char *at = w->base[SIM_WARP];
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint32_t t = w->index * SIM_LANES + l, bx = x->step->block[0], by = x->step->block[1], bit = 1u << l;
    const uint32_t v[] = { t % bx, t / bx % by, t / bx / by, l, w->index, bit, bit - 1, bit | (bit - 1),
                           ~(bit | (bit - 1)), ~(bit - 1) };
    for (unsigned k = 0; k < sizeof v / sizeof *v; k++) memcpy(at + (size_t)128 * k + (size_t)4 * l, &v[k], 4);
  }
}

static void fill_warps(sim_exec *x) {
  const sim_function *f = x->function;
  size_t regs = (size_t)(f->regs_size + 127u) / 128u * 128u;
  for (unsigned i = 0; i < x->nwarps; i++) {
    sim_warp *w = &x->warps[i];
    unsigned left = x->threads - i * SIM_LANES;
    w->index = i;
    w->exec = x;
    w->lanes = left >= SIM_LANES ? SIM_ALL : (1u << left) - 1;
    w->base[SIM_REGS] = x->registers + i * regs;
    w->base[SIM_CONSTS] = x->consts;
    w->base[SIM_BLOCK] = x->blockvals;
    w->base[SIM_UNUSED] = x->blockvals;        /* anything that is large enough */
    w->base[SIM_WARP] = x->warpvals + (size_t)i * SIM_WARP_BYTES;
    w->local = x->local + (size_t)i * SIM_LANES * x->local_stride;
    w->local_set = x->local_set + (size_t)i * SIM_LANES * x->local_stride;
    fill_specials(x, w);
  }
}

static void *area(size_t size) {
  void *p = sim_area_new(size + 128);
  if (p != NULL) memset(p, 0, size + 128);
  return p;
}

void sim_exec_free(sim_exec *x) {
  sim_cluster_free(x);
  sim_order_leave(x);
  for (unsigned i = 0; x->warps != NULL && i < x->nwarps; i++) {
    free(x->warps[i].copies);
    free(x->warps[i].lane_clock);
    sim_undefined_free(&x->warps[i]);
    sim_calls_free(&x->warps[i]);
  }
  free(x->bulks);
  free(x->flight);
  free(x->reading);
  free(x->products);
  free(x->hits);
  free(x->warps);
  sim_area_free(x->registers);
  sim_area_free(x->consts);
  sim_area_free(x->local);
  free(x->local_set);
  free(x->waw);
  sim_area_free(x->blockvals);
  sim_area_free(x->warpvals);
  sim_area_free(x->params);
  sim_area_free(x->shared);
  free(x->writers);
  free(x->readers);
  free(x->lines);
  free(x->shapes);
  free(x->lane_writes);
}

/* Shared memory begins as NaN: what is read before it is written should show. */
static int make_shared(sim_exec *x) {
  const sim_function *f = x->function;
  x->grain = f->grain;
  x->shared_size = x->step->shared == 0 ? f->shared_size : dynamic_start(f) + (uint32_t)x->step->shared;
  x->shadow_size = (x->shared_size >> x->grain) + SIM_SPAN + 32;
  x->shared = area(x->shared_size + 256u);      /* some loads fetch more than they need */
  x->writers = calloc(x->shadow_size, sizeof *x->writers);
  x->readers = calloc(x->shadow_size, sizeof *x->readers);
  x->lines = calloc(x->shadow_size, sizeof *x->lines);
  x->flight = calloc(x->shadow_size, sizeof *x->flight);
  x->reading = calloc(x->shadow_size, sizeof *x->reading);
  x->shapes = calloc(SIM_SHAPES, sizeof *x->shapes);
  x->waw = calloc(SIM_WAW, sizeof *x->waw);
  if (x->checks && f->lanes && x->shared_size > 0) {
    x->lane_writes = calloc(2 * (size_t)x->shadow_size, sizeof *x->lane_writes);
    if (x->lane_writes == NULL) return 0;
    x->lane_reads = x->lane_writes + x->shadow_size;
  }
  if (x->shapes == NULL || x->shared == NULL || x->flight == NULL || x->reading == NULL || x->writers == NULL ||
      x->readers == NULL || x->lines == NULL || x->waw == NULL) return 0;
  memset(x->shared, 0xff, x->shared_size);
  return 1;
}

cawb_status sim_exec_make(sim_exec *x, sim_device *d, const sim_function *f, const cawb_step *s,
                          cawb_err *err) {
  memset(x, 0, sizeof *x);
  x->device = d;
  x->checks = d->sanitize && d->sample == 0;
  x->ahead = x->checks && s->dependent;
  x->function = f;
  x->step = s;
  x->threads = s->block[0] * s->block[1] * s->block[2];
  x->nwarps = (x->threads + SIM_LANES - 1) / SIM_LANES;
  x->local_stride = (f->local_size + 15u) / 16u * 16u;
  x->l1 = d->l1[0];
  x->hot = d->hot;
  x->meeting = (uint64_t)(d->model->barrier_warp * SIM_CLOCK);
  x->wait = (uint64_t)(d->model->latency_l2 * d->model->clock);
  x->by_line = d->watch != NULL && d->watch->p->sampling.image != NULL;
  x->hits = calloc(sim_traffic_room(x), sizeof *x->hits);
  x->warps = calloc(x->nwarps, sizeof *x->warps);
  x->registers = area((size_t)(f->regs_size + 127u) / 128u * 128u * x->nwarps);
  x->consts = area(f->consts_size);
  x->local = area((size_t)x->local_stride * SIM_LANES * x->nwarps);
  x->local_set = calloc((size_t)x->local_stride * SIM_LANES * x->nwarps + 1, 1);
  x->blockvals = area(SIM_BLOCK_BYTES);
  x->warpvals = area((size_t)SIM_WARP_BYTES * x->nwarps);
  x->params = area(f->args_size + 16);
  if (!make_shared(x) || x->hits == NULL || x->warps == NULL || x->registers == NULL || x->consts == NULL ||
      x->local == NULL || x->local_set == NULL || x->blockvals == NULL || x->warpvals == NULL || x->params == NULL) {
    sim_exec_free(x);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory to execute %s", f->plain);
  }
  if (s->args_size > 0) memcpy(x->params, s->args, s->args_size);
  fill_constants(x);
  fill_warps(x);
  return CAWB_OK;
}

/* device.c - the simulated device: opens it and fills the table of device/device.h. */
#include "sim/access/cache.h"
#include "sim/open.h"
#include "sim/cores/cores.h"
#include "sim/isa/isas.h"
#include "sim/kernel.h"
#include "sim/launch.h"
#include "sim/library/library.h"
#include "sim/memory/device.h"
#include "sim/memory/heap.h"
#include "sim/memory/log.h"
#include "sim/parse/module.h"
#include "sim/read/passes.h"
#include "sim/sass/sass.h"
#include "sim/time/profile.h"
#include "sim/time/time.h"
#include "sim/variables.h"

#include <stdio.h>
#include <stdlib.h>

static void device_close(cawb_device *d) {
  sim_device *s = (sim_device *)d;
  sim_heap_drop(s);
  for (unsigned i = SIM_SLOT_FIRST; s->slots != NULL && i < s->nslots; i++)
    if (s->slots[i] != NULL) sim_region_drop(s, s->slots[i]->base);
  free(s->slots);
  for (unsigned i = 0; i < s->nl1; i++) free(s->l1[i]);
  free(s->l1);
  free(s->hot);
  free(s->sms);
  free(s->owners);
  while (s->spare != NULL) {
    sim_chunk *c = s->spare;
    s->spare = c->next;
    free(c);
  }
  pthread_mutex_destroy(&s->undo);
  free(s);
}

static void device_unload(cawb_device *d, cawb_module *m) {
  sim_heap_drop((sim_device *)d);                /* nobody knows its addresses any more */
  for (sim_function *f = m->functions; f != NULL; f = f->next) sim_sass_free(f->sass);
  sim_module_free(m);
}

/* All that is known of a kernel before it runs. 0: out of memory. */
static int prepare(sim_function *f, const sim_device *d) {
  sim_costs(f);
  if (!sim_wgmma(f, d->isa)) return 0;
  sim_stretches(f);
  sim_in_order(f);
  return sim_schedule(f) && sim_chain(f, d->model) && sim_lanes(f) && sim_uninitialised(f);
}

static cawb_status device_load(cawb_device *d, const cawb_image *image, cawb_module **out, cawb_err *err) {
  if (image->ptx == NULL)
    return cawb_fail(err, CAWB_ERR_INVALID, "a simulated device loads PTX, and there is none");
  cawb_status status = sim_module_parse((sim_device *)d, image->ptx, out, err);
  if (status != CAWB_OK) return status;
  for (sim_function *f = (*out)->functions; f != NULL; f = f->next)
    if (!prepare(f, (sim_device *)d)) {
      device_unload(d, *out);
      *out = NULL;
      return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a kernel");
    }
  status = sim_variables_keep(*out, err);
  if (status != CAWB_OK) {
    device_unload(d, *out);
    *out = NULL;
    return status;
  }
  sim_cubin_read(*out, image->cubin, image->cubin_size);
  sim_sass_read(*out, image->cubin, image->cubin_size);
  return CAWB_OK;
}

/* Modelled time does not vary: one execution, one sample. */
static cawb_status device_time(cawb_device *d, cawb_module *m, const cawb_step *steps, size_t n,
                               cawb_timing *timing, cawb_err *err) {
  cawb_report report = { 0 };
  if (timing->max_samples == 0) return cawb_fail(err, CAWB_ERR_INVALID, "no room for a timing sample");
  int sanitize = ((sim_device *)d)->sanitize;
  ((sim_device *)d)->sanitize = 0;               /* nobody would be told */
  cawb_status status = sim_run(d, m, steps, n, &report, err);
  ((sim_device *)d)->sanitize = sanitize;
  if (status != CAWB_OK) return status;
  timing->samples[0] = report.seconds;
  timing->count = 1;
  if (timing->clocks != NULL) timing->clocks[0] = d->info.rates.clock;
  for (size_t i = 0; i < timing->nsave && status == CAWB_OK; i++)
    status = sim_memory_copy(d, timing->save[i].to, timing->save[i].from, timing->save[i].size, err);
  return status;
}

/* One run; there is nothing to replay. */
static cawb_status device_profile(cawb_device *dev, cawb_module *m, const cawb_step *steps, size_t n,
                                  const char *const *metrics, size_t nmetrics, cawb_profile *p, cawb_err *err) {
  sim_watch w;
  cawb_report report = { 0 };
  (void)metrics; (void)nmetrics;
  cawb_status rc = sim_profile_begin((sim_device *)dev, &w, p, err);
  if (rc == CAWB_OK) rc = sim_run(dev, m, steps, n, &report, err);
  sim_profile_end((sim_device *)dev);
  return rc;
}

static void device_sample(cawb_device *d, uint64_t blocks) { ((sim_device *)d)->sample = blocks; }

static void device_sanitize(cawb_device *d, int on) { ((sim_device *)d)->sanitize = on; }

static void device_lasting(cawb_device *d) { ((sim_device *)d)->lasting = 1; }

static void device_prints(cawb_device *d, FILE *to) { ((sim_device *)d)->prints = to; }

static void device_threads(cawb_device *d, unsigned n) { ((sim_device *)d)->threads = n; }

static const cawb_device_ops ops = {
  .close = device_close, .sample = device_sample, .sanitize = device_sanitize, .threads = device_threads,
  .alloc = sim_memory_alloc, .free = sim_memory_free, .protect = sim_memory_protect,
  .write = sim_memory_write, .read = sim_memory_read, .copy = sim_memory_copy,
  .fill = sim_memory_fill, .attach = sim_memory_attach, .detach = sim_memory_free,
  .load = device_load, .unload = device_unload, .choose = sim_library_choose, .run = sim_run, .time = device_time,
  .profile = device_profile, .changed = sim_variables_changed, .lasting = device_lasting, .prints = device_prints,
  .variable = sim_variables_find, .kernel = sim_kernel_facts
};

static void describe(const char *which, const sim_model *m, cawb_device_info *info) {
  snprintf(info->name, sizeof info->name, "sim:%s", which);
  snprintf(info->model, sizeof info->model, "%s", m->model);
  snprintf(info->arch, sizeof info->arch, "%s", m->arch);
  info->modelled = 1;
  info->protects = 1;
  info->sms = (unsigned)m->sms;
  info->memory = (size_t)m->memory;
  info->l2 = (size_t)m->l2;
  info->shared_block = (size_t)m->shared_block;
  info->threads_block = (unsigned)m->threads_block;
  info->rates.clock = m->clock;
  info->rates.dram = m->dram;
  info->rates.l2 = m->l2_rate;
  info->rates.fp32 = m->fp32;
  info->rates.tf32 = m->tf32;
  info->rates.bf16 = m->bf16;
  info->rates.fp16 = m->fp16;
  info->rates.launch = m->launch;
  info->rates.cache = m->l2;
  info->rates.dirty = m->dirty;
  info->rates.sharpness = m->sharpness;
}

static int make_tables(sim_device *d) {
  d->sms = calloc(2 * (size_t)d->figures.sms, sizeof *d->sms);
  d->slots = calloc(SIM_SLOTS, sizeof *d->slots);
  d->hot = calloc(SIM_HOT, sizeof *d->hot);
  return d->slots != NULL && d->hot != NULL && d->sms != NULL && sim_l1_of(d, 0) != NULL;
}

cawb_status cawb_device_open_sim(cawb_device **out, const char *which, const cawb_figures *figures,
                                 cawb_err *err) {
  *out = NULL;
  if (figures == NULL)
    return cawb_fail(err, CAWB_ERR_INVALID, "no figures came with the simulated device 'sim:%s'", which);
  sim_device *d = calloc(1, sizeof *d);
  if (d != NULL) {
    pthread_mutex_init(&d->undo, NULL);
    d->figures = *figures;
  }
  if (d == NULL || !make_tables(d)) {
    if (d != NULL) device_close(&d->base);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a simulated device");
  }
  d->base.ops = &ops;
  d->model = &d->figures;
  d->isa = sim_isa_best();
  d->sanitize = 1;
  d->threads = 1;
  d->nslots = SIM_SLOTS_BEGIN;
  d->next_slot = SIM_SLOT_FIRST;
  describe(which, figures, &d->base.info);
  *out = &d->base;
  return CAWB_OK;
}

/* plan.c - the life of a plan: recorded, bound, described, freed. */
#include "gpu/plan/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/plan/record.h"

plan_step *plan_add_step(cawb_plan *p) {
  plan_list *l = &p->phases[p->phase];
  plan_step *grown = realloc(l->steps, (l->count + 1) * sizeof *grown);
  if (grown == NULL) return NULL;
  l->steps = grown;
  memset(&grown[l->count], 0, sizeof *grown);
  return &grown[l->count++];
}

long plan_add_tensor(cawb_plan *p, const cawb_tensor *spec, cawb_plan_role role) {
  cawb_plan_tensor *grown = realloc(p->tensors, (p->ntensors + 1) * sizeof *grown);
  if (grown == NULL) return -1;
  p->tensors = grown;
  grown[p->ntensors] = (cawb_plan_tensor){ .spec = *spec, .role = role };
  return (long)p->ntensors++;
}

/* One array of bare steps per phase: what a device takes. */
static cawb_status collect(plan_list *l, cawb_err *err) {
  l->bound = calloc(l->count + 1, sizeof *l->bound);
  if (l->bound == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  for (size_t i = 0; i < l->count; i++) l->bound[i] = l->steps[i].step;
  return CAWB_OK;
}

static cawb_status record(cawb_plan *p, const char *text, cawb_err *err) {
  cawb_sandbox *box = NULL;
  cawb_status rc = cawb_sandbox_new(&box, &p->setting->limits, err);
  if (rc == CAWB_OK) rc = cawb_sandbox_call(box, plan_open, p, err);
  if (rc == CAWB_OK) rc = cawb_sandbox_run(box, text, "plan.lua", err);
  if (rc == CAWB_ERR_CANDIDATE && p->starved)
    rc = cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  if (rc == CAWB_ERR_CANDIDATE && p->probing && p->declared) rc = CAWB_OK;
  cawb_sandbox_free(box);
  return rc;
}

cawb_status cawb_plan_new(cawb_plan **out, const char *text,
                          const cawb_plan_setting *setting, cawb_err *err) {
  *out = NULL;
  cawb_plan *p = calloc(1, sizeof *p);
  if (p == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  p->setting = setting;
  p->phase = CAWB_PLAN_CALL;
  cawb_status rc = record(p, text, err);
  if (rc == CAWB_OK && p->phases[CAWB_PLAN_CALL].count == 0)
    rc = cawb_fail(err, CAWB_ERR_CANDIDATE,
                   "plan.lua launches nothing: call launch(kernel, {grid=, block=}, ...)");
  if (rc == CAWB_OK) rc = collect(&p->phases[CAWB_PLAN_PREPARE], err);
  if (rc == CAWB_OK) rc = collect(&p->phases[CAWB_PLAN_CALL], err);
  p->setting = NULL;
  if (rc != CAWB_OK) {
    cawb_plan_free(p);
    return rc;
  }
  *out = p;
  return CAWB_OK;
}

static void free_list(plan_list *l) {
  for (size_t i = 0; i < l->count; i++) {
    free(l->steps[i].args);
    free(l->steps[i].refs);
    free(l->steps[i].gemm);
    free(l->steps[i].conv);
    cJSON_Delete(l->steps[i].text);
  }
  free(l->steps);
  free(l->bound);
}

void cawb_plan_free(cawb_plan *p) {
  if (p == NULL) return;
  free_list(&p->phases[CAWB_PLAN_PREPARE]);
  free_list(&p->phases[CAWB_PLAN_CALL]);
  free(p->tensors);
  free(p->views);
  free(p->reset);
  cJSON_Delete(p->tunables);
  free(p);
}

cawb_status cawb_plan_tunables(cJSON **out, const char *text,
                               const cawb_plan_setting *setting, cawb_err *err) {
  cawb_plan p = { .setting = setting, .phase = CAWB_PLAN_CALL, .probing = 1 };
  *out = NULL;
  cawb_status rc = record(&p, text, err);
  if (rc == CAWB_OK) {
    *out = p.tunables != NULL ? p.tunables : cJSON_CreateArray();
    p.tunables = NULL;
    if (*out == NULL) rc = cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  }
  free_list(&p.phases[CAWB_PLAN_PREPARE]);
  free_list(&p.phases[CAWB_PLAN_CALL]);
  free(p.tensors);
  free(p.views);
  cJSON_Delete(p.tunables);
  return rc;
}

cawb_plan_tensor *cawb_plan_tensors(cawb_plan *p, size_t *count) {
  *count = p->ntensors;
  return p->tensors;
}

static void bind_step(cawb_plan *p, plan_step *s, cawb_step *bound) {
  for (size_t i = 0; i < s->nrefs; i++) {
    const plan_ref *r = &s->refs[i];
    uint64_t addr = p->tensors[r->tensor].addr + r->plus;
    if (s->args != NULL) memcpy(s->args + r->at, &addr, sizeof addr);
    else bound->operand[r->at] = addr;
  }
  if (s->step.kind == CAWB_STEP_FILL) bound->addr = p->tensors[s->target].addr;
}

void cawb_plan_bind(cawb_plan *p) {
  for (int phase = 0; phase < 2; phase++) {
    plan_list *l = &p->phases[phase];
    for (size_t i = 0; i < l->count; i++) bind_step(p, &l->steps[i], &l->bound[i]);
  }
}

const cawb_step *cawb_plan_steps(const cawb_plan *p, cawb_plan_phase phase, size_t *count) {
  *count = p->phases[phase].count;
  return p->phases[phase].bound;
}

cawb_status cawb_plan_reset(cawb_plan *p, uint32_t pattern, const cawb_step **steps,
                            size_t *count, cawb_err *err) {
  const plan_list *prepare = &p->phases[CAWB_PLAN_PREPARE];
  size_t n = 0;
  free(p->reset);
  p->reset = calloc(p->ntensors + prepare->count + 1, sizeof *p->reset);
  if (p->reset == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  for (size_t i = 0; i < p->ntensors; i++) {
    const cawb_plan_tensor *t = &p->tensors[i];
    if (t->spec.bytes == 0) continue;
    if (t->role == CAWB_PLAN_OUTPUT || t->role == CAWB_PLAN_SCRATCH)
      p->reset[n++] = (cawb_step){ .kind = CAWB_STEP_FILL, .addr = t->addr, .pattern = pattern, .poison = 1,
                                   .size = (t->spec.bytes + 3) / 4 * 4 };
  }
  for (size_t i = 0; i < prepare->count; i++) p->reset[n++] = prepare->bound[i];
  *steps = p->reset;
  *count = n;
  return CAWB_OK;
}

int cawb_plan_lasts(const cawb_plan *p, size_t tensor) {
  const plan_list *prepare = &p->phases[CAWB_PLAN_PREPARE];
  if (p->tensors[tensor].role != CAWB_PLAN_SCRATCH || p->workspace == tensor + 1) return 0;
  for (size_t i = 0; i < prepare->count; i++) {
    const plan_step *s = &prepare->steps[i];
    if (s->step.kind == CAWB_STEP_FILL && s->target == tensor) return 1;
    for (size_t k = 0; k < s->nrefs; k++)
      if (s->refs[k].tensor == tensor) return 1;
  }
  return 0;
}

static int note_choice(cJSON *text, const cawb_choice *c) {
  cJSON *o = cJSON_AddObjectToObject(text, "chosen");
  return o != NULL && cJSON_AddStringToObject(o, "library", c->library) != NULL &&
         cJSON_AddNumberToObject(o, "algorithm", c->algorithm) != NULL &&
         cJSON_AddNumberToObject(o, "workspace", (double)c->workspace) != NULL &&
         cJSON_AddBoolToObject(o, "fused", c->fused) != NULL;
}

cawb_status cawb_plan_chose(cawb_plan *p, cawb_plan_phase phase, const cawb_choice *choices,
                            cawb_err *err) {
  const plan_list *l = &p->phases[phase];
  for (size_t i = 0; i < l->count; i++)
    if (choices[i].library[0] != '\0' && !note_choice(l->steps[i].text, &choices[i]))
      return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a plan");
  return CAWB_OK;
}

cJSON *cawb_plan_describe(const cawb_plan *p, cawb_plan_phase phase) {
  const plan_list *l = &p->phases[phase];
  cJSON *all = cJSON_CreateArray();
  for (size_t i = 0; all != NULL && i < l->count; i++) {
    if (cJSON_AddItemToArray(all, cJSON_Duplicate(l->steps[i].text, 1))) continue;
    cJSON_Delete(all);
    return NULL;
  }
  return all;
}

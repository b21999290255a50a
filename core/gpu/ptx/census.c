/*
** census.c - see census.h. Addresses are followed by census_follow.c; here is what is counted, and
** how it is told.
*/
#include "gpu/ptx/census.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/census_follow.h"
#include "gpu/ptx/census_kind.h"
#include "gpu/ptx/mangle.h"

typedef cawb_ptx_word word;

enum { NAME_MOST = 1024 };
static const char *const use_names[CENSUS_USES] = { "reads", "writes", "atomics", "escapes", "maybe" };

static const char *text_of(word w, char out[NAME_MOST]) {
  snprintf(out, NAME_MOST, "%.*s", (int)(w.size < NAME_MOST ? w.size : NAME_MOST - 1), w.text);
  return out;
}

static void bump(void *to, const char *group, word key) {
  char name[NAME_MOST];
  cJSON *all = cJSON_GetObjectItemCaseSensitive(to, group);
  if (all == NULL) all = cJSON_AddObjectToObject(to, group);
  cJSON *count = cJSON_GetObjectItemCaseSensitive(all, text_of(key, name));
  if (count == NULL) cJSON_AddNumberToObject(all, name, 1);
  else cJSON_SetNumberValue(count, count->valuedouble + 1);
}

static void count(void *to, const word *w, size_t n) {
  if (w[0].text[0] == '.') return;
  cJSON *all = cJSON_GetObjectItemCaseSensitive(to, "instructions");
  if (all != NULL) cJSON_SetNumberValue(all, all->valuedouble + 1);
  cawb_census_kinds(w[0], bump, to);
  if (cawb_ptx_starts(w[0], "call")) {
    word name = cawb_census_called(w, n);
    bump(to, "calls", name.text[0] == '%' ? (word){ "(pointer)", 9 } : name);
  }
  for (size_t i = 1; i < n; i++)
    if (cawb_census_telling(w[i])) bump(to, "registers", w[i]);
}

/* NVRTC marks inline assembly with a comment. */
static double inline_assembly(const char *from, const char *to) {
  static const char mark[] = "// begin inline asm";
  double n = 0;
  for (const char *s = from; (s = strstr(s, mark)) != NULL && s < to; s += sizeof mark) n++;
  return n;
}

static void put_uses(cJSON *to, const long use[CENSUS_USES]) {
  for (int i = 0; i < CENSUS_USES; i++) cJSON_AddNumberToObject(to, use_names[i], (double)use[i]);
}

/* What could not be followed, if anything. */
static void put_unknown(cJSON *to, const census_follow *c) {
  if (c->stores == 0 && c->called == 0) return;
  cJSON *o = cJSON_AddObjectToObject(to, "unknown");
  if (c->stores > 0) cJSON_AddNumberToObject(o, "stores", (double)c->stores);
  if (c->called > 0) cJSON_AddNumberToObject(o, "calls", (double)c->called);
}

/* Parameters of other kernels that it reaches, by the kernel's name and the parameter's number. */
static void put_distant(cJSON *to, const census_follow *c) {
  char text[NAME_MOST];
  cJSON *list = c->ndistant > 0 ? cJSON_AddArrayToObject(to, "distant") : NULL;
  for (size_t i = 0; i < c->ndistant; i++) {
    size_t k = 0, param = c->distant[i].param;
    const census_function *f = c->module->functions;
    while (param < f[k].first || param >= f[k].first + f[k].nparams) k++;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "function", text_of(f[k].name, text));
    cJSON_AddNumberToObject(o, "param", (double)(param - f[k].first + 1));
    put_uses(o, c->distant[i].use);
    cJSON_AddItemToArray(list, o);
  }
}

static cJSON *describe_function(census_follow *c, size_t k) {
  char text[NAME_MOST];
  const census_function *f = &c->module->functions[k];
  cJSON *o = cJSON_CreateObject();
  char *plain = cawb_mangle_plain(text_of(f->name, text));
  cJSON_AddBoolToObject(o, "entry", f->entry);
  cJSON_AddStringToObject(o, "plain", plain != NULL ? plain : text);
  cJSON_AddNumberToObject(o, "instructions", 0);
  free(plain);
  cawb_census_count(c, k, count, o);
  cJSON_AddNumberToObject(o, "asm", inline_assembly(f->body, f->end));
  put_unknown(o, c);
  put_distant(o, c);
  return o;
}

/* A function's parameters are read and written by those that it calls, too: once all are counted. */
static void describe_params(cJSON *o, const census_follow *c, size_t k) {
  const census_function *f = &c->module->functions[k];
  cJSON *list = cJSON_AddArrayToObject(o, "params");
  for (size_t i = 0; c->flow.lost == NULL && i < f->nparams; i++) {
    cJSON *p = cJSON_CreateObject();
    put_uses(p, c->objects[c->first_param + f->first + i].use);
    cJSON_AddItemToArray(list, p);
  }
}

static void describe_functions(cJSON *to, census_follow *c) {
  char text[NAME_MOST];
  const census_module *m = c->module;
  for (size_t k = 0; k < m->nfunctions; k++)
    if (m->functions[k].body != NULL)
      cJSON_AddItemToObject(to, text_of(m->functions[k].name, text), describe_function(c, k));
  cJSON *o = to != NULL ? to->child : NULL;
  for (size_t k = 0; k < m->nfunctions && o != NULL; k++) {
    if (m->functions[k].body == NULL) continue;
    describe_params(o, c, k);
    o = o->next;
  }
}

/* Headers bring hundreds of variables along that nothing names: these are left out. */
static void describe_variables(cJSON *to, const census_follow *c) {
  char text[NAME_MOST];
  for (size_t i = 0; i < c->module->nvariables; i++) {
    const census_variable *v = &c->module->variables[i];
    const census_object *o = &c->objects[c->first_variable + i];
    if (strcmp(v->space, "shared") == 0 || (c->flow.lost == NULL && !o->mentioned)) continue;
    cJSON *one = cJSON_AddObjectToObject(to, text_of(v->name, text));
    cJSON_AddStringToObject(one, "space", v->space);
    cJSON_AddNumberToObject(one, "bytes", (double)v->bytes);
    cJSON_AddBoolToObject(one, "initialised", v->values != NULL);
    if (c->flow.lost == NULL) put_uses(one, o->use);
  }
}

static void describe(cJSON *out, census_follow *c) {
  describe_functions(cJSON_AddObjectToObject(out, "functions"), c);
  describe_variables(cJSON_AddObjectToObject(out, "variables"), c);
  if (c->flow.lost != NULL) cJSON_AddStringToObject(out, "lost", c->flow.lost);
}

cawb_status cawb_census_new(cJSON **out, const char *ptx, cawb_err *err) {
  census_module module;
  census_follow follow = { 0 };
  *out = cJSON_CreateObject();
  int ok = cawb_census_module_read(&module, ptx) && cawb_census_follow(&follow, &module) && *out != NULL;
  if (ok) describe(*out, &follow);
  cawb_census_follow_end(&follow);
  cawb_census_module_free(&module);
  if (ok) return CAWB_OK;
  cJSON_Delete(*out);
  *out = NULL;
  return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the census of a module");
}

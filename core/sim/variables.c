/* variables.c - see variables.h. */
#include "sim/variables.h"

#include <stdlib.h>
#include <string.h>

#include "sim/parse/module.h"

/* The values follow each other in the order of the variables; kernels do not store to constant ones. */
static sim_region *kept(const cawb_module *m, size_t i) {
  sim_region *r = sim_region_at(m->device, m->variables[i]);
  return r != NULL && !r->constant ? r : NULL;
}

cawb_status sim_variables_keep(cawb_module *m, cawb_err *err) {
  size_t size = 0, at = 0;
  for (size_t i = 0; i < m->nvariables; i++) size += kept(m, i) != NULL ? kept(m, i)->size : 0;
  if (size == 0) return CAWB_OK;
  m->initial = malloc(size);
  if (m->initial == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for module variables");
  for (size_t i = 0; i < m->nvariables; i++) {
    const sim_region *r = kept(m, i);
    if (r == NULL) continue;
    memcpy(m->initial + at, r->host, r->size);
    at += r->size;
  }
  return CAWB_OK;
}

void sim_variables_restore(cawb_module *m) {
  size_t at = 0;
  for (size_t i = 0; m != NULL && m->initial != NULL && i < m->nvariables; i++) {
    sim_region *r = kept(m, i);
    if (r == NULL) continue;
    memcpy(r->host, m->initial + at, r->size);
    at += r->size;
  }
}

cawb_status sim_variables_changed(cawb_device *d, cawb_module *m, char *names, size_t room, cawb_err *err) {
  static const char label[] = "variable ";
  size_t at = 0;
  (void)d;
  (void)err;
  for (size_t i = 0; m->initial != NULL && i < m->nvariables; i++) {
    const sim_region *r = kept(m, i);
    if (r == NULL) continue;
    if (memcmp(r->host, m->initial + at, r->size) != 0)
      cawb_device_name(names, room, r->label + (strncmp(r->label, label, sizeof label - 1) == 0 ? sizeof label - 1 : 0));
    at += r->size;
  }
  return CAWB_OK;
}

cawb_status sim_variables_find(cawb_device *d, const cawb_module *m, const char *name, cawb_addr *at, size_t *size,
                               cawb_err *err) {
  (void)d;
  for (size_t i = 0; i < m->nvariables; i++)
    if (strcmp(m->names[i], name) == 0) {
      *at = m->variables[i];
      *size = sim_region_at(m->device, *at)->size;
      return CAWB_OK;
    }
  return cawb_fail(err, CAWB_ERR_MISSING, "the compiled code has no variable '%.200s'", name);
}

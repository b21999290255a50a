/* lines.c - see lines.h. A kernel has some hundred lines: they are searched one by one. */
#include "gpu/device/lines.h"

#include <stdlib.h>
#include <string.h>

static cawb_status no_memory(cawb_err *err) {
  return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for the samples of lines");
}

cawb_status cawb_lines_begin(cawb_lines *l, const char *const *reasons, size_t n,
                             cawb_err *err) {
  cawb_lines_free(l);
  l->reasons = calloc(n + 1, sizeof *l->reasons);
  if (l->reasons == NULL) return no_memory(err);
  for (; l->nreasons < n; l->nreasons++)
    if ((l->reasons[l->nreasons] = strdup(reasons[l->nreasons])) == NULL) return no_memory(err);
  return CAWB_OK;
}

static void free_line(cawb_line *at) {
  free(at->kernel);
  free(at->file);
  free(at->samples);
}

void cawb_lines_free(cawb_lines *l) {
  for (size_t i = 0; i < l->count; i++) free_line(&l->list[i]);
  for (size_t i = 0; i < l->nreasons; i++) free(l->reasons[i]);
  free(l->list);
  free(l->reasons);
  *l = (cawb_lines){ 0 };
}

static cawb_line *find(const cawb_lines *l, const char *kernel, const char *file,
                       unsigned number) {
  for (size_t i = l->count; i-- > 0;) {       /* neighbours come one after the other */
    cawb_line *at = &l->list[i];
    if (at->number == number && strcmp(at->file, file) == 0 && strcmp(at->kernel, kernel) == 0)
      return at;
  }
  return NULL;
}

static cawb_line *append(cawb_lines *l, const char *kernel, const char *file, unsigned number) {
  if ((l->count & (l->count - 1)) == 0) {     /* full at every power of two */
    size_t room = l->count > 0 ? 2 * l->count : 1;
    cawb_line *grown = realloc(l->list, room * sizeof *grown);
    if (grown == NULL) return NULL;
    l->list = grown;
  }
  cawb_line new = { strdup(kernel), strdup(file), number,
                    calloc(l->nreasons + 1, sizeof *new.samples), { 0 } };
  if (new.kernel == NULL || new.file == NULL || new.samples == NULL) {
    free_line(&new);
    return NULL;
  }
  l->list[l->count] = new;
  return &l->list[l->count++];
}

static cawb_line *find_or_append(cawb_lines *l, const char *kernel, const char *file, unsigned number) {
  cawb_line *at = find(l, kernel, file, number);
  return at != NULL ? at : append(l, kernel, file, number);
}

cawb_status cawb_lines_add(cawb_lines *l, const char *kernel, const char *file,
                           unsigned number, size_t reason, uint64_t samples, cawb_err *err) {
  if (reason >= l->nreasons)
    return cawb_fail(err, CAWB_ERR_INVALID, "a sample for a reason that has no name");
  cawb_line *at = find_or_append(l, kernel, file, number);
  if (at == NULL) return no_memory(err);
  at->samples[reason] += samples;
  return CAWB_OK;
}

cawb_status cawb_lines_add_traffic(cawb_lines *l, const char *kernel, const char *file,
                                   unsigned number, const uint64_t *traffic, cawb_err *err) {
  cawb_line *at = find_or_append(l, kernel, file, number);
  if (at == NULL) return no_memory(err);
  for (unsigned i = 0; i < CAWB_LINE_TRAFFIC; i++) at->traffic[i] += traffic[i];
  return CAWB_OK;
}

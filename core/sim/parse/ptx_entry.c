/* ptx_entry.c - kernels: name, parameters, bounds, body. */
#include "gpu/ptx/mangle.h"
#include "sim/parse/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

static char *copy_name(ptx_parser *p, const char *name, size_t size) {
  char *s = malloc(size + 1);
  if (s == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a name");
  memcpy(s, name, size);
  s[size] = '\0';
  return s;
}

static void read_bounds(ptx_parser *p) {
  uint32_t *most = NULL, product = 1, number[3] = { 1, 1, 1 }, n = 0;
  if (ptx_is(p, ".maxntid") || ptx_is(p, ".reqntid")) most = &p->f->max_threads;
  int cluster = ptx_is(p, ".reqnctapercluster");
  ptx_next(p);
  while (p->tok.kind == PTX_INT) {
    product *= (uint32_t)p->tok.value;
    if (n < 3) number[n++] = (uint32_t)p->tok.value;
    ptx_next(p);
    if (!ptx_take(p, ',')) break;
  }
  if (most != NULL) *most = product;
  if (cluster && n > 0) memcpy(p->f->cluster, number, sizeof number);
}

static void read_entry(ptx_parser *p, const ptx_body *b) {
  sim_function *f = calloc(1, sizeof *f);
  if (f == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a kernel");
  f->next = p->module->functions;
  p->module->functions = p->f = f;
  f->grain = 2;
  p->lex = b->at;
  p->line = p->file = 0;
  p->mnemonic.size = 0;
  uint32_t symbols = p->nsymbols;
  ptx_next(p);
  f->name = copy_name(p, p->tok.text, p->tok.size);
  f->plain = cawb_mangle_plain(f->name);
  if (f->plain == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a name");
  ptx_next(p);
  ptx_declare_params(p);
  while (p->tok.kind == PTX_NAME) read_bounds(p);
  ptx_body_parse(p);
  ptx_recurse_finish(p);
  ptx_symbols_cut(p, symbols);
}

void ptx_function_free(sim_function *f) {
  free(f->name);
  free(f->plain);
  free(f->code);
  free(f->prices);
  free(f->consts);
  free(f->extras);
  free(f->frames);
  free(f->saved);
  free(f->uninitialised);
  free(f->unknown);
  free(f);
}

/* Once more where a function turned out to call itself. */
void ptx_entries_read(ptx_parser *p) {
  for (uint32_t i = 0; i < p->nentries; i++) {
    p->again = 0;
    ptx_recurse_forget(p);
    read_entry(p, &p->entries[i]);
    if (!p->again) continue;
    p->module->functions = p->f->next;
    ptx_function_free(p->f);
    p->f = NULL;
    i--;
  }
}

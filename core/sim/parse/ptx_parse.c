/*
** ptx_parse.c - the shape of a PTX module. A first pass declares variables and
** notes where functions begin; the second fills each entry, with the functions
** it calls expanded in place.
*/
#include "sim/parse/ptx_parse.h"
#include "sim/instructions/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `list` with room for one more than `count`. */
void *ptx_grow(ptx_parser *p, void *list, uint32_t count, uint32_t *room, size_t size) {
  if (count < *room) return list;
  uint32_t wanted = *room == 0 ? 32 : *room * 2;
  if (wanted > 1u << 24) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "the program is too long");
  void *grown = realloc(list, wanted * size);
  if (grown == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for the program");
  *room = wanted;
  return grown;
}

void ptx_next(ptx_parser *p) {
  ptx_lex(&p->lex, &p->tok);
  if (p->tok.kind == PTX_BAD) ptx_fail(p, CAWB_ERR_INVALID, "%s", p->tok.text);
}

int ptx_at(const ptx_parser *p, char c) {
  return p->tok.kind == PTX_PUNCT && *p->tok.text == c;
}

int ptx_take(ptx_parser *p, char c) {
  if (!ptx_at(p, c)) return 0;
  ptx_next(p);
  return 1;
}

void ptx_expect(ptx_parser *p, char c) {
  if (ptx_take(p, c)) return;
  if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends where '%c' is due", c);
  ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' where '%c' is due",
           (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text, c);
}

int ptx_is(const ptx_parser *p, const char *name) {
  return p->tok.kind == PTX_NAME && p->tok.size == strlen(name) &&
         memcmp(p->tok.text, name, p->tok.size) == 0;
}

/* ---------------------------------------------------------------- scopes */

static void resolve(ptx_parser *p, uint32_t first_label, uint32_t first_fixup) {
  uint32_t kept = first_fixup;
  for (uint32_t i = first_fixup; i < p->nfixups; i++) {
    const ptx_fixup *x = &p->fixups[i];
    uint32_t l = p->nlabels;
    while (l > first_label && !(p->labels[l - 1].size == x->size &&
                                memcmp(p->labels[l - 1].name, x->name, x->size) == 0)) l--;
    if (l > first_label) p->f->code[x->insn].target = p->labels[l - 1].pc;
    else p->fixups[kept++] = *x;
  }
  p->nfixups = kept;
  p->nlabels = first_label;
}

static void add_label(ptx_parser *p, const char *name, size_t size) {
  p->labels = ptx_grow(p, p->labels, p->nlabels, &p->labels_room, sizeof *p->labels);
  p->labels[p->nlabels++] = (ptx_label){ name, size, p->f->count };
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
static void read_loc(ptx_parser *p) {
  uint32_t number[3] = { 0, 0, 0 };
  for (int i = 0; i < 3; i++, ptx_next(p))
    if (p->tok.kind == PTX_INT) number[i] = (uint32_t)p->tok.value;
    else ptx_fail(p, CAWB_ERR_INVALID, ".loc needs a file, a line and a column");
  if (p->file == 0) p->file = number[0];
  int settled = number[0] == p->file && number[1] != 0;
  if (settled) p->line = number[1];
  while (ptx_take(p, ',')) {
    if (ptx_is(p, "inlined_at")) {
      ptx_next(p);
      for (int i = 0; i < 3; i++, ptx_next(p))
        if (p->tok.kind == PTX_INT) number[i] = (uint32_t)p->tok.value;
        else ptx_fail(p, CAWB_ERR_INVALID, "inlined_at needs a file, a line and a column");
      if (!settled && number[0] == p->file && number[1] != 0) p->line = number[1];
    } else {
      ptx_next(p);
      if (p->tok.kind == PTX_NAME) ptx_next(p);
      if (ptx_take(p, '+')) ptx_next(p);
    }
  }
}

void ptx_skip_to(ptx_parser *p, char c) {
  while (!ptx_at(p, c)) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a statement");
    ptx_next(p);
  }
  ptx_next(p);
}

static int take_name(ptx_parser *p, const char *name) {
  if (!ptx_is(p, name)) return 0;
  ptx_next(p);
  return 1;
}

static void read_one(ptx_parser *p);

/* `$L_x: .branchtargets $L1, $L2;` becomes marked no-ops that hold a target each: see brx. */
static void read_targets(ptx_parser *p) {
  do {
    if (p->tok.kind != PTX_NAME) ptx_fail(p, CAWB_ERR_INVALID, ".branchtargets needs labels");
    ptx_emit(p, SIM_OP_target, NULL);
    ptx_jump_to(p, p->tok.text, p->tok.size);
    ptx_next(p);
  } while (ptx_take(p, ','));
  ptx_expect(p, ';');
}

static void read_scope(ptx_parser *p) {
  uint32_t symbols = p->nsymbols, labels = p->nlabels, fixups = p->nfixups;
  if (++p->depth > PTX_DEPTH) ptx_fail(p, CAWB_ERR_INVALID, "blocks are nested too deeply");
  while (!ptx_at(p, '}')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a function");
    read_one(p);
  }
  p->depth--;
  resolve(p, labels, fixups);
  ptx_symbols_cut(p, symbols);
}

static void read_directive(ptx_parser *p) {
  if (take_name(p, ".reg")) ptx_declare_registers(p);
  else if (take_name(p, ".shared")) ptx_declare_variable(p, SIM_SHARED, 0);
  else if (take_name(p, ".local")) ptx_declare_variable(p, SIM_LOCAL, 0);
  else if (take_name(p, ".param")) ptx_declare_variable(p, SIM_PARAM, 0);
  else if (take_name(p, ".global")) ptx_declare_variable(p, SIM_GLOBAL, 0);
  else if (take_name(p, ".const")) ptx_declare_variable(p, SIM_CONST, 0);
  else if (take_name(p, ".loc")) read_loc(p);
  else if (take_name(p, ".branchtargets")) read_targets(p);
  else if (ptx_is(p, ".pragma") || ptx_is(p, ".callprototype")) ptx_skip_to(p, ';');
  else ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' is not known inside a function",
                (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text);
}

/* Apart from read_one, whose place on the stack scopes within scopes have many of. */
__attribute__((noinline)) static void read_statement(ptx_parser *p) {
  ptx_statement s;
  ptx_statement_read(p, &s);
  ptx_decode(p, &s);
}

static void read_one(ptx_parser *p) {
  p->mnemonic.size = 0;
  if (ptx_take(p, '{')) {
    read_scope(p);
    ptx_expect(p, '}');
    return;
  }
  if (ptx_take(p, ';')) return;
  if (p->tok.kind == PTX_NAME && *p->tok.text == '.') { read_directive(p); return; }
  if (p->tok.kind == PTX_NAME) {
    ptx_lexer ahead = p->lex;
    ptx_token colon;
    ptx_lex(&ahead, &colon);
    if (colon.kind == PTX_PUNCT && *colon.text == ':') {
      add_label(p, p->tok.text, p->tok.size);
      p->lex = ahead;
      ptx_next(p);
      return;
    }
  }
  read_statement(p);
}

/* { ... }, with every `ret` inside an expanded function leading to its end. */
void ptx_body_parse(ptx_parser *p) {
  uint32_t symbols = p->nsymbols, labels = p->nlabels, fixups = p->nfixups;
  ptx_expect(p, '{');
  while (!ptx_at(p, '}')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a function");
    read_one(p);
  }
  add_label(p, PTX_RETURN, sizeof PTX_RETURN - 1);
  if (p->inlined == 0) ptx_emit(p, SIM_OP_exit, NULL);
  resolve(p, labels, fixups);
  if (p->nfixups > fixups)
    ptx_fail(p, CAWB_ERR_INVALID, "no label '%.*s' (used for source line %u)",
             (int)p->fixups[fixups].size, p->fixups[fixups].name, p->fixups[fixups].line);
  ptx_symbols_cut(p, symbols);
}

/* ---------------------------------------------------------------- module */

static void skip_braces(ptx_parser *p) {
  unsigned depth = 0;
  do {
    if (ptx_at(p, '{')) depth++;
    if (ptx_at(p, '}')) depth--;
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a function");
    ptx_next(p);
  } while (depth > 0);
}

static void skip_parens(ptx_parser *p) {
  while (!ptx_at(p, ')')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a signature");
    ptx_next(p);
  }
  ptx_next(p);
}

/* Note where an entry or a function with a body begins, and go past it. */
static void note_function(ptx_parser *p, int is_entry) {
  ptx_body b;
  ptx_lexer start = p->lex;
  start.at = p->tok.text;
  start.line = p->tok.line;
  b.at = start;
  if (ptx_at(p, '(')) skip_parens(p);
  if (p->tok.kind != PTX_NAME) ptx_fail(p, CAWB_ERR_INVALID, "a function needs a name");
  b.name = p->tok.text;
  b.size = p->tok.size;
  b.open = b.recursive = 0;
  b.frame = b.nresults = b.nformals = b.formals_room = 0;
  b.formals = NULL;
  if (!is_entry) ptx_function_declare(p, b.name, b.size);
  ptx_next(p);
  if (ptx_take(p, '(')) skip_parens(p);
  while (!ptx_at(p, '{') && !ptx_at(p, ';')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends before a function's body");
    ptx_next(p);
  }
  if (ptx_take(p, ';')) return;
  skip_braces(p);
  if (is_entry) {
    p->entries = ptx_grow(p, p->entries, p->nentries, &p->entries_room, sizeof *p->entries);
    p->entries[p->nentries++] = b;
  } else {
    p->bodies = ptx_grow(p, p->bodies, p->nbodies, &p->bodies_room, sizeof *p->bodies);
    p->bodies[p->nbodies++] = b;
  }
}

static void read_top(ptx_parser *p) {
  int is_extern = 0;
  for (;;) {
    if (take_name(p, ".extern")) is_extern = 1;
    else if (!take_name(p, ".visible") && !take_name(p, ".weak") && !take_name(p, ".common")) break;
  }
  if (take_name(p, ".entry")) note_function(p, 1);
  else if (take_name(p, ".func")) note_function(p, 0);
  else if (take_name(p, ".global")) ptx_declare_variable(p, SIM_GLOBAL, is_extern);
  else if (take_name(p, ".const")) ptx_declare_variable(p, SIM_CONST, is_extern);
  else if (take_name(p, ".shared")) ptx_declare_variable(p, SIM_SHARED, is_extern);
  else if (ptx_is(p, ".section")) {
    while (!ptx_at(p, '{') && p->tok.kind != PTX_END) ptx_next(p);
    skip_braces(p);
  } else if (ptx_is(p, ".version") || ptx_is(p, ".address_size") || ptx_is(p, ".target")) {
    do ptx_next(p), ptx_next(p); while (ptx_at(p, ','));
  } else if (ptx_is(p, ".file")) {
    ptx_next(p);
    while (p->tok.kind == PTX_INT || p->tok.kind == PTX_STRING || ptx_at(p, ',')) ptx_next(p);
  } else if (ptx_is(p, ".pragma") || ptx_is(p, ".alias")) ptx_skip_to(p, ';');
  else ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' is not known at the top of a module",
                (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text);
}

static void read_module(ptx_parser *p, const char *ptx) {
  p->lex = (ptx_lexer){ ptx, 1 };
  ptx_opnames_fill(p);
  ptx_next(p);
  if (!ptx_is(p, ".version"))
    ptx_fail(p, CAWB_ERR_INVALID, "this is not PTX: it does not begin with .version");
  p->begun = 1;
  while (p->tok.kind != PTX_END) read_top(p);
  ptx_entries_read(p);
}

cawb_status sim_module_parse(sim_device *d, const char *ptx, cawb_module **out, cawb_err *err) {
  *out = NULL;
  ptx_parser *p = calloc(1, sizeof *p);
  cawb_module *m = calloc(1, sizeof *m);
  if (p == NULL || m == NULL) {
    free(p);
    free(m);
    return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a module");
  }
  p->device = m->device = d;
  p->module = m;
  p->err = err;
  if (setjmp(p->unwind) == 0) read_module(p, ptx);
  cawb_status status = p->status;
  if (status == CAWB_OK) *out = p->module;
  else sim_module_free(p->module);
  free(p->symbols);
  free(p->labels);
  free(p->fixups);
  for (uint32_t i = 0; i < p->nbodies; i++) free(p->bodies[i].formals);
  free(p->bodies);
  free(p->names);
  free(p->entries);
  free(p);
  return status;
}

void sim_module_free(cawb_module *m) {
  while (m->functions != NULL) {
    sim_function *f = m->functions;
    m->functions = f->next;
    ptx_function_free(f);
  }
  for (size_t i = 0; i < m->nvariables; i++) {
    sim_region_drop(m->device, m->variables[i]);
    free(m->names[i]);
  }
  free(m->variables);
  free(m->names);
  free(m->initial);
  free(m);
}

sim_function *sim_module_find(const cawb_module *m, const char *name) {
  sim_function *f = m->functions;
  while (f != NULL && strcmp(f->name, name) != 0) f = f->next;
  return f;
}

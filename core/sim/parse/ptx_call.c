/*
** ptx_call.c - a call expands the function's body where it stands, with the
** formal parameters bound to the caller's; but for functions that call themselves, or are
** called from too deep: see ptx_recurse.c. A call through a pointer expands every function that
** it may mean, behind a comparison.
*/
#include "sim/parse/ptx_parse.h"
#include "sim/instructions/ops.h"

#include <string.h>

enum { ARGS = 64, INLINE_DEPTH = 24, CODE_MAX = 1 << 20 };

typedef ptx_actuals actuals;

/* `(a, b)`: parameter variables. */
static void read_list(ptx_parser *p, actuals *list) {
  while (!ptx_at(p, ')')) {
    uint32_t i = p->tok.kind == PTX_NAME ? ptx_symbol_find(p, p->tok.text, p->tok.size) : 0;
    if (i == 0 || p->symbols[i - 1].kind != PTX_VARIABLE || list->count == ARGS)
      ptx_fail(p, CAWB_ERR_UNSUPPORTED, "a call's arguments must be .param variables, %d at most", ARGS);
    list->symbol[list->count++] = i;
    ptx_next(p);
    if (!ptx_take(p, ',')) break;
  }
  ptx_expect(p, ')');
}

/* `(.param .b32 a, ...)` of the callee: the same places under the callee's names. */
static void bind_list(ptx_parser *p, actuals *list) {
  while (!ptx_at(p, ')')) {
    ptx_token name = p->tok;
    while (!ptx_at(p, ',') && !ptx_at(p, ')')) {
      if (p->tok.kind == PTX_NAME && *p->tok.text != '.') name = p->tok;
      if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a signature");
      ptx_next(p);
    }
    if (list->next == list->count) ptx_fail(p, CAWB_ERR_INVALID, "a call has too few arguments");
    ptx_symbol actual = p->symbols[list->symbol[list->next++] - 1];
    ptx_symbol *s = ptx_symbol_add(p, name.text, name.size);
    s->kind = PTX_VARIABLE;
    s->space = actual.space;
    s->offset = actual.offset;
    if (!ptx_take(p, ',')) break;
  }
  ptx_expect(p, ')');
}

/* One that is being expanded already calls itself: the entry is read again, with that known. */
static void expand(ptx_parser *p, ptx_body *b, actuals *results, actuals *args) {
  ptx_lexer back = p->lex;
  ptx_token tok = p->tok;
  uint32_t line = p->line, file = p->file, symbols = p->nsymbols;
  if (!b->recursive && (b->open || p->inlined == INLINE_DEPTH)) b->recursive = p->again = 1;
  if (p->again) return;
  if (b->recursive) {
    ptx_recurse_call(p, b, results, args);
    return;
  }
  p->inlined++;
  b->open = 1;
  p->lex = b->at;
  p->file = 0;
  ptx_next(p);
  if (ptx_take(p, '(')) bind_list(p, results);
  ptx_next(p);
  if (ptx_take(p, '(')) bind_list(p, args);
  while (!ptx_at(p, '{')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends before a function's body");
    ptx_next(p);
  }
  ptx_body_parse(p);
  if (p->f->count > CODE_MAX) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "the calls expand to too much code");
  p->inlined--;
  b->open = 0;
  ptx_symbols_cut(p, symbols);
  p->lex = back;
  p->tok = tok;
  p->line = line;
  p->file = file;
}

static int is(const ptx_word *w, const char *s) {
  return strlen(s) == w->size && memcmp(w->text, s, w->size) == 0;
}

/* A guarded call jumps around the body. */
static uint32_t begin_guard(ptx_parser *p, const ptx_statement *s) {
  if (s->guard == SIM_NOGUARD) return UINT32_MAX;
  sim_insn *in = ptx_emit(p, SIM_OP_bra, s);
  in->guard_not = ~in->guard_not;
  return p->f->count - 1;
}

/* p->nbodies if there is none. */
static uint32_t find_body(const ptx_parser *p, const char *name, size_t size) {
  uint32_t i = 0;
  while (i < p->nbodies && !(p->bodies[i].size == size && memcmp(p->bodies[i].name, name, size) == 0)) i++;
  return i;
}

/* ------------------------------------------------------------------ pointers */

/* A function's address is its number among those declared, in a window of its own. */
uint64_t ptx_function_address(const ptx_parser *p, const char *name, size_t size) {
  for (uint32_t i = 0; i < p->nnames; i++)
    if (p->names[i].size == size && memcmp(p->names[i].text, name, size) == 0)
      return SIM_WINDOW(SIM_FUNCTIONS) + 16 * ((uint64_t)i + 1);
  return 0;
}

void ptx_function_declare(ptx_parser *p, const char *name, size_t size) {
  if (ptx_function_address(p, name, size) != 0) return;
  p->names = ptx_grow(p, p->names, p->nnames, &p->names_room, sizeof *p->names);
  p->names[p->nnames++] = (ptx_word){ name, size };
}

/* Parameters in a list in parentheses, which `lex` goes past; tok is its first token. */
static unsigned count_list(ptx_lexer *lex, ptx_token *tok) {
  unsigned commas = 0, any = 0;
  if (tok->kind != PTX_PUNCT || *tok->text != '(') return 0;
  for (ptx_lex(lex, tok); tok->kind != PTX_END && !(tok->kind == PTX_PUNCT && *tok->text == ')'); ptx_lex(lex, tok)) {
    any = 1;
    commas += tok->kind == PTX_PUNCT && *tok->text == ',';
  }
  ptx_lex(lex, tok);
  return any ? commas + 1 : 0;
}

static int same_shape(const ptx_body *b, const actuals *results, const actuals *args) {
  ptx_lexer lex = b->at;
  ptx_token tok;
  ptx_lex(&lex, &tok);
  unsigned given = count_list(&lex, &tok);
  ptx_lex(&lex, &tok);                         /* its name */
  return given == results->count && count_list(&lex, &tok) == args->count;
}

/* A jump past what follows where `target` is another function; returns its place. */
static uint32_t emit_unless(ptx_parser *p, sim_ref target, uint64_t address) {
  sim_ref other = ptx_sink(p), id = ptx_value(p, 8, address);
  sim_insn *in = ptx_emit(p, SIM_OP_setp_u64, NULL);
  in->r[0] = other;
  in->r[1] = target;
  in->r[2] = id;
  in->cmp = SIM_NE;
  ptx_emit(p, SIM_OP_bra, NULL)->guard = other.off;
  return p->f->count - 1;
}

/* Every function of this shape; the jumps to the end are a chain through `imm`. */
static void expand_any(ptx_parser *p, sim_ref target, const actuals *results, const actuals *args) {
  uint32_t chain = UINT32_MAX;
  for (uint32_t i = 0; i < p->nbodies; i++) {
    ptx_body *b = &p->bodies[i];
    if (!same_shape(b, results, args)) continue;
    actuals to = *results, from = *args;
    uint32_t past = emit_unless(p, target, ptx_function_address(p, b->name, b->size));
    expand(p, b, &to, &from);
    ptx_emit(p, SIM_OP_bra, NULL)->target = chain;
    chain = p->f->count - 1;
    p->f->code[past].target = p->f->count;
  }
  ptx_emit(p, SIM_OP_trap, NULL);
  while (chain != UINT32_MAX) {
    uint32_t next = (uint32_t)p->f->code[chain].target;
    p->f->code[chain].target = p->f->count;
    chain = next;
  }
}

/* An access to a .param variable, of as many bytes as the register's lanes have. */
static void emit_param(ptx_parser *p, int op, uint32_t symbol, sim_ref data, unsigned bytes) {
  sim_ref at = ptx_value(p, 8, p->symbols[symbol - 1].offset);
  sim_insn *in = ptx_emit(p, op, NULL);
  in->r[0] = data;
  in->r[1] = at;
  in->space = SIM_LOCAL;
  in->wide = 2;
  in->vec = 1;
  in->width = in->lane = (uint8_t)bytes;
}

/* n = vprintf(format, arguments): see sim/access/print.c. */
static void emit_print(ptx_parser *p, const actuals *results, const actuals *args) {
  if (args->count != 2 || results->count > 1) ptx_fail(p, CAWB_ERR_INVALID, "vprintf has a format and its arguments");
  sim_ref format = ptx_sink(p), list = ptx_sink(p), made = ptx_sink(p);
  emit_param(p, SIM_OP_ld_local, args->symbol[0], format, 8);
  emit_param(p, SIM_OP_ld_local, args->symbol[1], list, 8);
  sim_insn *in = ptx_emit(p, SIM_OP_print, NULL);
  in->r[0] = made;
  in->r[1] = format;
  in->r[2] = list;
  if (results->count > 0) emit_param(p, SIM_OP_st_local, results->symbol[0], made, 4);
}

/* p = malloc(n); free(p): see sim/access/heap.c. */
static void emit_heap(ptx_parser *p, const actuals *results, const actuals *args, int frees) {
  if (args->count != 1 || results->count != (frees ? 0u : 1u))
    ptx_fail(p, CAWB_ERR_INVALID, "malloc and free have one argument");
  sim_ref given = ptx_sink(p), made = ptx_sink(p);
  emit_param(p, SIM_OP_ld_local, args->symbol[0], given, 8);
  sim_insn *in = ptx_emit(p, frees ? SIM_OP_heap_free : SIM_OP_heap_alloc, NULL);
  in->r[1] = given;
  p->f->heap = 1;
  if (frees) return;
  in->r[0] = made;
  emit_param(p, SIM_OP_st_local, results->symbol[0], made, 8);
}

/* What every GPU brings along. 0: it is none of that. */
static int call_builtin(ptx_parser *p, const ptx_word *name, const actuals *results, const actuals *args) {
  if (is(name, "__assertfail")) ptx_emit(p, SIM_OP_assertion, NULL);
  else if (is(name, "vprintf")) emit_print(p, results, args);
  else if (is(name, "malloc")) emit_heap(p, results, args, 0);
  else if (is(name, "free")) emit_heap(p, results, args, 1);
  else return 0;
  return 1;
}

void ptx_call(ptx_parser *p, const ptx_statement *s) {
  actuals results = { .count = 0 }, args = { .count = 0 };
  if (ptx_take(p, '(')) {
    read_list(p, &results);
    ptx_expect(p, ',');
  }
  ptx_word name = { p->tok.text, p->tok.size };
  ptx_operand target = { 0 };
  int direct = p->tok.kind == PTX_NAME && *p->tok.text != '%';
  if (direct) ptx_next(p);
  else ptx_name_read(p, &target);
  if (ptx_take(p, ',') && ptx_take(p, '(')) read_list(p, &args);
  while (!ptx_at(p, ';') && p->tok.kind != PTX_END) ptx_next(p);
  ptx_expect(p, ';');
  uint32_t around = begin_guard(p, s), i = find_body(p, name.text, name.size);
  if (direct && i == p->nbodies && call_builtin(p, &name, &results, &args)) i = 0;
  else if (!direct && (target.kind != PTX_O_REG || target.bytes != 8))
    ptx_fail(p, CAWB_ERR_INVALID, "a call needs a function or a 64-bit register");
  else if (!direct) expand_any(p, target.ref, &results, &args);
  else if (i == p->nbodies) ptx_unknown(p, name.text, name.size);
  else expand(p, &p->bodies[i], &results, &args);
  if (around != UINT32_MAX) p->f->code[around].target = p->f->count;
}

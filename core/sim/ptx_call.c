/*
** ptx_call.c - a call expands the function's body where it stands, with the
** formal parameters bound to the caller's. Recursion is therefore refused.
*/
#include "ptx_parse.h"
#include "ops.h"

#include <string.h>

enum { ARGS = 64, INLINE_DEPTH = 24, CODE_MAX = 1 << 20 };

typedef struct actuals {
  uint32_t symbol[ARGS];
  unsigned count, next;
} actuals;

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

static int expand(ptx_parser *p, const ptx_body *b, actuals *results, actuals *args) {
  ptx_lexer back = p->lex;
  ptx_token tok = p->tok;
  uint32_t line = p->line, file = p->file, symbols = p->nsymbols;
  if (++p->inlined > INLINE_DEPTH) return 0;
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
  ptx_symbols_cut(p, symbols);
  p->lex = back;
  p->tok = tok;
  p->line = line;
  p->file = file;
  return 1;
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

int ptx_is_function(const ptx_parser *p, const char *name, size_t size) {
  return find_body(p, name, size) < p->nbodies;
}

void ptx_call(ptx_parser *p, const ptx_statement *s) {
  actuals results = { .count = 0 }, args = { .count = 0 };
  if (ptx_take(p, '(')) {
    read_list(p, &results);
    ptx_expect(p, ',');
  }
  ptx_word name = { p->tok.text, p->tok.size };
  int direct = p->tok.kind == PTX_NAME && *p->tok.text != '%';
  ptx_next(p);
  if (ptx_take(p, ',') && ptx_take(p, '(')) read_list(p, &args);
  int indirect = ptx_take(p, ',');
  while (!ptx_at(p, ';') && p->tok.kind != PTX_END) ptx_next(p);
  ptx_expect(p, ';');
  uint32_t around = begin_guard(p, s), i = find_body(p, name.text, name.size);
  if (is(&name, "__assertfail")) ptx_emit(p, SIM_OP_assertion, NULL);
  else if (is(&name, "vprintf")) ptx_emit(p, SIM_OP_nop, NULL);
  else if (!direct || indirect) ptx_unknown(p, "call through a pointer", 22);
  else if (i == p->nbodies) ptx_unknown(p, name.text, name.size);
  else if (!expand(p, &p->bodies[i], &results, &args))
    ptx_fail(p, CAWB_ERR_UNSUPPORTED, "'%.*s' calls itself, or calls nest more than %d deep: "
             "calls are expanded",
             (int)(name.size < 80 ? name.size : 80), name.text, INLINE_DEPTH);
  if (around != UINT32_MAX) p->f->code[around].imm = p->f->count;
}

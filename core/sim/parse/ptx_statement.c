/* ptx_statement.c - one statement: guard, mnemonic, operands. */
#include "sim/parse/ptx_parse.h"

#include <stddef.h>
#include <string.h>

static void resolve_register(const ptx_symbol *s, const char *name, size_t size, ptx_operand *o) {
  uint32_t n = 0;
  o->kind = PTX_O_REG;
  o->bytes = s->bytes;
  o->ref.base = SIM_REGS;
  if (s->family)
    for (size_t i = s->size; i < size; i++) n = n * 10 + (uint32_t)(name[i] - '0');
  o->ref.off = (uint32_t)s->offset + n * (s->bytes == 0 ? 4u : s->bytes * SIM_LANES);
}

/* %r1.b0, %r1.h1: the part's number, and the name without it; 0: it is no part of a register. */
static uint8_t part_of(const char *text, size_t *size) {
  size_t n = *size;
  if (n < 4 || text[n - 3] != '.' || (text[n - 2] != 'b' && text[n - 2] != 'h')) return 0;
  int bytes = text[n - 2] == 'b', which = text[n - 1] - '0';
  if (which < 0 || which > (bytes ? 3 : 1)) return 0;
  *size = n - 3;
  return (uint8_t)((bytes ? 1 : 5) + which);
}

void ptx_name_read(ptx_parser *p, ptx_operand *o) {
  const char *text = p->tok.text;
  size_t size = p->tok.size;
  uint32_t i = ptx_symbol_find(p, text, size);
  if (i == 0) {
    size_t stem = size;
    uint8_t part = part_of(text, &stem);
    uint32_t whole = part != 0 ? ptx_symbol_find(p, text, stem) : 0;
    if (whole != 0 && p->symbols[whole - 1].kind == PTX_REG && p->symbols[whole - 1].bytes == 4) {
      i = whole;
      size = stem;
      o->part = part;
    }
  }
  o->text = text;
  o->size = size;
  ptx_next(p);
  if (i == 0) {
    if (size == 1 && *text == '_') o->kind = PTX_O_SINK;
    else if (size == 7 && memcmp(text, "WARP_SZ", 7) == 0) {        /* a constant, wherever one may stand */
      o->kind = PTX_O_LITERAL;
      o->literal = PTX_INT;
      o->value = SIM_LANES;
    }
    else if (*text == '%') {
      int known = ptx_special(p, text, size, o);
      if (!known && sim_family(text, size) != NULL) {
        ptx_unknown(p, text, size);
        o->kind = PTX_O_LITERAL;
        o->literal = PTX_INT;
      } else if (!known)
        ptx_fail(p, CAWB_ERR_INVALID, "no register '%.*s'", (int)(size < 60 ? size : 60), text);
    } else o->kind = PTX_O_NAME;
    return;
  }
  if (p->symbols[i - 1].kind == PTX_REG) resolve_register(&p->symbols[i - 1], text, size, o);
  else {
    o->kind = PTX_O_SYMBOL;
    o->symbol = i;
  }
}

static int64_t read_offset(ptx_parser *p) {
  int64_t sum = 0;
  while (ptx_at(p, '+') || ptx_at(p, '-')) {
    int minus = ptx_at(p, '-');
    ptx_next(p);
    if (ptx_take(p, '-')) minus = !minus;
    if (p->tok.kind != PTX_INT) ptx_fail(p, CAWB_ERR_INVALID, "an offset needs a number");
    sum = (int64_t)((uint64_t)sum + (minus ? 0 - p->tok.value : p->tok.value));
    ptx_next(p);
  }
  return sum;
}

static void read_literal(ptx_parser *p, ptx_operand *o) {
  int minus = ptx_take(p, '-');
  if (p->tok.kind != PTX_INT && p->tok.kind != PTX_F32 && p->tok.kind != PTX_F64 &&
      p->tok.kind != PTX_DECIMAL)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' where an operand is due",
             (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text);
  o->kind = PTX_O_LITERAL;
  o->literal = p->tok.kind;
  o->value = p->tok.value;
  if (minus) {
    if (o->literal == PTX_INT) o->value = 0 - o->value;
    else o->value ^= o->literal == PTX_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
  }
  ptx_next(p);
}

static void read_memory(ptx_parser *p, ptx_operand *o) {
  o->kind = PTX_O_MEMORY;
  if (p->tok.kind == PTX_NAME) {
    ptx_operand base = { 0 };
    ptx_name_read(p, &base);
    if (base.kind != PTX_O_REG && base.kind != PTX_O_SYMBOL)
      ptx_fail(p, CAWB_ERR_INVALID, "no variable '%.*s'", (int)(base.size < 60 ? base.size : 60), base.text);
    if (base.kind == PTX_O_REG && base.bytes == 0)
      ptx_fail(p, CAWB_ERR_INVALID, "a predicate cannot hold an address");
    o->ref = base.ref;
    o->bytes = base.bytes;
    o->symbol = base.symbol;
    o->offset = read_offset(p);
  } else {
    ptx_operand at = { 0 };
    read_literal(p, &at);
    o->offset = (int64_t)at.value;
  }
  ptx_expect(p, ']');
}

static void read_operand(ptx_parser *p, ptx_statement *s, ptx_operand *o);

static void read_vector(ptx_parser *p, ptx_statement *s, ptx_operand *o) {
  o->kind = PTX_O_VECTOR;
  o->first = s->nitems;
  do {
    if (s->nitems == PTX_ITEMS) ptx_fail(p, CAWB_ERR_INVALID, "a vector has too many elements");
    ptx_operand *item = &s->items[s->nitems++];
    memset(item, 0, sizeof *item);
    if (ptx_at(p, '{')) ptx_fail(p, CAWB_ERR_INVALID, "a vector within a vector");
    read_operand(p, s, item);
    o->count++;
  } while (ptx_take(p, ','));
  ptx_expect(p, '}');
}

static void read_operand(ptx_parser *p, ptx_statement *s, ptx_operand *o) {
  if (ptx_take(p, '{')) read_vector(p, s, o);
  else if (ptx_take(p, '[')) read_memory(p, o);
  else if (ptx_take(p, '!')) {
    ptx_name_read(p, o);
    o->negate = 1;
  } else if (p->tok.kind == PTX_NAME) {
    ptx_name_read(p, o);
    if (o->kind == PTX_O_SYMBOL) o->offset = read_offset(p);
  } else read_literal(p, o);
}

static void read_guard(ptx_parser *p, ptx_statement *s) {
  ptx_operand o = { 0 };
  s->guard_not = ptx_take(p, '!') ? SIM_ALL : 0;
  if (p->tok.kind == PTX_NAME) ptx_name_read(p, &o);
  if (o.kind != PTX_O_REG || o.bytes != 0 || o.text == NULL)
    ptx_fail(p, CAWB_ERR_INVALID, "'@' needs a predicate register");
  s->guard = o.ref.off;
}

static void split(ptx_parser *p, ptx_statement *s) {
  const char *t = s->whole.text, *end = t + s->whole.size;
  while (t < end) {
    const char *dot = memchr(t, '.', (size_t)(end - t));
    if (dot == NULL) dot = end;
    if (s->words == PTX_WORDS) ptx_fail(p, CAWB_ERR_INVALID, "an instruction has too many parts");
    s->word[s->words++] = (ptx_word){ t, (size_t)(dot - t) };
    t = dot + 1;
  }
}

void ptx_statement_read(ptx_parser *p, ptx_statement *s) {
  memset(s, 0, offsetof(ptx_statement, items));
  s->guard = SIM_NOGUARD;
  p->text = p->tok.line;
  if (ptx_take(p, '@')) read_guard(p, s);
  if (p->tok.kind != PTX_NAME)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' where an instruction is due",
             (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text);
  s->whole = p->mnemonic = (ptx_word){ p->tok.text, p->tok.size };
  split(p, s);
  ptx_next(p);
  s->skipped = sim_family(s->whole.text, s->whole.size) != NULL;
  if (s->skipped) { ptx_skip_to(p, ';'); return; }
  if (s->words > 0 && s->word[0].size == 4 && memcmp(s->word[0].text, "call", 4) == 0) return;
  if (ptx_take(p, ';')) return;
  do {
    if (s->count == PTX_OPERANDS) ptx_fail(p, CAWB_ERR_INVALID, "an instruction has too many operands");
    read_operand(p, s, &s->op[s->count++]);
    if (ptx_take(p, '|')) {
      read_operand(p, s, &s->second);
      s->has_second = 1;
    }
  } while (ptx_take(p, ','));
  ptx_expect(p, ';');
}

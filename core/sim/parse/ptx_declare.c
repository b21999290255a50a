/* ptx_declare.c - declarations: registers, variables with their values, parameters. */
#include "sim/parse/ptx_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Local memory of a thread is 512 KiB at most on every GPU. */
enum { VARIABLES_BYTES = 1 << 28, VARIABLES_MOST = 3072, REGISTERS_MAX = 1 << 24, LOCAL_MAX = 512 << 10 };

static unsigned read_type(ptx_parser *p) {
  unsigned bytes = p->tok.kind == PTX_NAME ? ptx_type_bytes(p->tok.text, p->tok.size) : 0;
  if (bytes == 0)
    ptx_fail(p, CAWB_ERR_INVALID, "'%.*s' where a type is due",
             (int)(p->tok.size < 40 ? p->tok.size : 40), p->tok.text);
  ptx_next(p);
  return bytes;
}

static uint64_t read_number(ptx_parser *p, uint64_t most) {
  if (p->tok.kind != PTX_INT || p->tok.value > most)
    ptx_fail(p, CAWB_ERR_INVALID, "a number up to %llu is due", (unsigned long long)most);
  uint64_t v = p->tok.value;
  ptx_next(p);
  return v;
}

/* -------------------------------------------------------------- registers */

static void place_family(ptx_parser *p, ptx_symbol *s) {
  uint64_t end = p->f->regs_size, lane = s->bytes == 0 ? 4 : s->bytes * SIM_LANES;
  s->offset = ptx_place(&end, (uint64_t)s->count * lane, s->bytes == 0 ? 4 : 128);
  if (end > REGISTERS_MAX) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "a function with so many registers");
  p->f->regs_size = (uint32_t)end;
  ptx_frame_note(p, s);
}

/* .reg .b32 %r<10>, %x; */
void ptx_declare_registers(ptx_parser *p) {
  int pred = ptx_is(p, ".pred");
  unsigned bytes = read_type(p);
  do {
    if (p->tok.kind != PTX_NAME) ptx_fail(p, CAWB_ERR_INVALID, "a register needs a name");
    ptx_symbol *s = ptx_symbol_add(p, p->tok.text, p->tok.size);
    s->kind = PTX_REG;
    s->bytes = pred ? 0 : bytes > 8 ? 16 : bytes > 4 ? 8 : 4;
    s->count = 1;
    ptx_next(p);
    if (ptx_take(p, '<')) {
      uint32_t count = (uint32_t)read_number(p, 1u << 17);
      s = &p->symbols[p->nsymbols - 1];
      s->family = 1;
      s->count = count;
      ptx_expect(p, '>');
    }
    place_family(p, s);
  } while (ptx_take(p, ','));
  ptx_expect(p, ';');
}

/* -------------------------------------------------------- initial values */

/* One element of an initialiser, as its bits. */
static uint64_t read_element(ptx_parser *p, unsigned bytes) {
  int negative = ptx_take(p, '-');
  uint64_t v = p->tok.value;
  if (p->tok.kind == PTX_NAME) {             /* symbol, generic(symbol) */
    int wrapped = ptx_is(p, "generic");
    if (wrapped) { ptx_next(p); ptx_expect(p, '('); }
    uint32_t i = ptx_symbol_find(p, p->tok.text, p->tok.size);
    v = i == 0 ? ptx_function_address(p, p->tok.text, p->tok.size) : p->symbols[i - 1].offset;
    if (i == 0 ? v == 0 : p->symbols[i - 1].kind != PTX_VARIABLE)
      ptx_fail(p, CAWB_ERR_UNSUPPORTED, "an initial value may name a variable or a function declared before");
    ptx_next(p);
    if (wrapped) ptx_expect(p, ')');
    if (ptx_take(p, '+')) v += read_number(p, UINT32_MAX);
    return v;
  }
  if (p->tok.kind == PTX_DECIMAL && bytes == 4) {
    double d;
    memcpy(&d, &v, sizeof d);
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    v = bits;
  } else if (p->tok.kind != PTX_INT && p->tok.kind != PTX_F32 && p->tok.kind != PTX_F64 &&
             p->tok.kind != PTX_DECIMAL) ptx_fail(p, CAWB_ERR_INVALID, "a number is due");
  ptx_next(p);
  return negative ? (uint64_t)0 - v : v;
}

/* Nested braces fill in order; what is not given stays zero. */
static void read_values(ptx_parser *p, sim_region *r, unsigned bytes) {
  size_t at = 0;
  unsigned depth = 0;
  do {
    if (ptx_take(p, '{')) { if (++depth > 8) ptx_fail(p, CAWB_ERR_INVALID, "too many braces"); }
    else if (ptx_take(p, '}')) depth--;
    else if (depth > 0 && ptx_take(p, ',')) continue;
    else {
      uint64_t v = read_element(p, bytes);
      if (at + bytes > r->size) ptx_fail(p, CAWB_ERR_INVALID, "more initial values than elements");
      memcpy(r->host + at, &v, bytes);
      at += bytes;
    }
  } while (depth > 0);
}

/* -------------------------------------------------------------- variables */

/* Room for one more variable, which has no place yet. */
static void note_name(ptx_parser *p, cawb_module *m, const ptx_symbol *s) {
  uint32_t room = (uint32_t)m->variables_room, same = room;
  m->variables = ptx_grow(p, m->variables, (uint32_t)m->nvariables, &room, sizeof *m->variables);
  m->names = ptx_grow(p, m->names, (uint32_t)m->nvariables, &same, sizeof *m->names);
  m->variables_room = room;
  char *name = strndup(s->name, s->size);
  if (name == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a module variable");
  m->names[m->nvariables] = name;
  m->variables[m->nvariables++] = 0;
}

static void place_module(ptx_parser *p, uint32_t index, uint64_t size, unsigned bytes, int space) {
  char label[48];
  cawb_module *m = p->module;
  ptx_symbol *s = &p->symbols[index];
  snprintf(label, sizeof label, "variable %.*s", (int)(s->size < 36 ? s->size : 36), s->name);
  if (size == 0 || size > VARIABLES_BYTES - m->variables_bytes || m->nvariables == VARIABLES_MOST)
    ptx_fail(p, CAWB_ERR_UNSUPPORTED, "one module variable of %llu bytes too many: there may be %d, "
             "of %d bytes together", (unsigned long long)size, VARIABLES_MOST, VARIABLES_BYTES);
  m->variables_bytes += size;
  note_name(p, m, s);
  sim_region *r = sim_region_new(p->device, size, label, p->err);
  if (r == NULL) ptx_fail(p, CAWB_ERR_MEMORY, "out of memory for a module variable");
  memset(r->host, 0, size);
  r->constant = space == SIM_CONST;
  m->variables[m->nvariables - 1] = r->base;
  s->offset = r->base;
  s->space = SIM_GLOBAL;
  if (ptx_take(p, '=')) read_values(p, r, bytes);
}

static void place_local(ptx_parser *p, ptx_symbol *s, uint64_t size) {
  uint64_t end = p->f->local_size;
  s->offset = ptx_place(&end, size, s->align);
  if (size > LOCAL_MAX || end > LOCAL_MAX)
    ptx_fail(p, CAWB_ERR_UNSUPPORTED, "more than %d bytes of local memory a thread", LOCAL_MAX);
  p->f->local_size = (uint32_t)end;
  s->space = SIM_LOCAL;
}

static void place_shared(ptx_parser *p, ptx_symbol *s, uint64_t size, int is_extern) {
  if (size > UINT32_MAX / 2) ptx_fail(p, CAWB_ERR_CANDIDATE, "%llu bytes of shared memory",
                                      (unsigned long long)size);
  s->length = size;
  if (is_extern || size == 0) s->dynamic = 1;
  else s->lazy = 1;            /* placed where it is first used: see decode.c */
}

/* [.align n] .type name [n][m] [= values] {, name ...}; */
void ptx_declare_variable(ptx_parser *p, int space, int is_extern) {
  uint32_t align = 0;
  uint64_t vector = 1;
  for (;;) {
    if (ptx_is(p, ".align")) { ptx_next(p); align = (uint32_t)read_number(p, 1024); }
    else if (ptx_is(p, ".attribute")) {
      while (!ptx_at(p, ')') && p->tok.kind != PTX_END) ptx_next(p);
      ptx_expect(p, ')');
    } else if (ptx_is(p, ".v2")) { vector = 2; ptx_next(p); }
    else if (ptx_is(p, ".v4")) { vector = 4; ptx_next(p); }
    else break;
  }
  unsigned bytes = read_type(p);
  do {
    if (p->tok.kind != PTX_NAME) ptx_fail(p, CAWB_ERR_INVALID, "a variable needs a name");
    ptx_symbol_add(p, p->tok.text, p->tok.size);
    uint32_t index = p->nsymbols - 1;
    ptx_next(p);
    uint64_t size = bytes * vector;
    while (ptx_take(p, '[')) {
      uint64_t n = ptx_at(p, ']') ? 0 : read_number(p, UINT32_MAX);
      if (n != 0 && size > (UINT64_C(1) << 40) / n) ptx_fail(p, CAWB_ERR_INVALID, "an array is too large");
      size *= n;
      ptx_expect(p, ']');
    }
    ptx_symbol *s = &p->symbols[index];
    s->kind = PTX_VARIABLE;
    s->space = (uint8_t)space;
    s->align = align != 0 ? align : bytes;
    if (space == SIM_SHARED) place_shared(p, s, size, is_extern);
    else if (space == SIM_LOCAL || space == SIM_PARAM) place_local(p, s, size);
    else place_module(p, index, size, bytes, space);
  } while (ptx_take(p, ','));
  ptx_expect(p, ';');
}

/* ------------------------------------------------------------- parameters */

static void read_param(ptx_parser *p, uint64_t *end) {
  uint32_t align = 0;
  if (!ptx_is(p, ".param")) ptx_fail(p, CAWB_ERR_INVALID, ".param is due in a kernel's signature");
  ptx_next(p);
  unsigned bytes = 0;
  while (p->tok.kind == PTX_NAME && *p->tok.text == '.') {
    if (ptx_is(p, ".align")) { ptx_next(p); align = (uint32_t)read_number(p, 1024); }
    else if (ptx_type_bytes(p->tok.text, p->tok.size) != 0) bytes = read_type(p);
    else ptx_next(p);                        /* .ptr .global and such hints */
  }
  if (p->tok.kind != PTX_NAME || bytes == 0)
    ptx_fail(p, CAWB_ERR_INVALID, "a parameter needs a type and a name");
  ptx_symbol *s = ptx_symbol_add(p, p->tok.text, p->tok.size);
  uint32_t index = p->nsymbols - 1;
  s->kind = PTX_ENTRY_PARAM;
  ptx_next(p);
  uint64_t size = bytes;
  int is_array = 0;
  if (ptx_take(p, '[')) {
    size = bytes * read_number(p, 1 << 16);
    ptx_expect(p, ']');
    is_array = 1;
  }
  if (!is_array || align == 0) align = bytes;  /* .ptr .align speaks of the target */
  p->symbols[index].offset = ptx_place(end, size, align);
  p->symbols[index].length = size;
}

/* ( .param ..., ... ) of an entry, at natural alignment. */
void ptx_declare_params(ptx_parser *p) {
  uint64_t end = 0;
  if (!ptx_take(p, '(')) return;
  while (!ptx_at(p, ')')) {
    read_param(p, &end);
    if (!ptx_take(p, ',')) break;
  }
  ptx_expect(p, ')');
  if (end > 1 << 16) ptx_fail(p, CAWB_ERR_INVALID, "more than 64 KiB of parameters");
  p->f->args_size = (size_t)end;
}

/*
** ptx_recurse.c - functions that call themselves, directly or through others: their code stands once behind the
** entry's own, with registers and local memory of its own. A call hands its arguments over through places in
** local memory that belong to the function, keeps what the function's last call had on the lane's stack
** (sim/exec/calls.c), and jumps. Calls elsewhere are expanded: ptx_call.c.
*/
#include "sim/parse/ptx_parse.h"
#include "sim/instructions/ops.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAL_MOST = 4096 };

/* Registers of the function at hand, in the order of their declarations. */
void ptx_frame_note(ptx_parser *p, const ptx_symbol *s) {
  sim_function *f = p->f;
  f->saved = ptx_grow(p, f->saved, f->nsaved, &f->saved_room, sizeof *f->saved);
  f->saved[f->nsaved++] = (sim_saved){ (uint32_t)s->offset, s->count, s->bytes };
}

static void add_formal(ptx_parser *p, ptx_body *b, uint64_t size, uint64_t align) {
  uint64_t end = p->f->local_size;
  uint32_t transfer = (uint32_t)ptx_place(&end, size, align < 8 ? 8 : align);
  if (size == 0 || size > FORMAL_MOST || end > 1 << 19) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "a function with such parameters");
  p->f->local_size = (uint32_t)end;
  b->formals = ptx_grow(p, b->formals, b->nformals, &b->formals_room, sizeof *b->formals);
  b->formals[b->nformals++] = (struct ptx_formal){ (uint32_t)size, transfer };
}

/* `.param .align 8 .b8 name[24]`: its size and alignment; its name is left in *name. */
static uint64_t read_formal(ptx_parser *p, ptx_token *name, uint64_t *align) {
  uint64_t bytes = 0, given = 0, count = 1;
  while (!ptx_at(p, ',') && !ptx_at(p, ')')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends inside a signature");
    int aligns = ptx_is(p, ".align"), opens = ptx_at(p, '[');
    if (p->tok.kind == PTX_NAME && *p->tok.text == '.') {
      unsigned of = ptx_type_bytes(p->tok.text, p->tok.size);
      if (of != 0) bytes = of;
    } else if (p->tok.kind == PTX_NAME) *name = p->tok;
    ptx_next(p);
    if ((aligns || opens) && p->tok.kind == PTX_INT) {
      if (p->tok.value > FORMAL_MOST) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "a function with such parameters");
      if (aligns) given = p->tok.value;
      else count = p->tok.value;
      ptx_next(p);
    }
  }
  *align = given > bytes ? given : bytes;
  return bytes * count;
}

/* A list in parentheses: what is found is added to the formals, or (`places`) placed under its name. */
static void read_list(ptx_parser *p, ptx_body *b, uint64_t *places) {
  ptx_token name = p->tok;
  uint64_t align;
  while (!ptx_at(p, ')')) {
    uint64_t size = read_formal(p, &name, &align);
    if (places == NULL) add_formal(p, b, size, align);
    else {
      uint64_t end = p->f->local_size, at = ptx_place(&end, size, align < 8 ? 8 : align);
      ptx_symbol *s = ptx_symbol_add(p, name.text, name.size);
      s->kind = PTX_VARIABLE;
      s->space = SIM_LOCAL;
      s->offset = at;
      p->f->local_size = (uint32_t)end;
      *places++ = at;
    }
    if (!ptx_take(p, ',')) break;
  }
  ptx_expect(p, ')');
}

/* From the function's first token to its body. */
static void read_signature(ptx_parser *p, ptx_body *b, uint64_t *places) {
  p->lex = b->at;
  ptx_next(p);
  if (ptx_take(p, '(')) read_list(p, b, places);
  if (places == NULL) b->nresults = b->nformals;
  ptx_next(p);
  if (ptx_take(p, '(')) read_list(p, b, places != NULL ? places + b->nresults : NULL);
  while (!ptx_at(p, '{')) {
    if (p->tok.kind == PTX_END) ptx_fail(p, CAWB_ERR_INVALID, "the text ends before a function's body");
    ptx_next(p);
  }
}

static void emit_move(ptx_parser *p, uint64_t from, uint64_t to, uint32_t size) {
  sim_insn *in = ptx_emit(p, SIM_OP_local_move, NULL);
  in->offset = (int64_t)from;
  in->to_offset = (uint32_t)to;
  in->extra = size;
}

/* The function's first call in this entry. */
static void begin(ptx_parser *p, ptx_body *b) {
  ptx_lexer back = p->lex;
  ptx_token tok = p->tok;
  sim_function *f = p->f;
  f->frames = ptx_grow(p, f->frames, f->nframes, &f->frames_room, sizeof *f->frames);
  f->frames[f->nframes++] = (sim_frame){ .start = -1 };
  b->frame = f->nframes;
  b->nformals = b->nresults = 0;
  read_signature(p, b, NULL);
  p->lex = back;
  p->tok = tok;
}

void ptx_recurse_call(ptx_parser *p, ptx_body *b, const ptx_actuals *results, const ptx_actuals *args) {
  if (b->frame == 0) begin(p, b);
  if (results->count != b->nresults || args->count != b->nformals - b->nresults)
    ptx_fail(p, CAWB_ERR_INVALID, "a call with other parameters than its function has");
  for (unsigned i = 0; i < args->count; i++) {
    const struct ptx_formal *to = &b->formals[b->nresults + i];
    emit_move(p, p->symbols[args->symbol[i] - 1].offset, to->transfer, to->size);
  }
  ptx_emit(p, SIM_OP_call, NULL)->extra = b->frame - 1;
  for (unsigned i = 0; i < results->count; i++)
    emit_move(p, b->formals[i].transfer, p->symbols[results->symbol[i] - 1].offset, b->formals[i].size);
}

static uint32_t lane_bytes(const sim_function *f, const sim_frame *r) {
  uint32_t bytes = 0;
  for (uint32_t i = r->first; i < r->end; i++)
    bytes += f->saved[i].count * (f->saved[i].bytes == 0 ? 1 : f->saved[i].bytes);
  return bytes;
}

/* The function's code. */
static void write_body(ptx_parser *p, ptx_body *b) {
  sim_function *f = p->f;
  uint32_t symbols = p->nsymbols, which = b->frame - 1;
  uint64_t places[128], end = f->local_size;
  sim_frame r = { .first = f->nsaved, .start = f->count };
  if (b->nformals > sizeof places / sizeof *places) ptx_fail(p, CAWB_ERR_UNSUPPORTED, "a function with so many parameters");
  r.local = (uint32_t)ptx_place(&end, 0, 16);
  f->local_size = r.local;
  p->file = 0;
  read_signature(p, b, places);
  for (uint32_t i = b->nresults; i < b->nformals; i++) emit_move(p, b->formals[i].transfer, places[i], b->formals[i].size);
  p->inlined++;
  ptx_body_parse(p);
  p->inlined--;
  for (uint32_t i = 0; i < b->nresults; i++) emit_move(p, places[i], b->formals[i].transfer, b->formals[i].size);
  ptx_emit(p, SIM_OP_come_back, NULL)->extra = which;
  ptx_symbols_cut(p, symbols);
  r.end = f->nsaved;
  r.size = (f->local_size - r.local + 15) / 16 * 16;
  f->local_size = r.local + r.size;
  r.registers = lane_bytes(f, &r);
  f->frames[which] = r;
}

void ptx_recurse_finish(ptx_parser *p) {
  sim_function *f = p->f;
  int left = 1;
  while (left && !p->again) {
    left = 0;
    for (uint32_t i = 0; i < p->nbodies && !p->again; i++) {
      ptx_body *b = &p->bodies[i];
      if (b->frame == 0 || f->frames[b->frame - 1].start >= 0) continue;
      write_body(p, b);
      left = 1;
    }
  }
  for (uint32_t i = 0; i < f->count; i++)
    if (f->code[i].op == SIM_OP_call) f->code[i].target = f->frames[f->code[i].extra].start;
}

void ptx_recurse_forget(ptx_parser *p) {
  for (uint32_t i = 0; i < p->nbodies; i++) p->bodies[i].frame = 0;
  for (uint32_t i = 0; i < p->nsymbols; i++) p->symbols[i].owner = NULL;
  for (uint32_t i = 0; i < p->nbodies; i++) p->bodies[i].open = 0;
}

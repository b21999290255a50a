/*
** decode_wide.c - registers of 128 bits (.b128) are two of 64, the lower one first: moves and accesses
** become those of both halves.
*/
#include "sim/read/decode.h"

#include <string.h>

enum { HALF = 8 * SIM_LANES };          /* bytes from one to the other */

unsigned ptx_halves(ptx_parser *p, const ptx_operand *whole, ptx_operand half[2]) {
  half[0] = half[1] = *whole;
  if (whole->kind == PTX_O_SINK) return 2;
  if (whole->kind != PTX_O_REG || whole->bytes != 16) return 0;
  half[0].bytes = half[1].bytes = 8;
  half[1].ref.off += HALF;
  (void)p;
  return 2;
}

/* The two parts of an operand: of a register, or {a, b}. */
static int parts(ptx_parser *p, const ptx_statement *s, const ptx_operand *o, ptx_operand out[2]) {
  if (o->kind != PTX_O_VECTOR) return ptx_halves(p, o, out) == 2;
  if (o->count != 2) return 0;
  memcpy(out, &s->items[o->first], 2 * sizeof *out);
  return 1;
}

int ptx_decode_wide_mov(ptx_parser *p, const ptx_statement *s) {
  ptx_operand to[2], from[2];
  if (!parts(p, s, &s->op[0], to) || !parts(p, s, &s->op[1], from)) return 0;
  for (int i = 0; i < 2; i++) {
    sim_ref source = ptx_source_of(p, &from[i], 8, NULL), target = ptx_target_of(p, &to[i], 8);
    sim_insn *in = ptx_emit(p, SIM_OP_mov_b64, s);
    in->r[0] = target;
    in->r[1] = source;
  }
  return 1;
}

/* atom.exch.b128 d, [a], b; atom.cas.b128 d, [a], b, c. */
int ptx_decode_wide_atom(ptx_parser *p, const ptx_statement *s, int space, int mode, uint8_t order) {
  ptx_operand d[2], b[2], c[2];
  int swaps = mode == A_CAS;
  if ((mode != A_EXCH && !swaps) || s->count != (swaps ? 4u : 3u) || s->op[1].kind != PTX_O_MEMORY) return 0;
  if (!ptx_halves(p, &s->op[0], d) || !ptx_halves(p, &s->op[2], b) || !ptx_halves(p, &s->op[swaps ? 3 : 2], c) ||
      b[0].kind != PTX_O_REG || c[0].kind != PTX_O_REG) return 0;
  const ptx_operand *at = &s->op[1];
  sim_ref to = ptx_target_of(p, &d[0], 8), where;
  if (d[1].kind == PTX_O_SINK) (void)ptx_sink(p);         /* room for the upper half, right behind the lower one */
  if (at->symbol != 0) where = ptx_symbol_address(p, at->symbol, at->offset, 8);
  else where = at->bytes == 0 ? ptx_value(p, 8, (uint64_t)at->offset) : at->ref;
  sim_insn *in = ptx_emit(p, SIM_OP_atom_wide, s);
  in->r[0] = to;
  in->r[1] = where;
  in->r[2] = b[0].ref;
  in->r[3] = c[0].ref;
  in->wide = (uint8_t)((at->symbol != 0 || at->bytes != 4) << 1);
  in->offset = at->symbol != 0 || at->bytes == 0 ? 0 : at->offset;
  in->space = (uint8_t)space;
  in->mode = (uint8_t)mode;
  in->flags = order;
  in->width = in->lane = 8;
  in->vec = 2;
  return 1;
}

/* decode_tensor.c - matrices: mma, wmma, ldmatrix, stmatrix, movmatrix. */
#include "sim/read/decode.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- mnemonics */

static const struct { const char *name; char code; } codes[] = {
  { "f16", 'h' }, { "bf16", 'b' }, { "tf32", 't' }, { "f64", 'd' }, { "f32", 'f' }, { "s8", 'c' },
  { "u8", 'C' }, { "s4", 'n' }, { "u4", 'N' }, { "b1", '1' }, { "e4m3", 'e' }, { "e5m2", 'E' }, { "s32", 'i' }
};

static int code_of(const ptx_word *w) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (ptx_word_is(w, codes[i].name)) return codes[i].code;
  return 0;
}

/* The types of a mnemonic, in order; returns how many there are. */
unsigned ptx_tensor_types(const ptx_statement *s, char out[4]) {
  unsigned n = 0;
  for (unsigned i = 1; i < s->words; i++) {
    int code = code_of(&s->word[i]);
    if (code != 0 && n < 4) out[n++] = (char)code;
    else if (code != 0) return 0;
  }
  return n;
}

/* m16n8k16 */
int ptx_tensor_shape(const ptx_statement *s, unsigned out[3]) {
  char text[24];
  for (unsigned i = 1; i < s->words; i++) {
    if (s->word[i].size >= sizeof text) continue;
    memcpy(text, s->word[i].text, s->word[i].size);
    text[s->word[i].size] = '\0';
    int end = 0;
    if (sscanf(text, "m%3un%3uk%3u%n", &out[0], &out[1], &out[2], &end) == 3 && text[end] == '\0') return 1;   /* NOLINT: of three digits */
  }
  return 0;
}

/* ------------------------------------------------------------------ operands */

unsigned ptx_tensor_bits(int code) {
  return code == 'd' ? 64 : code == 'f' || code == 't' || code == 'i' ? 32 : code == 'h' || code == 'b' ? 16
       : code == 'n' || code == 'N' ? 4 : code == '1' ? 1 : 8;
}

static unsigned registers_of(unsigned elements, int code, int repeated) {
  if (repeated) return 8;
  return code == 'd' || code == 'f' || code == 'i' ? elements / 32 : elements * ptx_tensor_bits(code) / 1024;
}

/* The registers of operand i, which must be `n`, behind the function's other extras. */
int ptx_tensor_registers(ptx_parser *p, const ptx_statement *s, unsigned i, unsigned n, unsigned bytes, int target) {
  const ptx_operand *o = ptx_operand_at(p, s, i);
  unsigned count = o->kind == PTX_O_VECTOR ? o->count : 1;
  if (count != n) return 0;
  for (unsigned k = 0; k < n; k++) {
    const ptx_operand *one = o->kind == PTX_O_VECTOR ? &s->items[o->first + k] : o;
    sim_function *f = p->f;
    sim_ref r = target ? ptx_target_of(p, one, bytes) : ptx_source_of(p, one, bytes, NULL);
    f->extras = ptx_grow(p, f->extras, f->nextras, &f->extras_room, sizeof *f->extras);
    f->extras[f->nextras++] = r;
  }
  return 1;
}

static unsigned lane_bytes(int code) { return code == 'd' ? 8 : 4; }

/* ----------------------------------------------------------------------- mma */

/* Multiply-adds of one clock of an SM, in quarters: 2048 of 16 bits (a Hopper SM; others in proportion). */
unsigned ptx_tensor_cost(const unsigned m[3], int code) {
  unsigned long long work = (unsigned long long)m[0] * m[1] * m[2] * 4;
  unsigned rate = code == 'd' ? 128 : code == 't' ? 1024 : ptx_tensor_bits(code) == 16 ? 2048 : 4096;
  unsigned long long cost = (work + rate - 1) / rate;
  return cost > 65535 ? 65535 : (unsigned)cost;
}

/* Some devices keep a part of that rate for products of warpgroups; doubles have none of these. */
static unsigned warp_cost(const ptx_parser *p, const unsigned m[3], int code) {
  double cost = ptx_tensor_cost(m, code) / (code == 'd' ? 1 : p->device->model->mma_share) + 0.5;
  return cost > 65535 ? 65535 : (unsigned)cost;
}

static int fits(const char t[4], const unsigned m[3], int wmma) {
  int a = (unsigned char)t[1], whole = t[0] == 'i';
  unsigned depth = 256 / ptx_tensor_bits(a);           /* of the deepest instruction that there is */
  if (t[0] == 'd') return t[1] == 'd' && t[2] == 'd' && t[3] == 'd' && m[2] <= 16;
  if (whole != (strchr("cCnN1", a) != NULL) || (t[3] == 'i') != whole) return 0;
  if (!whole && (strchr("hf", t[0]) == NULL || strchr("hf", t[3]) == NULL)) return 0;
  if (wmma) return m[0] * m[1] == 256 || (a == 'd' && m[0] == 8);
  if (m[0] == 8 && !whole) return 0;           /* m8n8k4 of halves: an emulation on this GPU */
  return (m[0] == 16 || m[0] == 8) && m[1] == 8 && m[2] <= depth && m[2] * ptx_tensor_bits(a) >= 128;
}

/* Its registers are the function's last extras. */
static sim_insn *product(ptx_parser *p, const ptx_statement *s, int op, uint32_t first, const unsigned m[3], const char t[4]) {
  sim_insn *in = ptx_emit(p, op, s);
  in->extra = first;
  in->r[0] = p->f->extras[first];
  in->shape.m = (uint16_t)m[0];
  in->shape.n = (uint16_t)m[1];
  in->shape.k = (uint16_t)m[2];
  in->shape.registers = (uint16_t)(p->f->nextras - first);
  memcpy(in->type, t, sizeof in->type);
  return in;
}

/* mma d, a, b, c; of wmma the types of a and b may be left out: they are f16. */
static int decode_mma(ptx_parser *p, const ptx_statement *s, int wmma) {
  char t[4];
  unsigned m[3], n = ptx_tensor_types(s, t);
  if (!ptx_tensor_shape(s, m) || s->count != 4 || ptx_word_at(s, "block_scale")) return 0;
  if (wmma && n == 2) { t[3] = t[1]; t[1] = t[2] = 'h'; n = 4; }
  if (n != 4 || ptx_tensor_bits(t[1]) != ptx_tensor_bits(t[2]) || !fits(t, m, wmma)) return 0;
  if (!wmma && !(ptx_word_at(s, "row") && ptx_word_at(s, "col"))) return 0;
  int twice = wmma && t[1] == 'h';
  uint32_t first = p->f->nextras;
  if (!ptx_tensor_registers(p, s, 0, registers_of(m[0] * m[1], t[0], 0), lane_bytes(t[0]), 1) ||
      !ptx_tensor_registers(p, s, 1, registers_of(m[0] * m[2], t[1], twice), lane_bytes(t[1]), 0) ||
      !ptx_tensor_registers(p, s, 2, registers_of(m[2] * m[1], t[2], twice), lane_bytes(t[2]), 0) ||
      !ptx_tensor_registers(p, s, 3, registers_of(m[0] * m[1], t[3], 0), lane_bytes(t[3]), 0)) return 0;
  sim_insn *in = product(p, s, SIM_OP_mma, first, m, t);
  in->flags = (uint8_t)((ptx_word_at(s, "satfinite") && t[0] == 'i' ? MMA_SATURATES : 0) |
                        (ptx_word_at(s, "xor") ? MMA_XOR : 0) | (ptx_word_at(s, "and") ? MMA_AND : 0) |
                        (wmma ? MMA_WMMA : 0));
  in->cost = (uint16_t)warp_cost(p, m, t[1]);
  return 1;
}

/*
** mma.sp d, a, b, c, metadata, selector: of each four columns of A (tf32: two) two (one) are there. The selector names the
** lanes of each four that have the metadata: one, or for the deeper shapes a pair.
*/
static int decode_sparse(ptx_parser *p, const ptx_statement *s) {
  char t[4];
  unsigned m[3], half[3];
  if (!ptx_tensor_shape(s, m) || s->count != 6 || ptx_tensor_types(s, t) != 4 || ptx_word_at(s, "block_scale")) return 0;
  memcpy(half, m, sizeof half);
  half[2] = m[2] / 2;
  int deep = m[2] * ptx_tensor_bits(t[1]) == 512, plain = t[1] == 'h' || (t[0] == 'f' && t[3] == 'f' && strchr("bt", t[1]) != NULL);
  if (m[0] != 16 || m[1] != 8 || t[1] != t[2] || !plain || !(deep || m[2] * ptx_tensor_bits(t[1]) == 256)) return 0;
  if (!ptx_word_at(s, "row") || !ptx_word_at(s, "col") || !fits(t, half, 0) || ptx_immediate(p, s, 5) > (deep ? 1 : 3)) return 0;
  uint32_t first = p->f->nextras;
  if (!ptx_tensor_registers(p, s, 0, registers_of(128, t[0], 0), 4, 1) ||
      !ptx_tensor_registers(p, s, 1, registers_of(16 * half[2], t[1], 0), 4, 0) ||
      !ptx_tensor_registers(p, s, 2, registers_of(8 * m[2], t[2], 0), 4, 0) ||
      !ptx_tensor_registers(p, s, 3, registers_of(128, t[3], 0), 4, 0) || !ptx_tensor_registers(p, s, 4, 1, 4, 0)) return 0;
  sim_insn *in = product(p, s, SIM_OP_mma_sp, first, m, t);
  in->mode = (uint8_t)ptx_immediate(p, s, 5);
  in->cost = (uint16_t)warp_cost(p, half, t[1]);
  return 1;
}

/* ---------------------------------------------------------------------- wmma */

static int space_of(const ptx_statement *s) {
  if (ptx_word_at(s, "global")) return SIM_GLOBAL;
  return ptx_word_at(s, "shared") || ptx_word_at(s, "shared::cta") ? SIM_SHARED : SIM_GENERIC;
}

static void note_grain(sim_function *f, int space, unsigned width) {
  uint32_t grain = width == 1 ? 0 : width == 2 ? 1 : 2;
  if (space != SIM_GLOBAL && grain < f->grain) f->grain = grain;
}

/* The address of operand i. */
static int fill_address(ptx_parser *p, const ptx_statement *s, unsigned i, sim_insn *in) {
  const ptx_operand *o = ptx_operand_at(p, s, i);
  if (o->kind != PTX_O_MEMORY) return 0;
  in->wide = 2;
  if (o->symbol != 0) in->r[1] = ptx_symbol_address(p, o->symbol, o->offset, 8);
  else if (o->bytes == 0) in->r[1] = ptx_value(p, 8, (uint64_t)o->offset);
  else {
    in->r[1] = o->ref;
    in->wide = (uint8_t)((o->bytes == 8) << 1);
    in->offset = (int32_t)o->offset;
  }
  return 1;
}

/* wmma.load.a r, [p], stride; wmma.store.d [p], r, stride. */
static int decode_tile(ptx_parser *p, const ptx_statement *s, int store) {
  char t[4];
  unsigned m[3], at = store ? 0 : 1, list = store ? 1 : 0;
  if (ptx_tensor_types(s, t) != 1 || !ptx_tensor_shape(s, m) || s->count < 2 || ptx_tensor_bits(t[0]) < 8) return 0;
  int which = ptx_word_is(&s->word[2], "a") ? 0 : ptx_word_is(&s->word[2], "b") ? 1 : 2;
  unsigned rows = which == 1 ? m[2] : m[0], columns = which == 0 ? m[2] : m[1];
  int turned = ptx_word_at(s, "col") != 0;
  unsigned width = ptx_tensor_bits(t[0]) / 8, stride = width == 8 ? 8 : 4;
  unsigned n = registers_of(rows * columns, t[0], which != 2 && t[0] == 'h');
  if (t[0] == 't') n = rows * columns / 32;
  if (n == 0 || rows * columns > 1024) return 0;
  uint32_t first = p->f->nextras;
  if (!ptx_tensor_registers(p, s, list, n, stride, !store)) return 0;
  sim_insn *in = ptx_emit(p, store ? SIM_OP_wmma_store : SIM_OP_wmma_load, s);
  if (!fill_address(p, s, at, in)) return 0;
  in->extra = first;
  in->space = (uint8_t)space_of(s);
  in->width = (uint8_t)width;
  in->lane = (uint8_t)stride;
  in->mode = (uint8_t)turned;
  in->shape.m = (uint16_t)rows;
  in->shape.n = (uint16_t)columns;
  in->shape.registers = (uint16_t)n;
  in->vec = (uint8_t)n;
  in->r[2] = s->count > 2 ? ptx_source(p, s, 2, 4, NULL) : ptx_value(p, 4, turned ? rows : columns);
  if (!store) in->r[0] = p->f->extras[first];
  note_grain(p->f, in->space, width);
  return 1;
}

/* ------------------------------------------------------------- 8 x 8 matrices */

/* ldmatrix {r, ...}, [a]; stmatrix [a], {r, ...}: x1, x2, x4, .trans. */
static int decode_matrix(ptx_parser *p, const ptx_statement *s, int store) {
  static const uint8_t slots[] = { 0, 2, 3, 4 };
  unsigned n = ptx_word_at(s, "x4") ? 4 : ptx_word_at(s, "x2") ? 2 : ptx_word_at(s, "x1") ? 1 : 0;
  if (n == 0 || !ptx_word_at(s, "m8n8") || !ptx_word_at(s, "b16") || s->count != 2) return 0;
  const ptx_operand *o = ptx_operand_at(p, s, store ? 1 : 0), *m = ptx_operand_at(p, s, store ? 0 : 1);
  if (m->kind != PTX_O_MEMORY || (o->kind == PTX_O_VECTOR ? o->count : 1) != n) return 0;
  sim_insn *in = ptx_emit(p, store ? SIM_OP_stmatrix : SIM_OP_ldmatrix, s);
  if (!fill_address(p, s, store ? 0 : 1, in)) return 0;
  in->vec = (uint8_t)n;
  in->width = 4;
  in->mode = ptx_word_at(s, "trans") != 0;
  for (unsigned k = 0; k < n; k++) {
    const ptx_operand *one = o->kind == PTX_O_VECTOR ? &s->items[o->first + k] : o;
    in->r[slots[k]] = store ? ptx_source_of(p, one, 4, NULL) : ptx_target_of(p, one, 4);
  }
  return 1;
}

static int decode_movmatrix(ptx_parser *p, const ptx_statement *s) {
  sim_insn *in = ptx_emit(p, SIM_OP_movmatrix, s);
  in->r[0] = ptx_target(p, s, 0, 4);
  in->r[1] = ptx_source(p, s, 1, 4, NULL);
  return 1;
}

int ptx_decode_tensor(ptx_parser *p, const ptx_statement *s) {
  if (s->words < 2) return 0;
  int sparse = ptx_word_is(&s->word[1], "sp") || ptx_word_is(&s->word[1], "sp::ordered_metadata");
  if (ptx_word_is(&s->word[0], "mma")) return sparse ? decode_sparse(p, s) : decode_mma(p, s, 0);
  if (ptx_word_is(&s->word[0], "wgmma")) return ptx_decode_wgmma(p, s);
  if (ptx_word_is(&s->word[0], "ldmatrix")) return decode_matrix(p, s, 0);
  if (ptx_word_is(&s->word[0], "stmatrix")) return decode_matrix(p, s, 1);
  if (ptx_word_is(&s->word[0], "movmatrix")) return decode_movmatrix(p, s);
  if (!ptx_word_is(&s->word[0], "wmma") || s->words < 4) return 0;
  if (ptx_word_is(&s->word[1], "mma")) return decode_mma(p, s, 1);
  if (ptx_word_is(&s->word[1], "load")) return decode_tile(p, s, 0);
  return ptx_word_is(&s->word[1], "store") ? decode_tile(p, s, 1) : 0;
}

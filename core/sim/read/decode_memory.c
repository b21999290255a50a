/* decode_memory.c - loads, stores, atomics. */
#include "sim/read/decode.h"

#include <string.h>

enum { VECTOR_MOST = 8 };

static const uint8_t vector_slots[] = { 0, 2, 3, 4 };

static int space_of(const ptx_form *f) {
  if (ptx_has(f, W_SHARED_CLUSTER)) return SIM_NEAR;
  if (ptx_has(f, W_GLOBAL)) return SIM_GLOBAL;
  if (ptx_has(f, W_SHARED) || ptx_has(f, W_SHARED_CTA)) return SIM_SHARED;
  if (ptx_has(f, W_LOCAL)) return SIM_LOCAL;
  if (ptx_has(f, W_CONST)) return SIM_CONST;
  if (ptx_has(f, W_PARAM) || ptx_has(f, W_PARAM_ENTRY) || ptx_has(f, W_PARAM_FUNC)) return SIM_PARAM;
  return SIM_GENERIC;
}

/* The smallest shared access decides how fine the race detector looks. */
static void note_grain(sim_function *f, int space, unsigned width) {
  uint32_t grain = width == 1 ? 0 : width == 2 ? 1 : 2;
  if ((space == SIM_SHARED || space == SIM_GENERIC || space == SIM_NEAR) && grain < f->grain) f->grain = grain;
}

/* Where a memory operand points; may change `space` of a call's parameter. */
static sim_ref address(ptx_parser *p, const ptx_operand *o, int *space, int64_t *offset, uint8_t *wide) {
  if (o->kind != PTX_O_MEMORY) ptx_fail(p, CAWB_ERR_INVALID, "an address in brackets is due");
  *offset = o->offset;
  *wide = 1;
  if (o->symbol != 0) {
    const ptx_symbol *s = &p->symbols[o->symbol - 1];
    if (s->kind == PTX_VARIABLE && s->space == SIM_LOCAL && *space == SIM_PARAM) *space = SIM_LOCAL;
    *offset = 0;
    sim_ref r = ptx_symbol_address(p, o->symbol, o->offset, 8);
    return r;
  }
  if (o->bytes == 0) {
    *offset = 0;
    return ptx_value(p, 8, (uint64_t)o->offset);
  }
  *wide = o->bytes == 8;
  return o->ref;
}

static void fill_address(ptx_parser *p, const ptx_statement *s, unsigned i, int *space, sim_insn *in) {
  uint8_t wide;
  int64_t offset;
  sim_ref r = address(p, ptx_operand_at(p, s, i), space, &offset, &wide);
  in->r[1] = r;
  in->offset = offset;
  in->wide = (uint8_t)(wide << 1);
  in->space = (uint8_t)*space;
}

/* The register or registers of a load or a store; returns their number. */
static unsigned elements(ptx_parser *p, const ptx_statement *s, unsigned i, const ptx_operand **out) {
  const ptx_operand *o = ptx_operand_at(p, s, i);
  if (o->kind != PTX_O_VECTOR) { out[0] = o; return 1; }
  if (o->count > VECTOR_MOST) return 0;
  for (unsigned k = 0; k < o->count; k++) out[k] = &s->items[o->first + k];
  return o->count;
}

/* An element of 128 bits as two of 64. */
static const ptx_type b64 = { PTX_B, 8, "b64" };
static unsigned split(ptx_parser *p, const ptx_type **t, const ptx_operand **list, unsigned n, ptx_operand half[2]) {
  if ((*t)->bytes != 16) return n;
  if (n != 1 || ptx_halves(p, list[0], half) == 0) return 0;
  *t = &b64;
  list[0] = &half[0];
  list[1] = &half[1];
  return 2;
}

/* At most 16 bytes a thread. */
static unsigned vector_of(const ptx_form *f) {
  return ptx_has(f, W_V2) ? 2 : ptx_has(f, W_V4) ? 4 : ptx_has(f, W_V8) ? 8 : 1;
}

/* How it orders what comes before and after it, see sim/watch/order.h; .cta: within the block. */
static uint8_t order_of(const ptx_form *f) {
  return (uint8_t)(((ptx_has(f, W_ACQUIRE) || ptx_has(f, W_ACQ_REL)) << 1) | ((ptx_has(f, W_RELEASE) || ptx_has(f, W_ACQ_REL)) << 2) |
                   (ptx_has(f, W_CTA) << 3));
}

/* ld.param of a kernel's parameter is a constant of the launch. */
static int load_parameter(ptx_parser *p, const ptx_statement *s, const ptx_type *t,
                          const ptx_operand **list, unsigned n) {
  const ptx_operand *m = &s->op[1];
  const ptx_symbol *v = &p->symbols[m->symbol - 1];
  uint64_t off = v->offset + (uint64_t)m->offset;
  if (off + (uint64_t)n * t->bytes > p->f->args_size)
    ptx_fail(p, CAWB_ERR_INVALID, "a parameter is read beyond its end");
  for (unsigned k = 0; k < n; k++) {
    unsigned lane = list[k]->kind == PTX_O_REG ? list[k]->bytes : ptx_lane(t->bytes);
    if (lane == 0) return 0;
    sim_constant c = { .kind = SIM_K_PARAM, .size = (uint8_t)lane, .width = (uint8_t)t->bytes,
                       .sext = t->class == PTX_S, .value = off + (uint64_t)k * t->bytes };
    sim_ref from = ptx_constant(p, &c), to = ptx_target_of(p, list[k], lane);
    sim_insn *in = ptx_emit(p, lane == 8 ? SIM_OP_mov_b64 : SIM_OP_mov_b32, s);
    in->r[0] = to;
    in->r[1] = from;
  }
  return 1;
}

/* createpolicy.fractional.L2::evict_last.b64 d, fraction: nothing depends on its value. */
static int decode_policy(ptx_parser *p, const ptx_statement *s) {
  sim_ref d = ptx_target(p, s, 0, 8), none = ptx_value(p, 8, 0);
  sim_insn *in = ptx_emit(p, SIM_OP_mov_b64, s);
  in->r[0] = d;
  in->r[1] = none;
  return 1;
}

static int decode_ld(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const int ops[] = { SIM_OP_ld_generic, SIM_OP_ld_global, SIM_OP_ld_shared,
                             SIM_OP_ld_local, SIM_OP_ld_param, SIM_OP_ld_const,
                             SIM_OP_ld_cluster };
  const ptx_operand *list[VECTOR_MOST];
  ptx_operand half[2];
  int space = space_of(f);
  if (space < 0 || f->types != 1 || f->type[0].bytes == 0) return 0;
  const ptx_type *t = &f->type[0];
  unsigned n = elements(p, s, 0, list);
  if (n != vector_of(f) || n == 0 || n > 4 || n * t->bytes > 16 || (n = split(p, &t, list, n, half)) == 0) return 0;
  const ptx_operand *m = ptx_operand_at(p, s, 1);
  if (space == SIM_PARAM && m->kind == PTX_O_MEMORY && m->symbol != 0 &&
      p->symbols[m->symbol - 1].kind == PTX_ENTRY_PARAM) return load_parameter(p, s, t, list, n);
  sim_insn *in = ptx_emit(p, SIM_OP_ld_generic, s);
  fill_address(p, s, 1, &space, in);
  in->op = (uint16_t)ops[space];
  in->fn = p->device->isa->table[in->op];
  in->width = (uint8_t)t->bytes;
  in->vec = (uint8_t)n;
  in->sext = t->class == PTX_S;
  in->flags = (uint8_t)(ptx_has(f, W_NC) | order_of(f));
  in->lane = list[0]->kind == PTX_O_REG ? list[0]->bytes : (uint8_t)ptx_lane(t->bytes);
  in->strong = (uint16_t)(ptx_has(f, W_RELAXED) || ptx_has(f, W_ACQUIRE) || ptx_has(f, W_VOLATILE));
  if (in->lane == 0) return 0;
  for (unsigned k = 0; k < n; k++) in->r[vector_slots[k]] = ptx_target_of(p, list[k], in->lane);
  note_grain(p->f, space, t->bytes);
  return 1;
}

static int decode_st(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  const ptx_operand *list[VECTOR_MOST];
  ptx_operand half[2];
  int space = space_of(f);
  if (space < 0 || space == SIM_CONST || f->types != 1 || f->type[0].bytes == 0) return 0;
  const ptx_type *t = &f->type[0];
  unsigned n = elements(p, s, 1, list);
  if (n != vector_of(f) || n == 0 || n > 4 || n * t->bytes > 16 || (n = split(p, &t, list, n, half)) == 0) return 0;
  sim_insn *in = ptx_emit(p, SIM_OP_st_generic, s);
  fill_address(p, s, 0, &space, in);
  if (space == SIM_PARAM) return 0;
  in->op = (uint16_t)(space == SIM_GLOBAL ? SIM_OP_st_global : space == SIM_SHARED ? SIM_OP_st_shared
                    : space == SIM_LOCAL ? SIM_OP_st_local : space == SIM_NEAR ? SIM_OP_st_cluster
                    : SIM_OP_st_generic);
  in->fn = p->device->isa->table[in->op];
  in->width = (uint8_t)t->bytes;
  in->vec = (uint8_t)n;
  in->lane = list[0]->kind == PTX_O_REG ? list[0]->bytes : (uint8_t)ptx_lane(t->bytes);
  in->strong = (uint16_t)(ptx_has(f, W_RELAXED) || ptx_has(f, W_RELEASE) || ptx_has(f, W_VOLATILE));
  in->flags = order_of(f);
  if (in->lane == 0) return 0;
  for (unsigned k = 0; k < n; k++) in->r[vector_slots[k]] = ptx_source_of(p, list[k], in->lane, t);
  note_grain(p->f, space, t->bytes);
  return 1;
}

static uint8_t value_code(const ptx_type *t) {
  if (t->class == PTX_F) return t->bytes == 2 ? 'h' : 'f';
  if (t->class == PTX_FX2) return 'H';
  if (t->class == PTX_BF) return 'b';
  if (t->class == PTX_BFX2) return 'B';
  return t->class == PTX_S ? 's' : 'u';
}

/* One of them for element k of the vectors, which lies `k` elements on. */
static int emit_atom(ptx_parser *p, const ptx_statement *s, const ptx_type *t, int space, int mode, uint8_t order,
                     unsigned k) {
  static const uint16_t ops[] = { SIM_OP_atom_generic, SIM_OP_atom_global, SIM_OP_atom_shared };
  int red = s->word[0].size == 3, op = space == SIM_NEAR ? SIM_OP_atom_cluster : ops[space];
  unsigned bytes = ptx_lane(t->bytes), b = red ? 1 : 2;
  const ptx_operand *from[8], *to[8];
  unsigned n = elements(p, s, b, from);
  ptx_operand sink = { .kind = PTX_O_SINK };
  if (k >= n || (!red && (elements(p, s, 0, to) != n || mode == A_CAS) && n > 1)) return 0;
  if (!red && n == 1) to[0] = &s->op[0];
  sim_insn *in = ptx_emit(p, op, s);
  in->r[0] = ptx_target_of(p, red ? &sink : to[k], bytes);
  fill_address(p, s, b - 1, &space, in);
  if (s->op[b - 1].symbol != 0 && k > 0) return 0;
  in->offset += (int64_t)k * t->bytes;
  in->r[2] = ptx_source_of(p, from[k], bytes, t);
  in->r[3] = mode == A_CAS ? ptx_source(p, s, b + 1, bytes, t) : in->r[2];
  in->width = (uint8_t)t->bytes;
  in->vec = 1;
  in->lane = (uint8_t)bytes;
  in->mode = (uint8_t)mode;
  in->flags = order;
  in->type[0] = value_code(t);
  return 1;
}

/* atom d, [a], b {, c}; red [a], b. The operation's word goes into `mode`. */
static int decode_atom(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  static const uint8_t words[] = { W_ADD, W_MIN, W_MAX, W_AND, W_OR, W_XOR, W_EXCH, W_CAS, W_INC, W_DEC };
  int space = space_of(f), mode = -1;
  if (space == SIM_CONST || space == SIM_LOCAL || space == SIM_PARAM || f->types != 1) return 0;
  const ptx_type *t = &f->type[0];
  for (unsigned i = 0; i < sizeof words; i++)
    if (ptx_has(f, words[i])) mode = (int)i;
  if (mode < 0 || t->bytes < 2) return 0;
  if (t->bytes == 2 && t->class != PTX_F && t->class != PTX_BF && mode != A_CAS) return 0;
  note_grain(p->f, space, t->bytes);
  if (t->bytes == 16) return vector_of(f) == 1 && ptx_decode_wide_atom(p, s, space, mode, order_of(f));
  for (unsigned k = 0; k < vector_of(f); k++)
    if (!emit_atom(p, s, t, space, mode, order_of(f), k)) return 0;
  return 1;
}

int ptx_decode_memory(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  if (ptx_has(f, W_ACQUIRE) || ptx_has(f, W_RELEASE) || ptx_has(f, W_ACQ_REL)) p->f->fences = 1;
  if (strcmp(f->base, "ld") == 0 || strcmp(f->base, "ldu") == 0) return decode_ld(p, s, f);
  if (strcmp(f->base, "createpolicy") == 0) return decode_policy(p, s);
  if (strcmp(f->base, "st") == 0) return decode_st(p, s, f);
  if (strcmp(f->base, "red") == 0 && ptx_has(f, W_ASYNC)) return 0;
  if (strcmp(f->base, "atom") == 0 || strcmp(f->base, "red") == 0) return decode_atom(p, s, f);
  return 0;
}

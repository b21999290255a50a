/* decode_wgmma.c - products of warpgroups: wgmma, see sim/exec/body_wgmma.h. */
#include "sim/read/decode.h"

#include <string.h>

/* Whether there is a product of these types (D, A, B) and this shape. */
static int exists(const char t[4], const unsigned m[3]) {
  int whole = t[0] == 'i', small = strchr("eEcC", t[1]) != NULL;
  if (m[0] != 64 || m[1] < 8 || m[1] > 256 || m[1] % 8 != 0) return 0;
  if (whole && m[1] > 32 && m[1] % 16 != 0) return 0;
  if (strchr("hbteEcC", t[1]) == NULL || m[2] * ptx_tensor_bits(t[1]) != 256) return 0;
  if (whole != (strchr("cC", t[1]) != NULL) || (!whole && strchr("fh", t[0]) == NULL)) return 0;
  if (t[0] == 'h' && (t[1] == 'b' || t[1] == 't')) return 0;
  if (!small) return t[1] == t[2];
  return strchr(whole ? "cC" : "eE", t[2]) != NULL;
}

/* A constant that is 1, or -1 (and then *minus changes); or 0, 1 and its bit. 0: neither. */
static int take_sign(ptx_parser *p, const ptx_statement *s, unsigned i, int *minus) {
  int64_t v = (int64_t)ptx_immediate(p, s, i);
  if (v == -1) *minus = !*minus;
  return v == 1 || v == -1;
}
static int take_bit(ptx_parser *p, const ptx_statement *s, unsigned i, int bit, int *how) {
  uint64_t v = ptx_immediate(p, s, i);
  if (v == 1) *how |= bit;
  return v <= 1;
}

/* What stands behind scale-d: signs of floats, and of 16-bit ones which factors are turned. */
static int read_how(ptx_parser *p, const ptx_statement *s, const char t[4], int *how) {
  unsigned at = 4;
  int minus = 0;
  if (t[0] != 'i' && (!take_sign(p, s, at++, &minus) || !take_sign(p, s, at++, &minus))) return 0;
  if (minus) *how |= WG_MINUS;
  if (t[1] != 'h' && t[1] != 'b') return s->count == at;
  if (!(*how & WG_REGISTERS) && !take_bit(p, s, at++, WG_TURN_A, how)) return 0;
  return take_bit(p, s, at++, WG_TURN_B, how) && s->count == at;
}

/* wgmma.mma_async d, a | descriptor of a, descriptor of b, scale-d, ... */
static int decode_product(ptx_parser *p, const ptx_statement *s) {
  char t[4];
  unsigned m[3], quarter[3];
  if (ptx_tensor_types(s, t) != 3 || !ptx_tensor_shape(s, m) || !exists(t, m) || s->count < 4) return 0;
  int how = ptx_word_at(s, "satfinite") ? WG_SATURATES : 0;
  if (s->op[1].kind == PTX_O_VECTOR) how |= WG_REGISTERS;
  if (s->op[3].negate) how |= WG_KEEP_NOT;
  if (!read_how(p, s, t, &how)) return 0;
  memcpy(quarter, m, sizeof m);
  quarter[0] = 16;
  uint32_t first = p->f->nextras;
  unsigned n = t[0] == 'h' ? m[1] / 4 : m[1] / 2;
  if (!ptx_tensor_registers(p, s, 0, n, 4, 1)) return 0;
  if (how & WG_REGISTERS && !ptx_tensor_registers(p, s, 1, 4, 4, 0)) return 0;
  sim_ref a = how & WG_REGISTERS ? p->f->extras[first] : ptx_source(p, s, 1, 8, NULL);
  sim_ref b = ptx_source(p, s, 2, 8, NULL), keep = ptx_source(p, s, 3, 0, NULL);
  sim_insn *in = ptx_emit(p, SIM_OP_wgmma, s);
  in->r[0] = p->f->extras[first];
  in->r[1] = a;
  in->r[2] = b;
  in->r[3] = keep;
  in->extra = first;
  in->shape.m = (uint16_t)m[0];
  in->shape.n = (uint16_t)m[1];
  in->shape.k = (uint16_t)m[2];
  in->shape.registers = (uint16_t)(p->f->nextras - first);
  memcpy(in->type, t, 3);
  in->flags = (uint8_t)how;
  in->cost = (uint16_t)ptx_tensor_cost(quarter, t[1]);
  return 1;
}

int ptx_decode_wgmma(ptx_parser *p, const ptx_statement *s) {
  if (s->words < 2) return 0;
  if (ptx_word_is(&s->word[1], "mma_async")) return decode_product(p, s);
  if (ptx_word_is(&s->word[1], "fence")) return ptx_emit(p, SIM_OP_wgmma_fence, s) != NULL;
  if (ptx_word_is(&s->word[1], "commit_group")) return ptx_emit(p, SIM_OP_wgmma_commit, s) != NULL;
  if (!ptx_word_is(&s->word[1], "wait_group")) return 0;
  uint64_t keep = ptx_immediate(p, s, 0);
  sim_insn *in = ptx_emit(p, SIM_OP_wgmma_wait, s);
  in->value = keep > UINT32_MAX ? UINT32_MAX : keep;
  return 1;
}

/*
** decode_video.c - video instructions: on 8 or 16 bits side by side (vadd2, vadd4 and their kin), and on a
** byte, a half or all of a register, with a second operation or a place in the third operand (vadd and its kin).
*/
#include "sim/read/decode.h"

#include <string.h>

static const char *const names[] = { "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vavrg", "vshl", "vshr", "vmad" };
enum { NAMES = sizeof names / sizeof *names };

/* Which of them a name of `size` letters is; NAMES: none. */
static size_t which_of(const char *name, size_t size) {
  size_t i = 0;
  while (i < NAMES && (strlen(names[i]) != size || memcmp(names[i], name, size) != 0)) i++;
  return i;
}

static int is_signed(const ptx_type *t) { return t->class == PTX_S; }

/* vadd4.u32.u32.u32{.add} d, a, b, c: parts of 8 or 16 bits side by side. */
static int decode_parts(ptx_parser *p, const ptx_statement *s, const ptx_form *f, unsigned parts) {
  size_t which = which_of(f->base, strlen(f->base) - 1);
  int compares = which == VIDEO_SET, types = compares ? 2 : 3, cmp = compares ? ptx_compare(f) : 0;
  if (which > VIDEO_AVRG || f->types != (unsigned)types || cmp < 0 || cmp > SIM_GE) return 0;
  sim_ref r[4];
  for (unsigned i = 1; i < 4; i++) r[i] = ptx_source(p, s, i, 4, NULL);
  r[0] = ptx_target(p, s, 0, 4);
  sim_insn *in = ptx_emit(p, SIM_OP_video, s);
  memcpy(in->r, r, sizeof r);
  in->mode = (uint8_t)which;
  in->cmp = (uint8_t)cmp;
  in->width = parts == 2 ? 2 : 1;
  in->sat = (uint16_t)ptx_has(f, W_SAT);
  in->flags = (uint8_t)(is_signed(&f->type[types - 2]) | is_signed(&f->type[types - 1]) << 1 |
                        (!compares && is_signed(&f->type[0])) << 2 | ptx_has(f, W_ADD) << 3);
  return 1;
}

/* Operand i without its part, which is left in *part. */
static ptx_operand whole_of(ptx_parser *p, const ptx_statement *s, unsigned i, uint8_t *part) {
  ptx_operand o = *ptx_operand_at(p, s, i);
  *part = o.part;
  o.part = 0;
  return o;
}

static uint8_t second_of(const ptx_form *f) {
  return ptx_has(f, W_ADD) ? 1 : ptx_has(f, W_MIN) ? 2 : ptx_has(f, W_MAX) ? 3 : 0;
}

/* vadd.s32.u32.u32{.sat}{.add} d{.h0}, a{.b1}, b{.b2} {, c}. */
static int decode_one(ptx_parser *p, const ptx_statement *s, const ptx_form *f, size_t which) {
  int compares = which == VIDEO_SET, cmp = compares ? ptx_compare(f) : 0, types = compares ? 2 : 3;
  uint8_t part[3];
  if (s->count < 3 || s->count > 4 || f->types != (unsigned)types || cmp < 0 || cmp > SIM_GE) return 0;
  for (unsigned i = 0; i < f->types; i++) if (f->type[i].bytes != 4) return 0;
  ptx_operand d = whole_of(p, s, 0, &part[0]), a = whole_of(p, s, 1, &part[1]), b = whole_of(p, s, 2, &part[2]);
  if (which == VIDEO_MAD && (part[0] != 0 || s->count != 4)) return 0;
  if (s->count == 3 && (part[0] != 0 || second_of(f) != 0)) return 0;
  sim_ref ra = ptx_source_of(p, &a, 4, NULL), rb = ptx_source_of(p, &b, 4, NULL);
  sim_ref rc = s->count == 4 ? ptx_source(p, s, 3, 4, NULL) : ptx_value(p, 4, 0), rd = ptx_target_of(p, &d, 4);
  sim_insn *in = ptx_emit(p, SIM_OP_video_one, s);
  in->r[0] = rd;
  in->r[1] = ra;
  in->r[2] = rb;
  in->r[3] = rc;
  in->mode = (uint8_t)which;
  in->cmp = (uint8_t)cmp;
  memcpy(in->type, part, sizeof part);
  in->from_lane = which == VIDEO_MAD ? 0 : second_of(f);
  in->vec = ptx_has(f, W_SHR7) ? 7 : ptx_has(f, W_SHR15) ? 15 : 0;
  in->sat = (uint16_t)ptx_has(f, W_SAT);
  in->flags = (uint8_t)(is_signed(&f->type[types - 2]) | is_signed(&f->type[types - 1]) << 1 |
                        (!compares && is_signed(&f->type[0])) << 2 | ptx_has(f, W_WRAP) << 3 | ptx_has(f, W_PO) << 4);
  in->cost = which == VIDEO_MAD ? 4 : 6;               /* machines since 2014 put them together of others */
  return 1;
}

int ptx_decode_video(ptx_parser *p, const ptx_statement *s, const ptx_form *f) {
  size_t n = strlen(f->base);
  if (n < 4 || f->base[0] != 'v') return 0;
  if (f->base[n - 1] == '2' || f->base[n - 1] == '4') return decode_parts(p, s, f, (unsigned)(f->base[n - 1] - '0'));
  size_t which = which_of(f->base, n);
  return which < NAMES && which != VIDEO_AVRG && decode_one(p, s, f, which);
}

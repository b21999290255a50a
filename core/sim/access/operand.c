/* operand.c - where the factors of a warpgroup product lie. See operand.h. */
#include "sim/access/operand.h"

/* A core matrix has eight lines; beyond that, and beyond a pattern's width, the offsets. */
static uint32_t wg_piece(const wg_tile *t, unsigned line, unsigned along) {
  int plain = t->swizzle == 1 && t->turned;
  uint32_t eights = plain ? t->leading : t->stride, far = plain ? t->stride : t->leading;
  uint32_t at = t->start + line % 8 * t->swizzle * WG_PIECE + line / 8 * eights +
                along / t->swizzle * far + along % t->swizzle * WG_PIECE;
  uint32_t phase = ((at >> 7) - t->base) & (t->swizzle - 1);
  return at ^ phase << 4;
}

static void wg_places(wg_tile *t, uint64_t descriptor, unsigned edge, unsigned deep, int turned) {
  static const uint8_t swizzles[] = { 1, 8, 4, 2 };
  t->turned = turned;
  t->edge = edge;
  t->deep = deep;
  t->lines = turned ? deep : edge;
  t->along = turned ? edge / 8 : 2;
  t->start = (uint32_t)(descriptor & 0x3fff) << 4;
  t->leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
  t->stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
  t->base = (uint32_t)(descriptor >> 49 & 7);
  t->swizzle = swizzles[descriptor >> 62];
  t->pieces = t->lines * t->along;
  for (unsigned i = 0; i < t->pieces; i++) t->at[i] = wg_piece(t, i / t->along, i % t->along);
}

void sim_wg_places_a(wg_tile *t, const sim_insn *in, uint64_t descriptor) {
  wg_places(t, descriptor, WG_ROWS, in->shape.k, in->flags & WG_TURN_A);
}
void sim_wg_places_b(wg_tile *t, const sim_insn *in, uint64_t descriptor) {
  wg_places(t, descriptor, in->shape.n, in->shape.k, in->flags & WG_TURN_B);
}

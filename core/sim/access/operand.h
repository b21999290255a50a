/*
** operand.h - where the factors of a warpgroup product (wgmma.mma_async) lie in shared memory.
**
** A factor in shared memory is made of pieces of 16 bytes, side by side along K, or (transposed)
** along M or N; eight lines of pieces make a core matrix. A descriptor has, in units of 16 bytes,
** the start (bits 0-13), the leading (16-29) and the stride offset (32-45); the start's place in a
** pattern that is not aligned (49-51, in units of 128 bytes); how pieces are mixed (62-63): by 16
** (not at all), 128, 64 or 32 bytes.
*/
#ifndef CAWB_SIM_ACCESS_OPERAND_H
#define CAWB_SIM_ACCESS_OPERAND_H

#include "sim/instructions/insn.h"
#include "sim/instructions/variants.h"

enum { WG_ROWS = 64, WG_QUARTER = 16, WG_COLUMNS = 256, WG_DEEP = 32, WG_PIECES = 512, WG_PIECE = 16 };

typedef struct wg_tile {
  int turned;
  unsigned edge, deep, lines, along;    /* rows or columns; K; lines, and pieces of a line */
  uint32_t start, base, leading, stride;
  unsigned swizzle;                     /* pieces that are mixed */
  unsigned pieces;
  uint32_t at[WG_PIECES];               /* line after line; as bytes of shared memory */
} wg_tile;

void sim_wg_places_a(wg_tile *t, const sim_insn *in, uint64_t descriptor);
void sim_wg_places_b(wg_tile *t, const sim_insn *in, uint64_t descriptor);

#endif

/*
** shadow.h - the race detector of shared memory.
**
** For each unit of shared memory (4 bytes, or less where the kernel accesses less) the shadow keeps
** who wrote and who read it last: epoch << 8 | warp, with flags. The epoch grows at every barrier.
** Two accesses of one epoch by different warps are a race if one of them writes and one of them is
** plain. Only compare-and-swap may follow or precede plain reads: its loop begins with one, and a
** stale value there costs an iteration of the loop and nothing else.
**
** Functions over many units are here, for the instruction set of whoever includes them.
*/
#ifndef CAWB_SIM_WATCH_SHADOW_H
#define CAWB_SIM_WATCH_SHADOW_H

#include "sim/exec/request.h"
#include "sim/exec/shape.h"

/* Beside the epoch: of writers, all were atomic, all were compare-and-swaps; of
   readers, all were atomic; several warps. */
enum { SHADOW_ATOMIC = 0x20, SHADOW_MANY = 0x40, SHADOW_SWAP = 0x80, SHADOW_WARP = 0x1f };

/* A unit of shared memory that several warps wrote: who before, and what it held. */
enum { SIM_WAW = 1024 };
struct sim_waw { uint32_t unit, other, was; };

/* One unit, with everything said about it. */
void sim_shadow_unit(sim_warp *w, const sim_insn *in, uint32_t i, int how);

/* Another block's unit: as if several of its warps had come. */
void sim_shadow_far(sim_warp *w, const sim_insn *in, sim_exec *to, uint32_t unit, int how);

/* After a store: where it changed what another warp had written, that is a race. */
void sim_shadow_settle(sim_warp *w, const sim_insn *in);

/* Whether what is known of a unit needs the slow look: another warp, or an atomic access, of
   this epoch; and of a read, that nothing has been written. */
static inline uint32_t conflicts(uint32_t note, uint32_t key) { return (note ^ key) - 1u < 255u; }

/* The note of a plain read. */
static inline uint32_t read_note(uint32_t r, uint32_t key) {
  uint32_t same = (r >> 8) == (key >> 8);
  return same && !(r & SHADOW_ATOMIC) && r != key ? (key & ~255u) | SHADOW_MANY : key;
}

/* Many units side by side: a fast look whether any of them needs the slow one. */
static inline void shadow_range(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how) {
  sim_exec *x = w->exec;
  if (!x->checks) return;
  uint32_t key = x->epoch << 8 | w->index, odd = 0, oldest = x->first_epoch << 8;
  u32 *wr = x->writers + first, *rd = x->readers + first, *lines = x->lines + first;
  if (how == READ && n <= 4) {
    for (uint32_t i = 0; i < n; i++) {
      odd |= conflicts(wr[i], key) | (wr[i] < oldest);
      rd[i] = read_note(rd[i], key);
    }
    if (!odd) return;
  } else if (how == READ) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
      odd |= conflicts(wr[i], key) | (wr[i] < oldest);
      rd[i] = read_note(rd[i], key);
    }
    if (!odd) return;
  } else if (how == WRITE) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) odd |= conflicts(wr[i], key) | conflicts(rd[i], key);
    if (!odd) {
      uint32_t line = in->line;
      SIM_VECTOR for (uint32_t i = 0; i < n; i++) wr[i] = key, lines[i] = line;
      return;
    }
  }
  for (uint32_t i = 0; i < n; i++) sim_shadow_unit(w, in, first + i, how);
}

/* The same of units that lie apart, with others between them. */
static inline void shadow_touched(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t first, int how) {
  sim_exec *x = w->exec;
  uint32_t key = x->epoch << 8 | w->index, odd = 0, oldest = x->first_epoch << 8, n = s->units;
  u32 *wr = x->writers + first, *rd = x->readers + first, *lines = x->lines + first;
  const uint32_t *touched = s->touched;
  if (how == READ) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
      odd |= (conflicts(wr[i], key) | (wr[i] < oldest)) & touched[i];
      rd[i] = touched[i] ? read_note(rd[i], key) : rd[i];
    }
    if (!odd) return;
  } else if (how == WRITE) {
    SIM_VECTOR for (uint32_t i = 0; i < n; i++) odd |= (conflicts(wr[i], key) | conflicts(rd[i], key)) & touched[i];
    if (!odd) {
      uint32_t line = in->line;
      SIM_VECTOR for (uint32_t i = 0; i < n; i++) {
        wr[i] = touched[i] ? key : wr[i];
        lines[i] = touched[i] ? line : lines[i];
      }
      return;
    }
  }
  for (uint32_t i = 0; i < n; i++) if (touched[i]) sim_shadow_unit(w, in, first + i, how);
}

static inline void shadow_shape(sim_warp *w, const sim_insn *in, const sim_shape *s, uint32_t start, int how) {
  unsigned grain = w->exec->grain;
  int32_t first = (int32_t)(start >> grain);
  if (s->units > 0) {
    shadow_touched(w, in, s, (uint32_t)(first + (s->from >> grain)), how);
    return;
  }
  for (int32_t k = 0; k < s->ranges; k++)
    shadow_range(w, in, (uint32_t)(first + s->range[k].first), (uint32_t)s->range[k].count, how);
}

#endif

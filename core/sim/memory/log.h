/*
** log.h - what a block that runs beside others notes of its accesses to global memory, for
** replay.c to account for in the order of the blocks; and what is kept of memory before it is
** changed, for undo.c to bring back.
*/
#ifndef CAWB_SIM_MEMORY_LOG_H
#define CAWB_SIM_MEMORY_LOG_H

#include <stdlib.h>

#include "sim/memory/spent.h"
#include "sim/memory/region.h"

/*
** A word for each line (128 bytes) of a request: its number (30 bits), the region's slot (14),
** its sectors (4), of a load those that L1 had too long ago (4), the kind (2) and a flag (1):
** of a load, that a request begins; of a store, that sectors are stored to as a whole.
** SIM_LOG_BYTES is followed by two words, a bit for each byte of the line; SIM_LOG_WHOLE says
** of a store that it changes all bytes of its sectors, and needs none.
*/
enum { SIM_LOG_LOAD, SIM_LOG_STORE, SIM_LOG_WHOLE, SIM_LOG_BYTES };

#define SIM_LOG_LINE(v) ((v) & 0x3fffffff)
#define SIM_LOG_SLOT(v) ((v) >> 30 & 0x3fff)
#define SIM_LOG_SECTORS(v) ((uint32_t)((v) >> 44) & 15)
#define SIM_LOG_OLD(v) ((uint32_t)((v) >> 48) & 15)
#define SIM_LOG_KIND(v) ((v) >> 52 & 3)
#define SIM_LOG_FLAG(v) ((v) >> 54 & 1)

/* A block that has run: where its words end. */
typedef struct sim_ran { uint64_t threads; uint32_t serial; size_t end; sim_spent spent; sim_moves moves; } sim_ran;

typedef struct sim_log {
  uint64_t *words;
  size_t count, room;
  sim_ran *ran;
  size_t nran, ran_room;
  int begins;                   /* the next word begins a request */
  int failed;                   /* out of memory, or a thing that only blocks in order do */
  const int *halt;              /* others have found that blocks must run in order */
  uint64_t patience;            /* thread instructions after which a block is taken to go astray */
} sim_log;

enum { SIM_LOG_MOST = 1 << 23 };        /* words of a stretch; blocks with more run in order */

/* 0: there is no room, and that is noted. */
static inline int sim_log_room(sim_log *g, size_t more) {
  if (g->count + more <= g->room) return 1;
  size_t room = g->room == 0 ? 4096 : 2 * g->room;
  uint64_t *grown = room <= SIM_LOG_MOST ? realloc(g->words, room * sizeof *grown) : NULL;
  if (grown == NULL) { g->failed = 1; return 0; }
  g->words = grown;
  g->room = room;
  return 1;
}

static inline uint64_t sim_log_word(const sim_region *r, uint64_t line, uint32_t sectors, unsigned kind) {
  return line | (uint64_t)(r->base >> SIM_SLOT_BITS) << 30 | (uint64_t)sectors << 44 | (uint64_t)kind << 52;
}

/* Sectors of a line that a load misses in L1. */
static inline void sim_log_load(sim_log *g, const sim_region *r, uint64_t line, uint32_t missing, uint32_t old) {
  if (!sim_log_room(g, 1)) return;
  g->words[g->count++] = sim_log_word(r, line, missing, SIM_LOG_LOAD) | (uint64_t)old << 48 |
                         (uint64_t)g->begins << 54;
  g->begins = 0;
}

static inline void sim_log_store(sim_log *g, const sim_region *r, uint64_t line, uint32_t sectors, int whole,
                                 int exact) {
  if (!sim_log_room(g, 1)) return;
  g->words[g->count++] = sim_log_word(r, line, sectors, exact ? SIM_LOG_WHOLE : SIM_LOG_STORE) |
                         (uint64_t)(whole != 0) << 54;
}

/* Bytes `from` up to `to` of a line are stored to. */
static inline void sim_log_bytes(sim_log *g, const sim_region *r, uint64_t line, unsigned from, unsigned to) {
  uint64_t *w;
  if (!sim_log_room(g, 3)) return;
  w = g->words + g->count;
  w[0] = sim_log_word(r, line, 0, SIM_LOG_BYTES);
  for (unsigned k = 0; k < 2; k++) {
    unsigned lo = from > 64 * k ? from - 64 * k : 0, hi = to > 64 * k ? to - 64 * k : 0;
    w[k + 1] = lo < 64 && hi > lo ? (hi >= 64 ? UINT64_MAX : (UINT64_C(1) << hi) - 1) & UINT64_MAX << lo : 0;
  }
  g->count += 3;
}

/* ------------------------------------------------------------------- undo.c */

enum { SIM_CHUNK = 1 << 14 };   /* bytes that are kept at once */

/* A piece of a region as it was before the launch changed it. */
typedef struct sim_chunk {
  struct sim_chunk *next;
  sim_region *region;
  size_t index;
  uint64_t bytes[SIM_CHUNK / 64];       /* that blocks have stored to, a bit each; of those replayed */
  uint64_t written[SIM_CHUNK / 64];
  unsigned char data[SIM_CHUNK];
} sim_chunk;

int  sim_undo_begin(sim_device *d);             /* 0 when out of memory */
int  sim_undo_keep(sim_device *d, sim_region *r, size_t index);   /* 0: there is no room for it */
void sim_undo_restore(sim_device *d);           /* memory is as it was before the launch */
void sim_undo_end(sim_device *d);

/* Before bytes `from` up to `to` of a region are changed. 0: they must not be. */
static inline int sim_undo_note(sim_device *d, sim_region *r, uint64_t from, uint64_t to) {
  for (uint64_t k = from / SIM_CHUNK; k <= (to - 1) / SIM_CHUNK; k++)
    if (__atomic_load_n(&r->chunks[k], __ATOMIC_ACQUIRE) == NULL && !sim_undo_keep(d, r, k)) return 0;
  return 1;
}

#endif

/*
** undo.c - memory as it was before a launch. Blocks that run beside each other may turn out to
** be in each other's way; then what they have changed is brought back, and they run in order.
** Pieces of 16 KiB are copied before the first store to them.
*/
#include "sim/memory/log.h"
#include "sim/memory/device.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of pieces of one launch; beyond it blocks run in order. And of those kept for the next one. */
#define MOST ((size_t)1 << 30)
#define SPARE ((size_t)64 << 20)

int sim_undo_begin(sim_device *d) {
  for (unsigned i = SIM_SLOT_FIRST; i < d->nslots; i++) {
    sim_region *r = d->slots[i];
    if (r == NULL || r->chunks != NULL) continue;
    r->chunks = calloc(r->size / SIM_CHUNK + 1, sizeof *r->chunks);
    if (r->chunks == NULL) return 0;
  }
  return 1;
}

static sim_chunk *take(sim_device *d) {
  sim_chunk *c = d->spare;
  if (d->kept * sizeof *c >= MOST) return NULL;
  if (c != NULL) {
    d->spare = c->next;
    d->spares--;
  } else c = malloc(sizeof *c);
  if (c != NULL) d->kept++;
  return c;
}

static size_t length(const sim_region *r, size_t index) {
  size_t left = r->size - index * SIM_CHUNK;
  return left < SIM_CHUNK ? left : SIM_CHUNK;
}

/* The words of `written` that speak of a piece. */
static size_t words(const sim_region *r, size_t index) { return (length(r, index) + 63) / 64; }

static void copy(sim_chunk *c, sim_region *r, size_t index) {
  c->region = r;
  c->index = index;
  memset(c->bytes, 0, sizeof c->bytes);
  memcpy(c->data, r->host + index * SIM_CHUNK, length(r, index));
  if (r->written != NULL)
    memcpy(c->written, r->written + index * SIM_CHUNK / 64, words(r, index) * sizeof *c->written);
}

int sim_undo_keep(sim_device *d, sim_region *r, size_t index) {
  pthread_mutex_lock(&d->undo);
  sim_chunk *c = r->chunks[index];
  if (c == NULL) {
    c = take(d);
    if (c != NULL) {
      copy(c, r, index);
      c->next = d->changed;
      d->changed = c;
      __atomic_store_n(&r->chunks[index], c, __ATOMIC_RELEASE);
    }
  }
  pthread_mutex_unlock(&d->undo);
  return c != NULL;
}

void sim_undo_restore(sim_device *d) {
  for (const sim_chunk *c = d->changed; c != NULL; c = c->next) {
    sim_region *r = c->region;
    memcpy(r->host + c->index * SIM_CHUNK, c->data, length(r, c->index));
    if (r->written != NULL)
      memcpy(r->written + c->index * SIM_CHUNK / 4 / 64, c->written, words(r, c->index) * sizeof *c->written);
  }
}

void sim_undo_end(sim_device *d) {
  while (d->changed != NULL) {
    sim_chunk *c = d->changed;
    d->changed = c->next;
    c->region->chunks[c->index] = NULL;
    if (d->spares * sizeof *c < SPARE) {
      c->next = d->spare;
      d->spare = c;
      d->spares++;
    } else free(c);
  }
  d->kept = 0;
}

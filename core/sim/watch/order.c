/*
** order.c - see order.h. Clocks are lists of pages, shared between those who know the same and copied before
** they are changed, so that chains of blocks that know all their predecessors stay small.
*/
#include "sim/watch/order.h"

#include <stdlib.h>

enum { PAGE = 64, TABLE = 1 << 8, PLACES_MOST = 1 << 20 };

typedef struct known { uint32_t stretch, warps; } known;      /* all before it; of it, that of these warps */
typedef struct page { uint32_t refs; known at[PAGE]; } page;
typedef struct sim_clock { uint32_t refs; page *pages[]; } sim_clock;      /* as many as the launch has blocks for */

typedef struct place { uint64_t addr; sim_clock *clock; } place;
struct sim_order {
  uint32_t pages;
  place *places;                /* a hash table; addr 0: free */
  size_t nplaces, room;
  int lost;                     /* out of memory: all is known from now on */
};

static void drop_page(page *p) { if (p != NULL && --p->refs == 0) free(p); }

static void drop(const sim_order *o, sim_clock *c) {
  if (c == NULL || --c->refs > 0) return;
  for (uint32_t i = 0; i < o->pages; i++) drop_page(c->pages[i]);
  free(c);
}

static sim_clock *hold(sim_clock *c) {
  if (c != NULL) c->refs++;
  return c;
}

static void set(const sim_order *o, sim_clock **to, sim_clock *from) {
  hold(from);
  drop(o, *to);
  *to = from;
}

/* The clock alone, to be changed; NULL: out of memory. */
static sim_clock *own(sim_order *o, sim_clock **c) {
  if (*c != NULL && (*c)->refs == 1) return *c;
  sim_clock *copy = calloc(1, sizeof *copy + o->pages * sizeof *copy->pages);
  if (copy == NULL) { o->lost = 1; return NULL; }
  copy->refs = 1;
  for (uint32_t i = 0; i < o->pages && *c != NULL; i++)
    if ((copy->pages[i] = (*c)->pages[i]) != NULL) copy->pages[i]->refs++;
  drop(o, *c);
  return *c = copy;
}

static page *own_page(sim_order *o, page **p) {
  if (*p != NULL && (*p)->refs == 1) return *p;
  page *copy = calloc(1, sizeof *copy);
  if (copy == NULL) { o->lost = 1; return NULL; }
  if (*p != NULL) memcpy(copy->at, (*p)->at, sizeof copy->at);
  copy->refs = 1;
  drop_page(*p);
  return *p = copy;
}

static int adds(const known *to, const known *from) {
  return from->stretch > to->stretch || (from->stretch == to->stretch && (from->warps & ~to->warps));
}

static void add(known *to, const known *from) {
  if (from->stretch > to->stretch) *to = *from;
  else if (from->stretch == to->stretch) to->warps |= from->warps;
}

static void join_page(sim_order *o, page **to, page *from) {
  int more = 0;
  if (from == NULL || from == *to) return;
  if (*to == NULL) {
    *to = from;
    from->refs++;
    return;
  }
  for (int i = 0; i < PAGE; i++) more |= adds(&(*to)->at[i], &from->at[i]);
  page *p = more ? own_page(o, to) : NULL;
  for (int i = 0; i < PAGE && p != NULL; i++) add(&p->at[i], &from->at[i]);
}

static void join(sim_order *o, sim_clock **to, sim_clock *from) {
  if (from == NULL || from == *to) return;
  if (*to == NULL) {
    *to = hold(from);
    return;
  }
  sim_clock *c = own(o, to);
  for (uint32_t i = 0; i < o->pages && c != NULL; i++) join_page(o, &c->pages[i], from->pages[i]);
}

static void learn(sim_order *o, sim_clock **c, uint32_t block, known k) {
  sim_clock *mine = own(o, c);
  page *p = mine != NULL ? own_page(o, &mine->pages[block / PAGE]) : NULL;
  if (p != NULL) add(&p->at[block % PAGE], &k);
}

/* ------------------------------------------------------------------- places */

sim_order *sim_order_new(uint64_t blocks) {
  sim_order *o = calloc(1, sizeof *o);
  if (o == NULL) return NULL;
  o->pages = (uint32_t)((blocks + PAGE - 1) / PAGE);
  o->room = TABLE;
  o->places = calloc(o->room, sizeof *o->places);
  if (o->places != NULL) return o;
  free(o);
  return NULL;
}

void sim_order_free(sim_order *o) {
  if (o == NULL) return;
  for (size_t i = 0; i < o->room; i++) drop(o, o->places[i].clock);
  free(o->places);
  free(o);
}

static place *slot(const sim_order *o, uint64_t addr) {
  size_t i = (size_t)(addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (o->room - 1);
  while (o->places[i].addr != 0 && o->places[i].addr != addr) i = (i + 1) & (o->room - 1);
  return &o->places[i];
}

static void grow(sim_order *o) {
  place *was = o->places;
  size_t n = o->room;
  o->places = n < PLACES_MOST ? calloc(2 * n, sizeof *o->places) : NULL;
  if (o->places == NULL) {
    o->places = was;
    o->lost = 1;
    return;
  }
  o->room = 2 * n;
  for (size_t i = 0; i < n; i++) if (was[i].addr != 0) *slot(o, was[i].addr) = was[i];
  free(was);
}

/* What is left at a place; by an atomic access beside what was there. */
static void leave(sim_order *o, uint64_t addr, sim_clock *c, int replaces) {
  place *p = slot(o, addr);
  if (p->addr == 0) {
    if (c == NULL) return;
    if (2 * ++o->nplaces > o->room) {
      grow(o);
      if (o->lost) return;
      p = slot(o, addr);
    }
    p->addr = addr;
  }
  if (replaces) set(o, &p->clock, c);
  else join(o, &p->clock, c);
}

/* -------------------------------------------------------------------- warps */

void sim_order_begin(sim_exec *x) {
  if (x->order == NULL) return;
  for (unsigned i = 0; i < x->nwarps; i++) {
    set(x->order, &x->warps[i].clock, NULL);
    set(x->order, &x->warps[i].fence, NULL);
  }
  x->learned = 0;
}

void sim_order_leave(sim_exec *x) {
  if (x->order != NULL && x->warps != NULL) sim_order_begin(x);
}

void sim_order_fence(sim_warp *w) {
  sim_exec *x = w->exec;
  if (x->order == NULL) return;
  learn(x->order, &w->clock, x->serial, (known){ x->stretch, 1u << w->index });
  set(x->order, &w->fence, w->clock);
  x->learned = 1;
}

/* All warps of these blocks know and may make known what any of them does. */
void sim_order_meet(sim_exec *x) {
  sim_clock *clock = NULL, *fence = NULL;
  int learned = 0;
  for (unsigned k = 0; k < x->npeers; k++) learned |= x->peers[k]->learned;
  if (x->order == NULL || !learned) return;
  for (unsigned k = 0; k < x->npeers; k++)
    for (unsigned i = 0; i < x->nwarps; i++) {
      join(x->order, &clock, x->peers[k]->warps[i].clock);
      join(x->order, &fence, x->peers[k]->warps[i].fence);
    }
  for (unsigned k = 0; k < x->npeers; k++) {
    for (unsigned i = 0; i < x->nwarps; i++) {
      set(x->order, &x->peers[k]->warps[i].clock, clock);
      set(x->order, &x->peers[k]->warps[i].fence, fence);
    }
    x->peers[k]->learned = 0;
  }
  drop(x->order, clock);
  drop(x->order, fence);
}

void sim_order_access(sim_warp *w, const sim_insn *in, const uint64_t *addr, int how) {
  sim_exec *x = w->exec;
  sim_order *o = x->order;
  uint64_t last = 0;
  int plain = how != ATOMIC && !in->strong;
  if (o == NULL || (in->flags & SIM_ORDER_BLOCK) || (plain && (how == READ || in->vec > 1 || (w->mask & (w->mask - 1))))) return;
  if (how != READ && (in->flags & SIM_ORDER_RELEASES)) sim_order_fence(w);
  for (unsigned l = 0; l < SIM_LANES && !o->lost; l++) {
    uint64_t at = addr[l] & ~UINT64_C(3);
    if (!(w->mask >> l & 1) || at == last) continue;
    last = at;
    if (how != WRITE) {
      sim_clock *there = slot(o, at)->clock;
      if (there != NULL) {
        join(o, &w->clock, there);
        x->learned = 1;
      }
    }
    if (how != READ) leave(o, at, w->fence, how == WRITE);
  }
}

int sim_order_knows(const sim_warp *w, uint32_t block, uint32_t stretch, unsigned warp) {
  const sim_exec *x = w->exec;
  if (x->order == NULL) return 0;
  if (x->order->lost) return 1;
  const page *p = w->clock != NULL ? w->clock->pages[block / PAGE] : NULL;
  if (p == NULL) return 0;
  const known *k = &p->at[block % PAGE];
  return stretch < k->stretch || (stretch == k->stretch && (k->warps >> warp & 1));
}

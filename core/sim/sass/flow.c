/*
** flow.c - as often as a block is entered it is left: where all ways but one are known,
** so is that one. As compilers do with the counts of a profile. Where this leads no further
** the next unknown block is guessed.
*/
#include "sim/sass/sass.h"

#include <math.h>
#include <stdlib.h>

typedef struct side { double sum; uint32_t unknown, ways; } side;     /* of a block: in, or out */

typedef struct network {
  const sim_sass *s;
  double entries;
  double *times, *flow;         /* of blocks, of edges */
  side *in, *out;
} network;

static void add_way(side *d, double flow) {
  d->ways++;
  if (isnan(flow)) d->unknown++;
  else d->sum += flow;
}

static void gather(network *n) {
  for (uint32_t b = 0; b < n->s->nblocks; b++) n->in[b] = n->out[b] = (side){ 0, 0, 0 };
  n->in[0] = (side){ n->entries, 0, 1 };
  for (uint32_t i = 0; i < n->s->nedges; i++) {
    const sim_sass_edge *e = &n->s->edges[i];
    if (e->call) n->flow[i] = n->times[e->from];
    if (e->to != SIM_SASS_NOWHERE) add_way(&n->in[e->to], n->flow[i]);
    if (!e->call) add_way(&n->out[e->from], n->flow[i]);
  }
}

static int is_whole(const side *d) { return d->ways > 0 && d->unknown == 0; }

static int settle_blocks(network *n) {
  int changed = 0;
  for (uint32_t b = 0; b < n->s->nblocks; b++) {
    if (!isnan(n->times[b]) || (!is_whole(&n->in[b]) && !is_whole(&n->out[b]))) continue;
    n->times[b] = is_whole(&n->in[b]) ? n->in[b].sum : n->out[b].sum;
    changed = 1;
  }
  return changed;
}

/* The last unknown way; and nothing goes any way when the others take all. */
static double remainder_of(double times, const side *d) {
  double left = times - d->sum;
  if (isnan(times)) return NAN;
  if (!(left > 1e-6 * times)) return 0;
  return d->unknown == 1 ? left : NAN;
}

static int settle_edges(network *n) {
  int changed = 0;
  for (uint32_t i = 0; i < n->s->nedges; i++) {
    const sim_sass_edge *e = &n->s->edges[i];
    if (e->call || !isnan(n->flow[i])) continue;
    n->flow[i] = remainder_of(n->times[e->from], &n->out[e->from]);
    if (isnan(n->flow[i]) && e->to != SIM_SASS_NOWHERE)
      n->flow[i] = remainder_of(n->times[e->to], &n->in[e->to]);
    changed |= !isnan(n->flow[i]);
  }
  return changed;
}

static void settle(network *n) {
  do gather(n); while (settle_blocks(n) | settle_edges(n));
}

static double at_least(const network *n, uint32_t b, double guess) {
  double known = fmax(n->in[b].sum, n->out[b].sum);
  return guess > known ? guess : known;
}

int sim_sass_flow(const sim_sass *s, double entries, const double *guess, double *times) {
  network n = { s, entries, times, malloc((s->nedges + 1) * sizeof *n.flow), malloc(s->nblocks * sizeof *n.in),
                malloc(s->nblocks * sizeof *n.out) };
  int made = n.flow != NULL && n.in != NULL && n.out != NULL;
  for (uint32_t i = 0; made && i < s->nedges; i++) n.flow[i] = NAN;
  if (made) settle(&n);
  for (uint32_t b = 0; made && b < s->nblocks; b++)
    if (isnan(times[b])) {
      times[b] = at_least(&n, b, guess[b]);
      settle(&n);
    }
  free(n.flow);
  free(n.in);
  free(n.out);
  return made;
}

/*
** body_begin.h - a block begins: its places in the grid, its warps at the first instruction, and
** memory and registers as every other block finds them.
*/

static void fill_places(sim_exec *x) {
  const unsigned *b = x->block, *c = x->cluster;
  const uint32_t v[] = { b[0], b[1], b[2], b[0] / c[0], b[1] / c[1], b[2] / c[2],
                         b[0] % c[0], b[1] % c[1], b[2] % c[2], x->rank };
  for (unsigned k = 0; k < sizeof v / sizeof *v; k++) {
    u32 *at = (u32 *)(void *)(x->blockvals + (size_t)128 * k);
    SIM_VECTOR for (unsigned l = 0; l < SIM_LANES; l++) at[l] = v[k];
  }
}

/* What a block may see before it has written it is the same for every block, whichever was here
   before; and no zero, which a sum that nobody began would go well with. */
static void clear_block(sim_exec *x) {
  const sim_function *f = x->function;
  for (unsigned i = 0; i < x->nwarps; i++) {
    for (uint32_t k = 0; k < f->nunset; k++)
      memset(x->warps[i].base[SIM_REGS] + f->unset[k].off, 0xff, f->unset[k].size);
    x->warps[i].carry = 0;
  }
  if (x->shared_size > 0) memset(x->shared, 0xff, x->shared_size);
  if (f->local_size > 0) memset(x->local, 0, (size_t)x->local_stride * SIM_LANES * x->nwarps);
}

static void begin_block(sim_exec *x) {
  clear_block(x);
  fill_places(x);
  for (unsigned i = 0; i < x->nwarps; i++) {
    sim_warp *w = &x->warps[i];
    w->live = w->active = w->waited = w->born;
    w->pc = 0;
    w->next = UINT32_MAX;
    w->ngroups = 0;
    w->met = w->ncopies = 0;
    memset(w->commits, 0, sizeof w->commits);
    w->closed = w->fenced = 0;
    w->ordered = 0;
  }
  memset(x->barrier, 0, sizeof x->barrier);
  x->exited = 0;
  x->ended = 0;
  x->meetings = 0;
  x->nbulks = 0;
  if (x->flying > 0) {
    memset(x->flight, 0, x->shadow_size);
    memset(x->lent, 0, x->shadow_size);
  }
  x->flying = x->nlends = 0;
  if (x->checks && x->function->local_size > 0)
    memset(x->local_set, 0, (size_t)x->local_stride / 4 * SIM_LANES * x->nwarps);
  next_epoch(x);
  x->born = x->epoch;
}

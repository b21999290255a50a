/*
** body_async.h - copies that go on by themselves, and barrier objects. A copy is
** carried out when it is waited for, no earlier: until then its place holds what it
** held, and an access to it is reported.
*/

/* -------------------------------------------------------------- cp.async */

/* Units of shared memory that a copy is under way to, or no longer. */
static void set_flight(sim_exec *x, uint32_t at, uint32_t size, int begins) {
  if (!x->checks) return;
  for (uint32_t i = at >> x->grain; i < (at + size) >> x->grain; i++) {
    if (begins && x->flight[i] < 255) x->flight[i]++;
    else if (!begins && x->flight[i] > 0) x->flight[i]--;
  }
  uint32_t units = size >> x->grain;
  x->flying = begins ? x->flying + units : x->flying > units ? x->flying - units : 0;
}

static int out_of_memory(sim_warp *w, const sim_insn *in) {
  return barrier_text(w, in, "out of memory for the copies under way");
}

/* Room for 32 more copies of a warp; NULL when memory ends. */
static sim_copy *copies_of(sim_warp *w) {
  if (w->ncopies + SIM_LANES > w->copies_room) {
    uint32_t room = w->copies_room == 0 ? 256 : 2 * w->copies_room;
    sim_copy *grown = realloc(w->copies, room * sizeof *grown);
    if (grown == NULL) return NULL;
    w->copies = grown;
    w->copies_room = room;
  }
  return w->copies;
}

/* Mode 1: r[3] has the bytes to take, 2: nothing where it holds. */
static int op_cp_async(sim_warp *w, const sim_insn *in) {
  uint32_t to[SIM_LANES], skip = 0;
  uint64_t from[SIM_LANES];
  sim_where at;
  sim_exec *x = w->exec;
  unsigned size = (unsigned)in->width * in->vec;
  int pattern, event = shared_addresses(w, in, in->r[2], in->wide & 4, (int32_t)in->to_offset, size, WRITE, to);
  addresses(w, in, in->r[1], in->wide & 2, in->offset, from);
  if (event == SIM_NEXT) event = global_access(w, in, from, size, READ, 1, &at);
  if (event == SIM_SPLIT) return one_by_one(w, in, op_cp_async);
  if (event == SIM_NEXT && at.written != NULL) check_set(w, in, &at, from);
  if (event == SIM_NEXT) event = shared_access(w, in, to, size, WRITE, &pattern);
  if (event != SIM_NEXT) return event;
  if (copies_of(w) == NULL) return out_of_memory(w, in);
  const u32 *take = in->mode == 1 ? SIM_PLACE(u32, w, in->r[3]) : NULL;
  if (in->mode == 2) skip = SIM_MASK_OF(w, in->r[3]) ^ (in->negate ? SIM_ALL : 0);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    unsigned n = skip >> l & 1 ? 0 : take != NULL && take[l] < size ? take[l] : size;
    w->copies[w->ncopies++] = (sim_copy){ at.host + (from[l] - at.base), to[l], w->commits[l], in->line,
                                          (uint8_t)l, (uint8_t)size, (uint8_t)n };
    set_flight(x, to[l], size, 1);
  }
  return SIM_NEXT;
}

static void deliver(sim_warp *w, const sim_insn *in, const sim_copy *c) {
  sim_exec *x = w->exec;
  memcpy(x->shared + c->to, c->from, c->take);
  memset(x->shared + c->to + c->take, 0, c->size - c->take);
  set_flight(x, c->to, c->size, 0);
  shadow_range(w, in, c->to >> x->grain, c->size >> x->grain, WRITE);
  w->fenced = x->epoch;                        /* wgmma may read it as it is */
}

/* Of the lanes of w->mask: all copies but those of the last `keep` closed groups and the open one;
   keep UINT32_MAX: all there are. */
static void deliver_groups(sim_warp *w, const sim_insn *in, uint32_t keep) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->ncopies; i++) {
    const sim_copy *c = &w->copies[i];
    int due = keep == UINT32_MAX || c->group + keep < w->commits[c->lane];
    if ((w->mask >> c->lane & 1) && due) deliver(w, in, c);
    else w->copies[kept++] = *c;
  }
  w->ncopies = kept;
}

SIM_BEGIN(cp_commit)
  (void)in;
  for (unsigned l = 0; l < SIM_LANES; l++) w->commits[l] += w->mask >> l & 1;
SIM_END

SIM_BEGIN(cp_wait)
  if (w->ncopies > 0) deliver_groups(w, in, (uint32_t)in->value);
SIM_END

/* ---------------------------------------------------------- barrier objects */

/*
** A barrier object is 64 bits: arrivals still due (20 bits), arrivals of a phase (20),
** bytes still due (22, signed), the phase's parity, and whether it is one at all.
*/
enum { PENDING_BITS = 20, TX_AT = 40, TX_BITS = 22, PARITY_AT = 62, VALID_AT = 63, COUNT_MOST = (1 << 20) - 1 };

static uint64_t pending_of(uint64_t b) { return b & COUNT_MOST; }
static uint64_t expected_of(uint64_t b) { return b >> PENDING_BITS & COUNT_MOST; }
static int64_t tx_of(uint64_t b) { return (int64_t)(b << (64 - TX_AT - TX_BITS)) >> (64 - TX_BITS); }
static unsigned parity_of(uint64_t b) { return b >> PARITY_AT & 1; }

static uint64_t barrier_of(uint64_t pending, uint64_t expected, int64_t tx, unsigned parity) {
  return pending | expected << PENDING_BITS | ((uint64_t)tx & ((UINT64_C(1) << TX_BITS) - 1)) << TX_AT |
         (uint64_t)parity << PARITY_AT | UINT64_C(1) << VALID_AT;
}

/* After a change: the phase is over when nothing is due any more. */
static uint64_t settled(uint64_t pending, uint64_t expected, int64_t tx, unsigned parity) {
  if (pending > 0 || tx != 0) return barrier_of(pending, expected, tx, parity);
  return barrier_of(expected, expected, 0, !parity);
}

/* Where a lane's barrier object is. NULL: the fault has been noted. */
static unsigned char *barrier_at(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, sim_exec **owner,
                                 int how) {
  sim_exec *to = member(w->exec, addr);
  uint32_t at = within(addr);
  *owner = to;
  if (to == NULL || at >= to->shared_size || to->shared_size - at < 8)
    memory_fault(w, in, SIM_FAULT_ADDRESS, l, addr, 8, SIM_SHARED, how);
  else if (at & 7) memory_fault(w, in, SIM_FAULT_ALIGN, l, addr, 8, SIM_SHARED, how);
  else if (to->ended) ended_fault(w, in, l);
  else {
    for (uint32_t i = at >> to->grain; i < (at + 8) >> to->grain; i++) {
      if (to == w->exec) shadow_unit(w, in, i, how);
      else shadow_far(w, in, to, i, how);
    }
    return to->shared + at;
  }
  return NULL;
}

static int barrier_addresses(sim_warp *w, const sim_insn *in, uint32_t *addr) {
  w->exec->counts.shared_requests++;
  w->exec->counts.shared_wavefronts++;
  w->exec->counts.shared_least++;
  return shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, 8, ATOMIC, addr);
}

/* What the object of lane l holds, it being one. */
static int barrier_read(sim_warp *w, const sim_insn *in, unsigned l, uint32_t addr, unsigned char **place,
                        uint64_t *value) {
  sim_exec *owner;
  *place = barrier_at(w, in, l, addr, &owner, ATOMIC);
  if (*place == NULL) return SIM_FAULT;
  memcpy(value, *place, 8);
  if (*value >> VALID_AT & 1 && *value != UINT64_MAX) return SIM_NEXT;
  return barrier_text(w, in, "a barrier object is used that mbarrier.init has not made (or not yet: let "
                      "__syncthreads() follow it)");
}

/* mbarrier.init [a], count. */
static int op_mbarrier_init(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  const u32 *count = SIM_PLACE(u32, w, in->r[2]);
  sim_exec *owner;
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    unsigned char *place = barrier_at(w, in, l, addr[l], &owner, WRITE);
    if (place == NULL) return SIM_FAULT;
    if (count[l] == 0 || count[l] >= COUNT_MOST)
      return barrier_text(w, in, "a barrier object needs 1 to 1048575 arrivals");
    uint64_t value = barrier_of(count[l], count[l], 0, 0);
    memcpy(place, &value, 8);
  }
  return event;
}

static int op_mbarrier_inval(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t value;
  unsigned char *place;
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = barrier_read(w, in, l, addr[l], &place, &value);
    value = 0;
    if (event == SIM_NEXT) memcpy(place, &value, 8);
  }
  return event;
}

/* Bits of an arrival's flags. */
enum { ARRIVE_DROPS = 1, ARRIVE_EXPECTS = 2, ARRIVE_COUNTS = 4, ARRIVE_STATE = 8, ARRIVE_OPEN = 16 };

/* mbarrier.arrive: r[0] the state, r[2] the count or the bytes. */
static int op_mbarrier_arrive(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  int mode = in->flags, event = barrier_addresses(w, in, addr);
  const u32 *arg = mode & (ARRIVE_EXPECTS | ARRIVE_COUNTS) ? SIM_PLACE(u32, w, in->r[2]) : NULL;
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = barrier_read(w, in, l, addr[l], &place, &v);
    if (event != SIM_NEXT) return event;
    if (mode & ARRIVE_STATE) put_lane(w, in->r[0], 8, l, v);
    uint64_t count = mode & ARRIVE_COUNTS ? arg[l] : 1, pending = pending_of(v), expected = expected_of(v);
    if (count > pending)
      return barrier_text(w, in, "more threads arrive at a barrier object in one phase than it was made for");
    int64_t tx = tx_of(v) + (mode & ARRIVE_EXPECTS ? (int64_t)arg[l] : 0);
    if (mode & ARRIVE_DROPS) expected -= count;
    v = mode & ARRIVE_OPEN ? barrier_of(pending - count, expected, tx, parity_of(v))
                           : settled(pending - count, expected, tx, parity_of(v));
    memcpy(place, &v, 8);
  }
  return event;
}

static void change_tx(unsigned char *place, int64_t bytes) {
  uint64_t v;
  memcpy(&v, place, 8);
  v = settled(pending_of(v), expected_of(v), tx_of(v) + bytes, parity_of(v));
  memcpy(place, &v, 8);
}

/* mbarrier.expect_tx, complete_tx (mode 1). */
static int op_mbarrier_tx(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  const u32 *bytes = SIM_PLACE(u32, w, in->r[2]);
  int event = barrier_addresses(w, in, addr);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = barrier_read(w, in, l, addr[l], &place, &v);
    if (event == SIM_NEXT) change_tx(place, in->mode ? -(int64_t)bytes[l] : (int64_t)bytes[l]);
  }
  return event;
}

/* cp.async.mbarrier.arrive: the thread's copies so far are done, then it arrives, where
   `mode` says that this is one of the arrivals expected. */
static int op_cp_arrive(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  uint64_t v;
  unsigned char *place;
  int event = barrier_addresses(w, in, addr);
  deliver_groups(w, in, UINT32_MAX);
  for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++) {
    if (!(w->mask >> l & 1)) continue;
    event = barrier_read(w, in, l, addr[l], &place, &v);
    if (event != SIM_NEXT || !in->mode) continue;
    if (pending_of(v) == 0)
      return barrier_text(w, in, "more threads arrive at a barrier object in one phase than it was made for");
    v = settled(pending_of(v) - 1, expected_of(v), tx_of(v), parity_of(v));
    memcpy(place, &v, 8);
  }
  return event;
}

SIM_BEGIN(mbarrier_pending)
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  const u64 *a = SIM_PLACE(u64, w, in->r[1]);
  SIM_EACH(w, d[l] = (u32)pending_of(a[l]));
SIM_END

/* Whoever sleeps lets others go on. */
SIM_BEGIN(nanosleep)
  (void)in;
  w->fails += FAILS + 1;
SIM_END

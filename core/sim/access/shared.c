/* shared.c - accesses to shared memory: what is seldom needed. See shared.h. */
#include "sim/access/shared.h"

#include "sim/exec/fault.h"
#include "sim/watch/race.h"

int sim_shared_fault(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  uint32_t limit = w->exec->shared_size;
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    if (addr[l] >= limit || limit - addr[l] < size)
      return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, addr[l], size, SIM_SHARED, how);
    if (addr[l] & (size - 1))
      return sim_fault_memory(w, in, SIM_FAULT_ALIGN, l, addr[l], size, SIM_SHARED, how);
  }
  return SIM_NEXT;
}

int sim_shared_mixed(sim_warp *w, const sim_insn *in, const u64 *a, int64_t offset, unsigned size, int how,
                           uint32_t *out) {
  for (unsigned l = 0; l < SIM_LANES; l++) {
    uint64_t v = a[l] + (uint64_t)offset;
    if (v >> SIM_SLOT_BITS == SIM_SHARED) v -= SIM_WINDOW(SIM_SHARED);
    if ((w->mask >> l & 1) && v > UINT32_MAX)
      return sim_fault_memory(w, in, SIM_FAULT_ADDRESS, l, v, size, SIM_SHARED, how);
    out[l] = (uint32_t)v;
  }
  return SIM_NEXT;
}

int sim_shared_check_units(sim_warp *w, const sim_insn *in, uint32_t first, uint32_t n, int how) {
  sim_exec *x = w->exec;
  for (uint32_t unit = first; unit < first + n; unit++) {
    int reading = how != READ && x->reading[unit] > 0;
    if (x->flight[unit] == 0 && !reading) continue;
    if (!sim_race_first(w, in, reading ? SIM_RACE_PRODUCT : SIM_RACE_COPY, how)) return 0;
    x->race.place = (uint64_t)unit << x->grain;
    x->race.other = x->lines[unit];
    return 0;
  }
  return 1;
}

void sim_shared_check_lanes(sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned size, int how) {
  unsigned grain = w->exec->grain;
  uint32_t units = size >> grain > 0 ? size >> grain : 1;
  for (unsigned l = 0; l < SIM_LANES; l++)
    if ((w->mask >> l & 1) && !sim_shared_check_units(w, in, addr[l] >> grain, units, how)) return;
}

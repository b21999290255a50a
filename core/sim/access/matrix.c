/*
** matrix.c - matrices between memory and the registers of a warp: ldmatrix,
** stmatrix, movmatrix, and wmma's loads and stores. How wmma spreads a matrix over
** lanes is left open by PTX: here element number i of lane l is number l + 32 i.
*/
#include "sim/access/global.h"
#include "sim/access/shared.h"
#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/warp.h"
#include "sim/watch/uninitialised.h"

/* A row of 16 bytes for each of 8 lanes. */
static int rows_of(sim_warp *w, const sim_insn *in, unsigned m, const uint32_t *addr, int how) {
  uint32_t mask = w->mask;
  int pattern;
  w->mask = 0xffu << (8 * m);
  int event = shared_access(w, in, addr, 16, how, &pattern);
  w->mask = mask;
  return event;
}

/* The place of lane l's pair in matrix m, and of its second half where transposed. */
static unsigned pair_row(unsigned l, unsigned half, int turned) { return turned ? 2 * (l % 4) + half : l / 4; }
static unsigned pair_column(unsigned l, unsigned half, int turned) { return turned ? l / 4 : 2 * (l % 4) + half; }

/* In shared memory; `addr` are those of the matrix's rows. */
static unsigned char *pair_at(const sim_warp *w, const sim_insn *in, const uint32_t *addr, unsigned l, unsigned h) {
  return w->exec->shared + addr[pair_row(l, h, in->mode)] + (size_t)2 * pair_column(l, h, in->mode);
}

int op_ldmatrix(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  int event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, 16, READ, addr);
  for (unsigned m = 0; m < in->vec && event == SIM_NEXT; m++) {
    event = rows_of(w, in, m, addr, READ);
    if (event != SIM_NEXT) break;
    u32 *d = SIM_PLACE(u32, w, element(in, m));
    uint32_t v[SIM_LANES];                     /* d may be the address */
    for (unsigned l = 0; l < SIM_LANES; l++) {
      uint16_t part[2];
      for (unsigned h = 0; h < 2; h++)
        memcpy(&part[h], pair_at(w, in, addr + 8 * (size_t)m, l, h), 2);
      v[l] = part[0] | (uint32_t)part[1] << 16;
    }
    memcpy(d, v, sizeof v);
  }
  return event;
}

int op_stmatrix(sim_warp *w, const sim_insn *in) {
  uint32_t addr[SIM_LANES];
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  int event = shared_addresses(w, in, in->r[1], in->wide & 2, in->offset, 16, WRITE, addr);
  for (unsigned m = 0; m < in->vec && event == SIM_NEXT; m++) {
    event = rows_of(w, in, m, addr, WRITE);
    const u32 *d = SIM_PLACE(u32, w, element(in, m));
    for (unsigned l = 0; l < SIM_LANES && event == SIM_NEXT; l++)
      for (unsigned h = 0; h < 2; h++) {
        uint16_t part = (uint16_t)(d[l] >> (16 * h));
        memcpy(pair_at(w, in, addr + 8 * (size_t)m, l, h), &part, 2);
      }
  }
  return event;
}

int op_movmatrix(sim_warp *w, const sim_insn *in) {
  uint32_t v[SIM_LANES];
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  const u32 *a = SIM_PLACE(u32, w, in->r[1]);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    v[l] = 0;
    for (unsigned h = 0; h < 2; h++) {
      unsigned row = pair_row(l, h, 1), column = pair_column(l, h, 1);
      v[l] |= (a[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff) << (16 * h);
    }
  }
  memcpy(SIM_PLACE(u32, w, in->r[0]), v, sizeof v);
  return SIM_NEXT;
}

/* --------------------------------------------------------------------- wmma */

/*
** A load or store of a fragment: `shape` has rows and columns, `vec` is the number of
** registers, `width` bytes of an element, `lane` of a lane of a register, `mode` 1 where
** columns lie side by side, r[2] the stride from one to the next, extras the registers.
*/
typedef struct tile {
  unsigned rows, columns, registers, elements, lines, along;
} tile;

static tile tile_of(const sim_insn *in) {
  tile t = { in->shape.m, in->shape.n, in->vec, in->shape.m * in->shape.n / SIM_LANES, 0, 0 };
  t.lines = in->mode ? t.columns : t.rows;
  t.along = in->mode ? t.rows : t.columns;
  return t;
}

/* Where line `k` of a tile lies, checked and counted. NULL: the fault has been noted. */
static unsigned char *tile_line(sim_warp *w, const sim_insn *in, uint64_t addr, unsigned size, int how) {
  sim_exec *x = w->exec;
  uint64_t slot = addr >> SIM_SLOT_BITS;
  int shared = in->space == SIM_SHARED || (in->space == SIM_GENERIC && slot == SIM_SHARED);
  if (shared) {
    uint64_t at = slot == SIM_SHARED ? addr - SIM_WINDOW(SIM_SHARED) : addr;
    if (at >= x->shared_size || x->shared_size - at < size) {
      sim_fault_memory(w, in, SIM_FAULT_ADDRESS, 0, at, size, SIM_SHARED, how);
      return NULL;
    }
    uint32_t units = size >> x->grain > 0 ? size >> x->grain : 1, one[SIM_LANES] = { (uint32_t)at };
    uint32_t mask = w->mask;
    w->mask = 1;
    if (x->flying > 0) sim_shared_check_lanes(w, in, one, size, how);
    w->mask = mask;
    shadow_range(w, in, (uint32_t)at >> x->grain, units, how);
    x->counts.shared_wavefronts += (size + 127) / 128;
    x->counts.shared_least += (size + 127) / 128;
    return x->shared + at;
  }
  sim_region *r = sim_region_at(x->device, addr);
  if (r == NULL || addr - r->base >= r->size || r->size - (addr - r->base) < size) {
    sim_fault_memory(w, in, SIM_FAULT_ADDRESS, 0, addr, size, SIM_GLOBAL, how);
    return NULL;
  }
  sim_uninitialised_range(w, in, r, (unsigned)__builtin_ctz(w->mask), addr, size, how);
  if (how != READ && !sim_global_may_store(w, r, addr - r->base, addr - r->base + size)) return NULL;
  sim_global_range(w, r, addr - r->base, addr - r->base + size, how);
  x->counts.global_requests--;                 /* of a tile, its lines are one */
  return r->host + (addr - r->base);
}

/* Every line of the tile in the host's memory. */
static int tile_lines(sim_warp *w, const sim_insn *in, const tile *t, int how, unsigned char **line) {
  uint64_t addr[SIM_LANES];
  unsigned lead = (unsigned)__builtin_ctz(w->mask);
  addresses(w, in, in->r[1], in->wide & 2, in->offset, addr);
  uint64_t apart = (uint64_t)SIM_PLACE(u32, w, in->r[2])[lead] * in->width;
  size_t unit = (size_t)in->width * 2;
  if (addr[lead] % unit) return sim_fault_memory(w, in, SIM_FAULT_ALIGN, lead, addr[lead], unit,
                                             in->space == SIM_SHARED ? SIM_SHARED : SIM_GLOBAL, how);
  w->exec->counts.global_requests += in->space != SIM_SHARED;
  w->exec->counts.shared_requests += in->space == SIM_SHARED;
  for (unsigned k = 0; k < t->lines; k++) {
    line[k] = tile_line(w, in, addr[lead] + k * apart, t->along * in->width, how);
    if (line[k] == NULL) return SIM_FAULT;
  }
  return SIM_NEXT;
}

/* Element i of lane l: which line, and how far along it. */
static void tile_place(const tile *t, const sim_insn *in, unsigned l, unsigned i, unsigned *line, unsigned *along) {
  unsigned n = l + SIM_LANES * i, row = n / t->columns, column = n % t->columns;
  *line = in->mode ? column : row;
  *along = in->mode ? row : column;
}

/* Registers hold the elements in order; those beyond the fragment's own repeat them. */
int op_wmma_load(sim_warp *w, const sim_insn *in) {
  unsigned char *line[64];
  tile t = tile_of(in);
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  int event = tile_lines(w, in, &t, READ, line);
  if (event != SIM_NEXT) return event;
  const sim_ref *r = w->exec->function->extras + in->extra;
  unsigned each = in->lane / in->width, at, along;
  for (unsigned k = 0; k < t.registers; k++)
    for (unsigned l = 0; l < SIM_LANES; l++) {
      uint64_t v = 0;
      for (unsigned e = each; e-- > 0;) {
        uint64_t one = 0;
        tile_place(&t, in, l, (k * each + e) % t.elements, &at, &along);
        memcpy(&one, line[at] + (size_t)along * in->width, in->width);
        v = in->width == 8 ? one : v << (8 * in->width) | one;
      }
      put_lane(w, r[k], in->lane, l, v);
    }
  return SIM_NEXT;
}

int op_wmma_store(sim_warp *w, const sim_insn *in) {
  unsigned char *line[64];
  tile t = tile_of(in);
  if (!whole_warp(w)) return SIM_WAIT_WARP;
  int event = tile_lines(w, in, &t, WRITE, line);
  if (event != SIM_NEXT) return event;
  const sim_ref *r = w->exec->function->extras + in->extra;
  unsigned each = in->lane / in->width, at, along;
  for (unsigned k = 0; k < t.registers; k++)
    for (unsigned l = 0; l < SIM_LANES; l++) {
      uint64_t v = lane_of(w, r[k], in->lane, l);
      for (unsigned e = 0; e < each; e++) {
        tile_place(&t, in, l, k * each + e, &at, &along);
        memcpy(line[at] + (size_t)along * in->width, &v, in->width);   /* NOLINT: tile_lines filled it */
        v = in->width == 8 ? 0 : v >> (8 * in->width);
      }
    }
  return SIM_NEXT;
}

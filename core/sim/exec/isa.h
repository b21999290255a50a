/* isa.h - the executor as compiled for one instruction set of the machine at hand; see sim/isa. */
#ifndef CAWB_SIM_EXEC_ISA_H
#define CAWB_SIM_EXEC_ISA_H

#include "sim/exec/exec.h"

struct wg_tile;

typedef struct sim_isa {
  const char *name;
  const sim_fn *table;                  /* what executes an instruction, by SIM_OP_... */
  int (*warp)(sim_warp *w);             /* until it waits: SIM_FAULT or SIM_WARP_... of block.h */
  /* An atomic of all lanes, at host + (addr[l] - base); of two values, the result. */
  void (*atomic)(sim_warp *w, const sim_insn *in, unsigned char *host, uint64_t base, const uint64_t *addr);
  uint64_t (*combine)(const sim_insn *in, uint64_t old, uint64_t v);
  /* A warpgroup product: of the four warps `q`; D is added where `keep`. */
  void (*product)(sim_warp *q, const sim_insn *in, const struct wg_tile *a, const struct wg_tile *b, int keep);
} sim_isa;

#endif

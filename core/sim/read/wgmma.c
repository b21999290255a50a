/*
** wgmma.c - instructions that read accumulators of warpgroup products are found when a kernel
** is decoded, and go around by op_wgmma_early, which looks whether the product was waited for.
*/
#include "sim/exec/operands.h"
#include "sim/read/passes.h"

#include <stdlib.h>

/* A byte for each 4 bytes of registers: an accumulator is there. NULL: none is, or out of memory. */
static unsigned char *accumulators(const sim_function *f, int *products) {
  unsigned char *is = NULL;
  *products = 0;
  for (uint32_t i = 0; i < f->count; i++) *products |= f->code[i].op == SIM_OP_wgmma;
  if (*products) is = calloc(f->regs_size / 4 + 1, 1);
  for (uint32_t i = 0; i < f->count && is != NULL; i++) {
    const sim_insn *in = &f->code[i];
    if (in->op != SIM_OP_wgmma) continue;
    for (uint32_t k = 0; k < sim_accumulators(in); k++) is[f->extras[in->extra + k].off / 4] = 1;
  }
  return is;
}

int sim_wgmma(sim_function *f, const sim_isa *isa) {
  int products;
  unsigned char *is = accumulators(f, &products);
  if (is == NULL) return !products;
  for (uint32_t i = 0; i < f->count; i++) {
    sim_insn *in = &f->code[i];
    int reads = 0;
    for (unsigned k = 0; k < 5; k++) reads |= sim_reads(in, k) && is[in->r[k].off / 4];
    if (!reads || in->inner != NULL) continue;
    in->inner = in->fn;
    in->fn = isa->table[SIM_OP_wgmma_early];
  }
  free(is);
  return 1;
}

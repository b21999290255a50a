/* fault.c - what ends a launch is noted here. */
#include "sim/exec/fault.h"

#include <stdio.h>
#include <string.h>

int sim_fault_memory(sim_warp *w, const sim_insn *in, int kind, unsigned lane,
                        uint64_t addr, unsigned size, int space, int write) {
  sim_fault *f = &w->exec->fault;
  f->kind = kind;
  f->insn = in;
  f->warp = w->index;
  f->lane = lane;
  f->addr = addr;
  f->size = size;
  f->space = (unsigned)space;
  f->write = write;
  return SIM_FAULT;
}

int sim_fault_text(sim_warp *w, const sim_insn *in, const char *text) {
  sim_fault *f = &w->exec->fault;
  f->kind = SIM_FAULT_BARRIER;
  f->insn = in;
  f->warp = w->index;
  f->lane = (unsigned)__builtin_ctz(w->mask ? w->mask : 1);
  snprintf(f->text, sizeof f->text, "%s", text);
  return SIM_FAULT;
}

int sim_fault_no_room(sim_warp *w, const sim_insn *in) {
  return sim_fault_text(w, in, "out of memory for the copies under way");
}

/* Of long names the beginning and the end: what follows them must not be lost. */
enum { NAME_MOST = 60, HALF = 28 };

void sim_place(char *out, size_t room, const char *name, uint32_t line) {
  char kernel[NAME_MOST + 1];
  size_t n = strlen(name);
  if (n <= NAME_MOST) memcpy(kernel, name, n + 1);
  else snprintf(kernel, sizeof kernel, "%.*s...%s", HALF, name, name + n - HALF);
  if (line != 0) snprintf(out, room, "%s, kernel.cu line %u", kernel, line);
  else snprintf(out, room, "%s", kernel);
}

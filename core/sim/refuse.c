/* refuse.c - what the simulated device does not know, in words that an author can act on. */
#include "sim.h"

#include <stdio.h>
#include <string.h>

/* Instructions, registers and calls by what they begin with, and what they belong to. */
static const struct { const char *prefix, *family; } families[] = {
  { "wmma.", "tensor-core instructions" }, { "mma.", "tensor-core instructions" },
  { "wgmma.", "tensor-core instructions" }, { "tcgen05.", "tensor-core instructions" },
  { "ldmatrix.", "tensor-core instructions" }, { "stmatrix.", "tensor-core instructions" },
  { "movmatrix.", "tensor-core instructions" },
  { "tex.", "textures and surfaces" }, { "tld4.", "textures and surfaces" },
  { "txq.", "textures and surfaces" }, { "suld.", "textures and surfaces" },
  { "sust.", "textures and surfaces" }, { "sured.", "textures and surfaces" },
  { "suq.", "textures and surfaces" },
  { "cp.async.bulk", "bulk copies" }, { "cp.reduce.async.bulk", "bulk copies" },
  { "mbarrier.", "barrier objects" }, { "cp.async.mbarrier", "barrier objects" },
  { "barrier.cluster", "clusters of blocks" }, { "mapa.", "clusters of blocks" },
  { "multimem.", "memory of several devices" },
  { "%envreg", "barriers of a whole grid" },
  { "call through a pointer", "function pointers" }
};

const char *sim_family(const char *what, size_t size) {
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    size_t n = strlen(families[i].prefix);
    if (size >= n && memcmp(what, families[i].prefix, n) == 0) return families[i].family;
  }
  return NULL;
}

void sim_place(char *out, size_t room, const char *kernel, uint32_t line) {
  if (line != 0) snprintf(out, room, "%s, kernel.cu line %u", kernel, line);
  else snprintf(out, room, "%s", kernel);
}

void sim_refusal(char *out, size_t room, const char *what, size_t size) {
  const char *family = sim_family(what, size);
  int shown = (int)(size < 120 ? size : 120);
  if (family != NULL) snprintf(out, room, "%s (%.*s) are " SIM_UNKNOWN, family, shown, what);
  else snprintf(out, room, "'%.*s' is " SIM_UNKNOWN, shown, what);
}

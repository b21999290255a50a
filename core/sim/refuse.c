/* refuse.c - what the simulated device does not know, in words that an author can act on. */
#include "ptx_parse.h"

#include <stdarg.h>
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

/* "softmax_rows, kernel.cu line 12", or without the line where PTX says none. */
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

/* ------------------------------------------------------ while PTX is read */

/* "gelu, kernel.cu line 5: a vector has too many elements (PTX line 50, 'shf.l.wrap.b32')" */
static void describe(const ptx_parser *p, const char *text, char *out, size_t room) {
  char at[160], what[96] = "";
  unsigned shown = (unsigned)(p->mnemonic.size < 80 ? p->mnemonic.size : 80);
  if (shown > 0) snprintf(what, sizeof what, ", '%.*s'", (int)shown, p->mnemonic.text);
  if (p->f == NULL || p->f->plain == NULL) snprintf(out, room, "%s (PTX line %u%s)", text, p->tok.line, what);
  else {
    sim_place(at, sizeof at, p->f->plain, p->line);
    snprintf(out, room, "%s: %s (PTX line %u%s)", at, text, p->tok.line, what);
  }
}

void ptx_fail(ptx_parser *p, cawb_status code, const char *fmt, ...) {
  char text[400], full[800];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  describe(p, text, full, sizeof full);
  if (code == CAWB_ERR_INVALID && p->begun) code = CAWB_ERR_UNSUPPORTED;
  p->status = code;
  if (code == CAWB_ERR_UNSUPPORTED)
    cawb_fail(p->err, code, "%s: the simulated device cannot run this; " SIM_ELSEWHERE, full);
  else cawb_fail(p->err, code, "%s", full);
  longjmp(p->unwind, 1);
}

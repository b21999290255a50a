/* refuse.c - what the simulated device does not know, in words that an author can act on. */
#include "sim/exec/fault.h"
#include "sim/read/lacks.h"
#include "sim/parse/ptx_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
** Instructions, registers and calls by what they begin with, and what they belong to.
** `some`: only some of them are not known, and which ones shows when they are decoded.
*/
#define TEXTURES "textures and surfaces, whose objects nothing can pass to a kernel here,"
static const struct { const char *prefix, *family; int some; } families[] = {
  { "wgmma.mma_async.sp", "warpgroup products of sparse matrices", 0 },
  { "wgmma.", "warpgroup products of this shape and these types", 1 },
  { "cp.async.bulk.tensor", "copies by tensor maps", 0 },
  { "cp.reduce.async.bulk.tensor", "copies by tensor maps", 0 },
  { "cp.async.bulk.prefetch.tensor", "copies by tensor maps", 0 },
  { "tensormap.", "copies by tensor maps", 0 },
  { "mma.sp", "products of sparse matrices of this shape and these types", 1 },
  { "mma.", "products of matrices of this shape and these types", 1 },
  { "wmma.", "matrix instructions of this shape and these types", 1 },
  { "tcgen05.", "tensor-core instructions of later GPUs", 0 },
  { "tex.", TEXTURES, 0 }, { "tld4.", TEXTURES, 0 },
  { "txq.", TEXTURES, 0 }, { "suld.", TEXTURES, 0 },
  { "sust.", TEXTURES, 0 }, { "sured.", TEXTURES, 0 },
  { "suq.", TEXTURES, 0 },
  { "red.async", "asynchronous reductions", 0 },
  { "multimem.", "memory of several devices", 0 },
  { "%envreg", "registers that a driver fills", 0 },
  { "%current_graph_exec", "which graph a launch is from", 0 },
  { "%reserved_smem_offset_", "tiles of several warps in cooperative groups", 0 },
  { "vmad", "scalar video instructions with negated operands", 1 }
};
enum { FAMILIES = sizeof families / sizeof *families };

static int family_at(const char *what, size_t size) {
  for (int i = 0; i < FAMILIES; i++) {
    size_t n = strlen(families[i].prefix);
    if (size >= n && memcmp(what, families[i].prefix, n) == 0) return i;
  }
  return -1;
}

const char *sim_family(const char *what, size_t size) {
  int i = family_at(what, size);
  return i < 0 || families[i].some ? NULL : families[i].family;
}

const char *cawb_sim_lacks(unsigned i, const char **family) {
  if (i >= FAMILIES) return NULL;
  *family = families[i].family;
  return families[i].prefix;
}

void sim_refusal(char *out, size_t room, const char *what, size_t size) {
  int at = family_at(what, size), shown = (int)(size < 120 ? size : 120);
  if (at >= 0) snprintf(out, room, "%s (%.*s) are " SIM_UNKNOWN, families[at].family, shown, what);
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

/* census_kind.c - see census_kind.h. The names are those of the PTX ISA, version 9. */
#include "gpu/ptx/census_kind.h"

#include <stdio.h>
#include <string.h>

typedef cawb_ptx_word word;
typedef void (*bumper)(void *, const char *, word);

/* The part before the first dot. */
static word head(word op) {
  const char *dot = memchr(op.text, '.', op.size);
  return (word){ op.text, dot != NULL ? (size_t)(dot - op.text) : op.size };
}

/* Whether `part`, such as "evict_last", stands between dots or colons. */
static int has(word op, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 1; i + n <= op.size; i++) {
    if (op.text[i - 1] != '.' || memcmp(op.text + i, part, n) != 0) continue;
    if (i + n == op.size || op.text[i + n] == '.' || op.text[i + n] == ':') return 1;
  }
  return 0;
}

static word word_of(const char *text) { return (word){ text, strlen(text) }; }

static word last_part(word op) {
  size_t i = op.size;
  while (i > 0 && op.text[i - 1] != '.') i--;
  return (word){ op.text + i, op.size - i };
}

static int one_of(word w, const char *const *list) {
  for (; *list != NULL; list++)
    if (cawb_ptx_is(w, *list)) return 1;
  return 0;
}

/* ------------------------------------------------------------------- access */

census_access cawb_census_access(word op) {
  static const char *const reads[] = { "ldu", "tex", "tld4", "suld", "ldmatrix", NULL };
  static const char *const writes[] = { "st", "stmatrix", "sust", "wgmma", "discard", "tensormap", NULL };
  static const char *const atomics[] = { "atom", "red", "sured", "multimem", NULL };
  word h = head(op);
  if (cawb_ptx_is(h, "ld")) return has(op, "param") ? CENSUS_NONE : CENSUS_READ;
  if (cawb_ptx_is(h, "wmma")) return has(op, "load") ? CENSUS_READ : has(op, "store") ? CENSUS_WRITE : CENSUS_NONE;
  if (cawb_ptx_is(h, "cp") && has(op, "prefetch")) return CENSUS_READ;
  if (cawb_ptx_is(h, "cp")) return has(op, "reduce") ? CENSUS_ATOMIC : CENSUS_WRITE;
  if (one_of(h, reads)) return CENSUS_READ;
  if (one_of(h, writes)) return cawb_ptx_is(h, "wgmma") ? CENSUS_NONE : CENSUS_WRITE;
  return one_of(h, atomics) ? CENSUS_ATOMIC : CENSUS_NONE;
}

int cawb_census_telling(word operand) {
  static const char *const names[] = { "%clock", "%globaltimer", "%smid", "%nsmid", "%warpid",
                                       "%nwarpid", "%gridid", "%pm", "%envreg", "%current_graph_exec", NULL };
  for (const char *const *n = names; *n != NULL; n++)
    if (cawb_ptx_starts(operand, *n)) return 1;
  return 0;
}

/* -------------------------------------------------------------------- kinds */

static const char *const narrow[] = { "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "e2m1x2", "bf16", "bf16x2",
                                      "f16", "f16x2", NULL };

/* The type of a matrix product's factors, of the narrowest. A wmma of plain f32 sums has f16. */
static const char *tensor_type(word op) {
  static const struct { const char *part, *type; } types[] = {
    { "e4m3", "fp8" }, { "e5m2", "fp8" }, { "e2m1", "fp4" }, { "e3m2", "fp6" }, { "e2m3", "fp6" },
    { "kind::f8f6f4", "fp8" }, { "kind::mxf4", "fp4" }, { "kind::f16", "fp16" }, { "kind::tf32", "tf32" },
    { "tf32", "tf32" }, { "bf16", "bf16" }, { "f64", "fp64" }, { "s8", "int8" }, { "u8", "int8" },
    { "s4", "int4" }, { "u4", "int4" }, { "b1", "int1" } };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (has(op, types[i].part)) return types[i].type;
  return "fp16";
}

static void tensor(word op, bumper bump, void *data) {
  word h = head(op);
  int product = cawb_ptx_is(h, "mma") || (cawb_ptx_is(h, "wmma") && has(op, "mma"))
    || (cawb_ptx_is(h, "wgmma") && has(op, "mma_async")) || (cawb_ptx_is(h, "tcgen05") && has(op, "mma"));
  if (product) bump(data, "tensor", word_of(tensor_type(op)));
}

/* cvt.rn.bf16x2.f32: to the first type from the second. */
static void narrowing(word op, bumper bump, void *data) {
  if (!cawb_ptx_is(head(op), "cvt")) return;
  word from = last_part(op), to = last_part((word){ op.text, op.size > from.size ? op.size - from.size - 1 : 0 });
  if ((cawb_ptx_is(from, "f32") || cawb_ptx_is(from, "f64")) && one_of(to, narrow)) bump(data, "narrowed", to);
}

static void arithmetic(word op, bumper bump, void *data) {
  static const char *const names[] = { "add", "sub", "mul", "fma", "mad", "div", "sqrt", "min", "max", NULL };
  static const char *const types[] = { "f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", NULL };
  word type = last_part(op);
  if (one_of(head(op), names) && one_of(type, types)) bump(data, "arithmetic", type);
}

static void accuracy(word op, bumper bump, void *data) {
  if (has(op, "approx") || has(op, "full")) bump(data, "approximate", head(op));
  if (has(op, "ftz")) bump(data, "flushed", head(op));
}

static void caching(word op, bumper bump, void *data) {
  static const char *const heads[] = { "createpolicy", "applypriority", "discard", "prefetch", "prefetchu", NULL };
  static const char *const hints[] = { "evict_first", "evict_last", "evict_unchanged", "evict_normal",
                                       "no_allocate", "cache_hint", NULL };
  if (one_of(head(op), heads)) bump(data, "cache", head(op));
  if (has(op, "prefetch")) bump(data, "cache", word_of("prefetch"));
  for (const char *const *h = hints; *h != NULL; h++) {
    char level[32] = "L2::";
    memcpy(level + 4, *h, strlen(*h) + 1);
    if (has(op, level)) bump(data, "cache", word_of(level));
    level[1] = '1';
    if (has(op, level)) bump(data, "cache", word_of(level));
  }
}

static const char *space_of(word op) {
  static const char *const spaces[] = { "global", "shared", "local", "const", "param", NULL };
  for (const char *const *s = spaces; *s != NULL; s++)
    if (has(op, *s)) return *s;
  return "generic";
}

static void memory(word op, bumper bump, void *data) {
  static const char *const orders[] = { "volatile", "relaxed", "acquire", "release", "mmio", NULL };
  census_access how = cawb_census_access(op);
  if (how == CENSUS_READ) bump(data, "loads", word_of(space_of(op)));
  if (how == CENSUS_WRITE) bump(data, "stores", word_of(space_of(op)));
  for (const char *const *o = orders; *o != NULL && how != CENSUS_NONE; o++)
    if (has(op, *o)) bump(data, "order", word_of(*o));
}

static void atomics(word op, bumper bump, void *data) {
  static const char *const does[] = { "add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor", NULL };
  if (cawb_census_access(op) != CENSUS_ATOMIC) return;
  const char *what = "other";
  for (const char *const *d = does; *d != NULL; d++)
    if (has(op, *d)) what = *d;
  char key[64];
  word type = last_part(op);
  int known = type.size < 16;
  snprintf(key, sizeof key, "%s.%s%s%.*s", space_of(op), what, known ? "." : "", known ? (int)type.size : 0, type.text);
  bump(data, "atomics", word_of(key));
}

static void stopping(word op, bumper bump, void *data) {
  static const char *const stops[] = { "trap", "brkpt", "nanosleep", "pmevent", "griddepcontrol", NULL };
  if (one_of(head(op), stops)) bump(data, "stops", head(op));
}

void cawb_census_kinds(word op, bumper bump, void *data) {
  tensor(op, bump, data);
  narrowing(op, bump, data);
  arithmetic(op, bump, data);
  accuracy(op, bump, data);
  caching(op, bump, data);
  memory(op, bump, data);
  atomics(op, bump, data);
  stopping(op, bump, data);
}

/*
** kernels.c - see kernels.h. Reads the entries' parameter lists, then their bodies, only
** to learn which 64-bit parameters are pointers: NVRTC declares both alike.
*/
#include "gpu/ptx/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/census_kind.h"
#include "gpu/ptx/mangle.h"
#include "gpu/ptx/report.h"
#include "gpu/ptx/scan.h"

typedef cawb_ptx_word word;

/* A register that holds the value of a 64-bit parameter. */
typedef struct known {
  word reg;
  size_t param;
} known;

/* Following more registers than this would only cost time: each parameter is
** loaded once or twice and moved a few times. */
enum { KNOWN_MOST = 2048, STATEMENT_MOST = 48 };

typedef struct reader {
  const char *at;
  cawb_kernel *kernel;           /* being read */
  word *names;                   /* of its parameters */
  known *known;                  /* KNOWN_MOST of them */
  size_t nknown;
  int begun;                     /* the body: something stood there that must not stand ahead of griddepcontrol.wait */
  cawb_err *err;
} reader;

static cawb_status no_memory(reader *r) {
  return cawb_fail(r->err, CAWB_ERR_MEMORY, "no memory for the table of kernels");
}

static cawb_status broken(reader *r, const char *what) {
  return cawb_fail(r->err, CAWB_ERR_INVALID, "the PTX of kernel '%.200s' is broken: %s",
                   r->kernel->name != NULL ? r->kernel->name : "?", what);
}

/* --------------------------------------------------------------- parameters */

/* ".u64" is an integer of 8 bytes, ".f32" a float of 4; 0: not a type. */
static int read_type(word w, cawb_param *p) {
  size_t bits;
  if (w.size < 3 || w.text[0] != '.' || strchr("usbf", w.text[1]) == NULL) return 0;
  if (!cawb_ptx_number((word){ w.text + 2, w.size - 2 }, &bits)) return 0;
  if (bits < 8 || bits > 128 || (bits & (bits - 1)) != 0) return 0;
  p->kind = w.text[1] == 'f' ? CAWB_PARAM_FLOAT : CAWB_PARAM_INT;
  p->size = bits / 8;
  return 1;
}

/* ".param .align 8 .b8 name[24]" or ".param .u64 .ptr .global .align 4 name";
** the alignment behind .ptr is that of the memory, not of the parameter. */
static cawb_status read_param(reader *r, cawb_param *p, word *name) {
  int typed = 0, pointer = 0;
  size_t count;
  word w = cawb_ptx_next(&r->at);
  if (!cawb_ptx_is(w, ".param")) return broken(r, "a parameter does not start with .param");
  for (w = cawb_ptx_next(&r->at); w.size > 0 && w.text[0] == '.'; w = cawb_ptx_next(&r->at)) {
    if (cawb_ptx_is(w, ".align")) {
      w = cawb_ptx_next(&r->at);
      if (!cawb_ptx_number(w, pointer ? &count : &p->align)) return broken(r, "bad .align");
    } else if (cawb_ptx_is(w, ".ptr")) {
      pointer = 1;
    } else if (!typed) {
      typed = read_type(w, p);
    }
  }
  if (!typed || w.size == 0) return broken(r, "a parameter has no type or no name");
  *name = w;
  if (pointer && p->size == 8) p->kind = CAWB_PARAM_POINTER;
  const char *before = r->at;
  if (!cawb_ptx_is(cawb_ptx_next(&r->at), "[")) return r->at = before, CAWB_OK;
  if (!cawb_ptx_number(cawb_ptx_next(&r->at), &count)
      || !cawb_ptx_is(cawb_ptx_next(&r->at), "]"))
    return broken(r, "a parameter's size is not a number");
  p->kind = CAWB_PARAM_BYTES;
  if (p->align == 0) p->align = p->size;
  p->size *= count;
  return CAWB_OK;
}

/* Put `p` behind the others, at its natural alignment. */
static cawb_status place_param(reader *r, cawb_param *p, word name) {
  cawb_kernel *k = r->kernel;
  cawb_param *list = realloc(k->params, (k->nparams + 1) * sizeof *list);
  if (list == NULL) return no_memory(r);
  k->params = list;
  word *names = realloc(r->names, (k->nparams + 1) * sizeof *names);
  if (names == NULL) return no_memory(r);
  r->names = names;
  if (p->align == 0) p->align = p->size;
  if (p->align == 0 || (p->align & (p->align - 1)) != 0 || p->align > 4096) return broken(r, "bad .align");
  p->offset = (k->args_size + p->align - 1) / p->align * p->align;
  k->args_size = p->offset + p->size;
  names[k->nparams] = name;
  list[k->nparams++] = *p;
  return CAWB_OK;
}

static cawb_status read_params(reader *r) {
  const char *before = r->at;
  if (!cawb_ptx_is(cawb_ptx_next(&r->at), "(")) return r->at = before, CAWB_OK;
  before = r->at;
  if (cawb_ptx_is(cawb_ptx_next(&r->at), ")")) return CAWB_OK;
  r->at = before;
  for (;;) {
    cawb_param p = { 0 };
    word name = { NULL, 0 };
    cawb_status code = read_param(r, &p, &name);
    if (code == CAWB_OK) code = place_param(r, &p, name);
    if (code != CAWB_OK) return code;
    word w = cawb_ptx_next(&r->at);
    if (cawb_ptx_is(w, ")")) return CAWB_OK;
    if (!cawb_ptx_is(w, ",")) return broken(r, "the parameter list is cut short");
  }
}

/* ----------------------------------------------------------------- pointers */

static int same(word a, word b) {
  return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

static known *find_known(reader *r, word reg) {
  for (size_t i = 0; i < r->nknown; i++)
    if (same(r->known[i].reg, reg)) return &r->known[i];
  return NULL;
}

static void learn(reader *r, word reg, size_t param) {
  known *k = find_known(r, reg);
  if (k == NULL && r->nknown < KNOWN_MOST) k = &r->known[r->nknown++];
  if (k != NULL) *k = (known){ reg, param };
}

static void mark_pointer(reader *r, word reg) {
  known *k = find_known(r, reg);
  if (k != NULL) r->kernel->params[k->param].kind = CAWB_PARAM_POINTER;
}

/* ld.param.u64 %rd1, [name] */
static void learn_load(reader *r, const word *w, size_t n) {
  if (n != 6 || !cawb_ptx_is(w[3], "[") || !cawb_ptx_is(w[5], "]")) return;
  for (size_t i = 0; i < r->kernel->nparams; i++) {
    const cawb_param *p = &r->kernel->params[i];
    if (p->size == 8 && p->kind == CAWB_PARAM_INT && same(r->names[i], w[4])) learn(r, w[1], i);
  }
}

static int touches_global(word op) {
  static const char *const heads[] = { "ld.", "st.", "atom.", "red.", "ldu.", "prefetch", "cp." };
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (cawb_ptx_starts(op, heads[i])) return 1;
  return 0;
}

/* Whether a thread may do it before the launch ahead has ended, and comes to what follows in any case. */
static int is_harmless(const word *w) {
  static const char *const heads[] = { "bra", "brx", "call", "ret", "exit", "trap", "bar", "prefetch", "applypriority", "nanosleep" };
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (cawb_ptx_starts(w[0], heads[i])) return 0;
  return !cawb_ptx_is(w[0], "@") && cawb_census_access(w[0]) == CENSUS_NONE;
}

/* "ld.global.nc.v2.f32" */
static int is_not_coherent(word op) {
  const char *nc = memmem(op.text, op.size, ".nc", 3);
  return nc != NULL && cawb_ptx_starts(op, "ld.") && (nc + 3 == op.text + op.size || nc[3] == '.');
}

static void look_for_wait(reader *r, const word *w, size_t n) {
  for (size_t i = 0; i < n && i < 4; i++)                    /* a predicate may stand in front */
    if (is_not_coherent(w[i])) r->begun = 1, r->kernel->waits = 0;
  if (r->begun || n == 0) return;
  r->kernel->waits = cawb_ptx_is(w[0], "griddepcontrol.wait");
  r->begun = r->kernel->waits || !is_harmless(w);
}

/* One instruction without its semicolon; a predicate may stand in front. */
static void follow(reader *r, const word *w, size_t n) {
  if (n > 0 && cawb_ptx_is(w[0], "@")) {
    size_t skip = n > 1 && cawb_ptx_is(w[1], "!") ? 3 : 2;
    if (n <= skip) return;
    w += skip;
    n -= skip;
  }
  if (n < 4) return;
  if (cawb_ptx_starts(w[0], "ld.param")) {
    learn_load(r, w, n);
  } else if (cawb_ptx_starts(w[0], "cvta.to.global")) {
    mark_pointer(r, w[3]);
  } else if (n == 4 && (cawb_ptx_is(w[0], "mov.u64") || cawb_ptx_is(w[0], "mov.b64"))) {
    known *from = find_known(r, w[3]);
    if (from != NULL) learn(r, w[1], from->param);
  } else if (touches_global(w[0])) {
    for (size_t i = 1; i + 1 < n; i++)
      if (cawb_ptx_is(w[i], "[")) mark_pointer(r, w[i + 1]);
  }
}

/* The body, its opening brace already read. A brace inside an instruction
** encloses a vector, one between instructions a block. */
static cawb_status read_body(reader *r) {
  word w[STATEMENT_MOST];
  size_t n = 0;
  int vector = 0;
  r->nknown = 0;
  r->begun = 0;
  for (int depth = 1; depth > 0;) {
    word next = cawb_ptx_next(&r->at);
    if (next.size == 0) return broken(r, "its body has no end");
    char c = next.text[0];
    if (n == 0 && cawb_ptx_is(next, ".loc")) {  /* ends with its line, not with ; */
      r->at += strcspn(r->at, "\n");
      continue;
    }
    if (c == ';' || c == ':' || (n == 0 && (c == '{' || c == '}')) || (c == '}' && !vector)) {
      if (c == ';') look_for_wait(r, w, n), follow(r, w, n);
      r->begun |= c == ':';
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      n = 0;
      vector = 0;
      continue;
    }
    vector = c == '{' ? 1 : c == '}' ? 0 : vector;
    if (n < STATEMENT_MOST) w[n++] = next;
  }
  return CAWB_OK;
}

/* ------------------------------------------------------------------ entries */

/* Behind .entry: the name, the parameters, directives (.maxntid ...), the body. */
static cawb_status read_entry(reader *r) {
  word w = cawb_ptx_next(&r->at);
  if (w.size == 0) return broken(r, "it has no name");
  r->kernel->name = strndup(w.text, w.size);
  if (r->kernel->name == NULL) return no_memory(r);
  r->kernel->plain = cawb_mangle_plain(r->kernel->name);
  if (r->kernel->plain == NULL) return no_memory(r);
  cawb_status code = read_params(r);
  if (code != CAWB_OK) return code;
  do w = cawb_ptx_next(&r->at);
  while (w.size > 0 && !cawb_ptx_is(w, "{") && !cawb_ptx_is(w, ";"));
  if (w.size == 0) return broken(r, "it has no body");
  return cawb_ptx_is(w, "{") ? read_body(r) : CAWB_OK;
}

static cawb_status read_all(reader *r, cawb_kernels *out) {
  for (word w; (w = cawb_ptx_next(&r->at)).size > 0;) {
    if (!cawb_ptx_is(w, ".entry")) continue;
    cawb_kernel *list = realloc(out->list, (out->count + 1) * sizeof *list);
    if (list == NULL) return no_memory(r);
    out->list = list;
    r->kernel = memset(&list[out->count++], 0, sizeof *list);
    cawb_status code = read_entry(r);
    if (code != CAWB_OK) return code;
  }
  return CAWB_OK;
}

cawb_status cawb_ptx_kernels(cawb_kernels *out, const char *ptx, const char *log,
                             cawb_err *err) {
  reader r = { .at = ptx, .err = err };
  memset(out, 0, sizeof *out);
  r.known = malloc(KNOWN_MOST * sizeof *r.known);
  cawb_status code = r.known != NULL ? read_all(&r, out) : no_memory(&r);
  free(r.known);
  free(r.names);
  if (code == CAWB_OK) cawb_ptx_report(out, log);
  else cawb_ptx_free(out);
  return code;
}

void cawb_ptx_free(cawb_kernels *k) {
  for (size_t i = 0; i < k->count; i++) {
    free(k->list[i].name);
    free(k->list[i].plain);
    free(k->list[i].params);
  }
  free(k->list);
  memset(k, 0, sizeof *k);
}

const cawb_kernel *cawb_ptx_find(const cawb_kernels *k, const char *name) {
  const cawb_kernel *found = NULL;
  for (size_t i = 0; i < k->count; i++)
    if (strcmp(k->list[i].name, name) == 0) return &k->list[i];
  for (size_t i = 0; i < k->count; i++) {
    if (strcmp(k->list[i].plain, name) != 0) continue;
    if (found != NULL) return NULL;  /* two instances of one template: name it in full */
    found = &k->list[i];
  }
  return found;
}

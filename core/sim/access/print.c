/*
** print.c - printf of kernels, which becomes vprintf(format, arguments). The arguments lie in the thread's local memory, each at a
** multiple of its size; numbers of fewer than 4 bytes are ints, floats are doubles. Kernels with printf have one block after the
** other. Nothing is printed where nobody asked for it: then the arguments are not looked at.
*/
#include <ctype.h>
#include <stdio.h>

#include "sim/exec/fault.h"
#include "sim/instructions/functions.h"
#include "sim/exec/lanes.h"
#include "sim/memory/device.h"

enum { SPEC_ROOM = 48 };

typedef struct printing {
  sim_warp *w;
  const sim_insn *in;
  unsigned lane;
  FILE *to;
  uint64_t args;                /* generic address of what is printed next, from `first` on */
  uint64_t first;
  int count, failed;
} printing;

/* A conversion as it stands in the format, without its length: "%-8.3" and 'f'. */
typedef struct conversion {
  char spec[SPEC_ROOM];
  unsigned used;
  int longs;                    /* l, ll, z, j, t: 8 bytes */
  char kind;
} conversion;

static void fail(printing *p, const char *why) {
  p->w->mask = 1u << p->lane;
  p->failed = sim_fault_text(p->w, p->in, why);
}

/* What stands at a generic address, and how many bytes of it there are; NULL where nothing is. */
static const unsigned char *look(const printing *p, uint64_t at, uint64_t *left) {
  const sim_exec *x = p->w->exec;
  uint64_t local = at - SIM_WINDOW(SIM_LOCAL), shared = at - SIM_WINDOW(SIM_SHARED);
  if (local < x->function->local_size) {
    *left = x->function->local_size - local;
    return p->w->local + (uint64_t)p->lane * x->local_stride + local;
  }
  if (shared < x->shared_size) {
    *left = x->shared_size - shared;
    return x->shared + shared;
  }
  const sim_region *r = sim_region_at(x->device, at);
  if (r == NULL || at < r->base || at - r->base >= r->size) return NULL;
  *left = r->size - (at - r->base);
  return r->host + (at - r->base);
}

/* A string that ends; NULL and a fault otherwise. */
static const char *string_at(printing *p, uint64_t at) {
  uint64_t left;
  const unsigned char *s = look(p, at, &left);
  if (s != NULL && memchr(s, 0, left) != NULL) return (const char *)s;
  fail(p, s == NULL ? "printf() of a string at an address where there is nothing" : "printf() of a string that does not end");
  return NULL;
}

/* The next argument, as 64 bits. */
static uint64_t take(printing *p, unsigned size, int sign) {
  uint64_t left, value = 0;
  p->args = p->first + (p->args - p->first + size - 1) / size * size;
  const unsigned char *at = look(p, p->args, &left);
  if (at == NULL || left < size) {
    fail(p, "printf() with fewer arguments than its format asks for");
    return 0;
  }
  memcpy(&value, at, size);
  p->args += size;
  p->count++;
  return size == 4 && sign ? (uint64_t)(int64_t)(int32_t)value : value;
}

static void add(conversion *c, char letter) {
  if (c->used < SPEC_ROOM - 8) c->spec[c->used++] = letter;
}

/* A width or precision: digits, or '*' for an argument. */
static const char *read_number(printing *p, conversion *c, const char *f) {
  char digits[16];
  if (*f == '*') {
    snprintf(digits, sizeof digits, "%d", (int)take(p, 4, 1));
    for (const char *d = digits; *d != 0; d++) add(c, *d);
    return f + 1;
  }
  while (isdigit((unsigned char)*f)) add(c, *f++);
  return f;
}

/* From behind the '%' to behind the letter that ends it. */
static const char *read_conversion(printing *p, conversion *c, const char *f) {
  *c = (conversion){ .spec = "%", .used = 1 };
  while (*f != 0 && strchr("-+ #0", *f) != NULL) add(c, *f++);
  f = read_number(p, c, f);
  if (*f == '.') {
    add(c, *f++);
    f = read_number(p, c, f);
  }
  for (; *f != 0 && strchr("hlLqjzt", *f) != NULL; f++) c->longs |= *f != 'h';
  c->kind = *f;
  return *f != 0 ? f + 1 : f;
}

static void end(conversion *c, const char *letters) {
  for (; *letters != 0; letters++) c->spec[c->used++] = *letters;
  c->spec[c->used] = 0;
}

/* Specs are made above, of what a format may hold. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void print_integer(printing *p, conversion *c) {
  int sign = c->kind == 'd' || c->kind == 'i';
  uint64_t value = take(p, c->longs ? 8 : 4, sign);
  end(c, (const char[]){ 'l', 'l', c->kind, 0 });
  if (!p->failed) fprintf(p->to, c->spec, (unsigned long long)value);
}

static void print_float(printing *p, conversion *c) {
  double value = double_of(take(p, 8, 0));
  end(c, (const char[]){ c->kind, 0 });
  if (!p->failed) fprintf(p->to, c->spec, value);
}

static void print_other(printing *p, conversion *c) {
  uint64_t value = take(p, c->kind == 'c' ? 4 : 8, 0);
  end(c, (const char[]){ c->kind, 0 });
  const char *text = c->kind == 's' && !p->failed ? string_at(p, value) : NULL;
  if (p->failed) return;
  if (c->kind == 's') fprintf(p->to, c->spec, text);
  else if (c->kind == 'c') fprintf(p->to, c->spec, (int)value);
  else fprintf(p->to, c->spec, (void *)(uintptr_t)value);
}

#pragma GCC diagnostic pop

static void print_conversion(printing *p, conversion *c) {
  if (c->kind == 0) return;
  if (c->kind == '%') fputc('%', p->to);
  else if (strchr("diuoxX", c->kind) != NULL) print_integer(p, c);
  else if (strchr("aAeEfFgG", c->kind) != NULL) print_float(p, c);
  else if (strchr("csp", c->kind) != NULL) print_other(p, c);
  else fail(p, "printf() with a conversion that is not known");
}

static void print_lane(printing *p, const char *format) {
  conversion c;
  while (*format != 0 && !p->failed) {
    const char *next = strchr(format, '%');
    size_t plain = next != NULL ? (size_t)(next - format) : strlen(format);
    fwrite(format, 1, plain, p->to);
    if (next == NULL) return;
    format = read_conversion(p, &c, next + 1);
    if (!p->failed) print_conversion(p, &c);
  }
}

/* r[0] = vprintf(r[1], r[2]): how many arguments were printed. */
int op_print(sim_warp *w, const sim_insn *in) {
  const u64 *format = SIM_PLACE(u64, w, in->r[1]), *args = SIM_PLACE(u64, w, in->r[2]);
  u32 *d = SIM_PLACE(u32, w, in->r[0]);
  FILE *to = w->exec->device->prints;
  sim_spend_seconds(w, w->exec->device->model->print_call);
  for (unsigned l = 0; l < SIM_LANES; l++) {
    if (!(w->mask >> l & 1)) continue;
    printing p = { .w = w, .in = in, .lane = l, .to = to, .args = args[l], .first = args[l] };
    const char *text = to != NULL ? string_at(&p, format[l]) : "";
    if (text != NULL) print_lane(&p, text);
    if (p.failed) return p.failed;
    d[l] = (uint32_t)p.count;
  }
  return SIM_NEXT;
}

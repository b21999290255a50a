/*
** sim_wgmma.h - PTX with one warpgroup product, made to order: shared memory is filled from
** `in`, D begins as ones, and every accumulator goes to `out`.
*/
#ifndef CAWB_TESTS_SIM_WGMMA_H
#define CAWB_TESTS_SIM_WGMMA_H

#include <stdarg.h>

#include "sim_fixture.h"

typedef struct product {
  const char *d, *a, *b;        /* types: "f32", "bf16", "bf16" */
  unsigned n, k;
  int registers;                /* A comes from registers: 16 bytes a thread, behind `in`'s `size` bytes */
  int turn_a, turn_b;
  int minus;                    /* A counts negative */
  const char *scale;            /* scale-d; NULL: %p2, which the last argument makes */
  /* what else is there; NULL: as it should be */
  const char *before;           /* the product: proxy fence, barrier, wgmma.fence */
  const char *guard;            /* a label to jump from and to around the product: "@%p3 bra $around;" */
  const char *after;            /* commit, wait */
} product;

typedef struct writer { char text[65536]; size_t size; } writer;

__attribute__((format(printf, 2, 3)))
static inline void put(writer *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  w->size += (size_t)vsnprintf(w->text + w->size, sizeof w->text - w->size, fmt, ap);
  va_end(ap);
}

static inline unsigned product_registers(const product *p) { return strcmp(p->d, "f16") == 0 ? p->n / 4 : p->n / 2; }

static inline void put_list(writer *w, const char *stem, unsigned n) {
  for (unsigned i = 0; i < n; i++) put(w, "%s%%%s%u", i == 0 ? "{" : ", ", stem, i);
  put(w, "}");
}

/* in: %rd2, size: %r4, out: %rd1, descriptors: %rd3 and %rd4, thread: %r1. */
static inline void put_loads(writer *w, const product *p) {
  put(w, ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n"
      ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2, .param .u64 k_3, .param .u32 k_4, .param .u32 k_5) {\n"
      ".reg .pred %%p<8>; .reg .b32 %%r<16>; .reg .b64 %%rd<16>; .reg .b32 %%d<130>; .reg .b32 %%a<4>;\n.loc 1 3 1\n"
      "ld.param.u64 %%rd1, [k_0]; ld.param.u64 %%rd2, [k_1]; ld.param.u64 %%rd3, [k_2]; ld.param.u64 %%rd4, [k_3];\n"
      "ld.param.u32 %%r4, [k_4]; ld.param.u32 %%r7, [k_5]; setp.ne.u32 %%p2, %%r7, 0;\n"
      "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, sm; shl.b32 %%r3, %%r1, 2;\n"
      "$more: setp.ge.u32 %%p1, %%r3, %%r4; @%%p1 bra $filled;\n"
      "cvt.u64.u32 %%rd5, %%r3; add.s64 %%rd6, %%rd2, %%rd5; ld.global.b32 %%r5, [%%rd6]; add.s32 %%r6, %%r2, %%r3;\n"
      ".loc 1 5 1\nst.shared.b32 [%%r6], %%r5; add.s32 %%r3, %%r3, 512; bra $more;\n$filled:\n");
  if (!p->registers) return;
  put(w, "cvt.u64.u32 %%rd7, %%r4; add.s64 %%rd7, %%rd7, %%rd2; mul.wide.u32 %%rd8, %%r1, 16; add.s64 %%rd7, %%rd7, %%rd8;\n"
      "ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%rd7];\n");
}

static inline void put_product(writer *w, const product *p) {
  const char *one = strcmp(p->d, "f32") == 0 ? "0x3f800000" : strcmp(p->d, "f16") == 0 ? "0x3c003c00" : "1";
  unsigned n = product_registers(p);
  for (unsigned i = 0; i < n; i++) put(w, "mov.b32 %%d%u, %s;\n", i, one);
  put(w, "%s\n%s\n.loc 1 7 1\nwgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s ",
      p->before != NULL ? p->before : "fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;",
      p->guard != NULL ? p->guard : "", p->n, p->k, p->d, p->a, p->b);
  put_list(w, "d", n);
  if (p->registers) put(w, ", {%%a0, %%a1, %%a2, %%a3}");
  else put(w, ", %%rd3");
  put(w, ", %%rd4, %s", p->scale != NULL ? p->scale : "%p2");
  if (strcmp(p->d, "s32") != 0) put(w, ", %d, 1", p->minus ? -1 : 1);
  if (strcmp(p->a, "f16") == 0 || strcmp(p->a, "bf16") == 0) {
    if (!p->registers) put(w, ", %d", p->turn_a);
    put(w, ", %d", p->turn_b);
  }
  put(w, ";\n$around:\n.loc 1 8 1\n%s\n.loc 1 9 1\n",
      p->after != NULL ? p->after : "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  put(w, "mul.wide.u32 %%rd9, %%r1, 4; add.s64 %%rd9, %%rd9, %%rd1;\n");
  for (unsigned i = 0; i < n; i++) put(w, "st.global.b32 [%%rd9+%u], %%d%u;\n", 512 * i, i);
  put(w, "ret; }\n");
}

/* A module with the product's kernel `k(out, in, descriptors of A and B, size, keep)`. */
static inline void load_product(sim_fixture *x, const product *p) {
  static writer w;
  w.size = 0;
  put_loads(&w, p);
  put_product(&w, p);
  cawb_device_unload(x->d, x->m);
  x->m = NULL;
  if (cawb_device_load(x->d, &(cawb_image){ .ptx = w.text }, &x->m, &x->err) == CAWB_OK) return;
  fprintf(stderr, "%s\n", x->err.msg);
  exit(1);
}

static inline uint64_t descriptor(uint32_t start, uint32_t leading, uint32_t stride, unsigned base, unsigned swizzle) {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return (uint64_t)(start >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
         (uint64_t)base << 49 | mode << 62;
}

#endif

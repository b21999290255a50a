/*
** test_sim_wgmma.c - warpgroup products of the simulated device against plain C: every type,
** narrow and wide, factors in every layout that a descriptor can tell, and from registers.
** Whole numbers make every order of summing the same.
*/
#include "check.h"
#include "sim/isa/isas.h"
#include "sim/memory/device.h"
#include "sim_wgmma.h"

enum { ROWS = 64, WIDE = 256, B_AT = 16384, SHARED = 65536, THREADS = 128 };

typedef struct layout { unsigned swizzle; int turned; unsigned skip, base; } layout;

/* ------------------------------------------------------------------ numbers */

static uint32_t f16_of(int v) {
  uint32_t sign = v < 0 ? 0x8000 : 0, m = (uint32_t)abs(v), e = 0;
  if (m == 0) return 0;
  while (m >> (e + 1) != 0) e++;
  return sign | (e + 15) << 10 | (m << (10 - e) & 1023);
}

static uint32_t f32_of(int v) { float f = (float)v; uint32_t u; memcpy(&u, &f, 4); return u; }

/* Between -4 and 4. */
static uint32_t small_of(const char *type, int v) {
  static const uint8_t e4m3[] = { 0, 0x38, 0x40, 0x44, 0x48 }, e5m2[] = { 0, 0x3c, 0x40, 0x42, 0x44 };
  return (v < 0 ? 0x80 : 0) | (strcmp(type, "e4m3") == 0 ? e4m3 : e5m2)[abs(v)];
}

static unsigned bytes_of(const char *type) { return strstr(type, "16") != NULL ? 2 : strcmp(type, "tf32") == 0 ? 4 : 1; }

static uint32_t number_of(const char *type, int v) {
  if (strcmp(type, "f16") == 0) return f16_of(v);
  if (strcmp(type, "bf16") == 0) return f32_of(v) >> 16;
  if (strcmp(type, "tf32") == 0) return f32_of(v);
  return *type == 'e' ? small_of(type, v) : (uint32_t)v & 255;
}

/* Element (e, k) of A or B, unsigned where its type is. */
static int element_of(const char *type, unsigned e, unsigned k, unsigned seed) {
  int v = (int)((e * 37 + k * 101 + e * k * 7 + seed) % 9) - 4;
  return strcmp(type, "u8") == 0 ? v + 130 : v;
}

/* ------------------------------------------------------------------ layouts */

/*
** Where element (e, k) is, told by core matrices: 8 lines of `width` bytes one below the other.
** Along the lines matrices follow each other; across, behind a gap, so that offsets differ.
*/
static unsigned place_of(const layout *l, unsigned bytes, unsigned edge, unsigned e, unsigned k) {
  unsigned width = l->swizzle == 0 ? 16 : l->swizzle, core = 8 * width;
  unsigned line = l->turned ? k : e, byte = (l->turned ? e : k) * bytes + l->skip;
  unsigned lines = l->turned ? 16 : edge, far = lines / 8 * core;
  unsigned piece = byte % width / 16, mixed = piece;
  if (l->swizzle == 128) mixed = piece ^ line % 8;
  if (l->swizzle == 64) mixed = piece ^ line / 2 % 4;
  if (l->swizzle == 32) mixed = piece ^ line / 4 % 2;
  return byte / width * far + line / 8 * core + line % 8 * width + mixed * 16 + byte % 16;
}

static uint64_t describe(const layout *l, unsigned start, unsigned edge) {
  unsigned width = l->swizzle == 0 ? 16 : l->swizzle, core = 8 * width, far = (l->turned ? 16 : edge) / 8 * core;
  int other = l->swizzle == 0 && l->turned;             /* there the two offsets change places */
  return descriptor(start + l->skip, other ? core : far, other ? far : core, l->base, l->swizzle);
}

static void fill(unsigned char *image, const layout *l, const char *type, unsigned edge, unsigned deep, unsigned seed) {
  unsigned bytes = bytes_of(type);
  for (unsigned e = 0; e < edge; e++)
    for (unsigned k = 0; k < deep; k++) {
      uint32_t v = number_of(type, element_of(type, e, k, seed));
      memcpy(image + place_of(l, bytes, edge, e, k), &v, bytes);
    }
}

/* A as registers: 16 bytes a thread. */
static void fill_registers(unsigned char *to, const product *p) {
  unsigned bytes = bytes_of(p->a), each = 4 / bytes;
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned r = 0; r < 4; r++)
      for (unsigned i = 0; i < each; i++) {
        unsigned row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2), k = t % 4 * each + 4 * each * (r / 2) + i;
        uint32_t v = number_of(p->a, element_of(p->a, row, k, 1));
        memcpy(to + 16 * t + 4 * r + bytes * i, &v, bytes);
      }
}

/* ------------------------------------------------------------------ products */

static int wanted(const product *p, unsigned row, unsigned column, int keep) {
  int sum = 0;
  for (unsigned k = 0; k < p->k; k++) sum += element_of(p->a, row, k, 1) * element_of(p->b, column, k, 2);
  return (p->minus ? -sum : sum) + (keep ? 1 : 0);
}

static unsigned long long wrong(const product *p, const uint32_t *out, int keep) {
  unsigned long long bad = 0;
  int halves = strcmp(p->d, "f16") == 0;
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned i = 0; i < p->n / 2; i++) {
      unsigned row = 16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
      int v = wanted(p, row, column, keep);
      uint32_t got = halves ? out[i / 2 * THREADS + t] >> 16 * (i % 2) & 0xffff : out[i * THREADS + t];
      bad += got != (halves ? f16_of(v) : strcmp(p->d, "f32") == 0 ? f32_of(v) : (uint32_t)v);
    }
  return bad;
}

static void try_product(sim_fixture *x, const product *p, const layout *a, const layout *b, int keep) {
  static unsigned char image[SHARED + 16 * THREADS];
  static uint32_t out[WIDE / 2 * THREADS];
  unsigned at = a->base * 128, size = 16 * THREADS;
  memset(image, 0x55, sizeof image);
  if (p->registers) fill_registers(image + SHARED, p);
  else fill(image + at, a, p->a, ROWS, p->k, 1);
  fill(image + B_AT + b->base * 128, b, p->b, p->n, p->k, 2);
  load_product(x, p);
  cawb_addr in = tensor(x, "in", image, SHARED + size), o = tensor(x, "out", NULL, sizeof out);
  ARG(x, cawb_addr, o); ARG(x, cawb_addr, in);
  ARG(x, uint64_t, describe(a, at, ROWS)); ARG(x, uint64_t, describe(b, B_AT + b->base * 128, p->n));
  ARG(x, unsigned, SHARED); ARG(x, int, keep);
  cawb_status status = launch(x, "k", 1, 1, THREADS, 1, SHARED);
  if (status == CAWB_OK) fetch_tensor(x, out, o, sizeof out);
  unsigned long long bad = status == CAWB_OK ? wrong(p, out, keep) : 0;
  if (status != CAWB_OK || bad > 0 || x->report.races > 0)
    fprintf(stderr, "n%uk%u %s %s %s, swizzle %u %u, turned %d %d, registers %d: %llu wrong; %s%s\n", p->n, p->k, p->d,
            p->a, p->b, a->swizzle, b->swizzle, a->turned, b->turned, p->registers, bad, x->err.msg, x->report.race);
  CHECK(status == CAWB_OK && bad == 0 && x->report.races == 0);
  cawb_device_free(x->d, in);
  cawb_device_free(x->d, o);
}

static const struct { const char *d, *a, *b; unsigned k; } types[] = {
  { "f32", "f16", "f16", 16 }, { "f16", "f16", "f16", 16 }, { "f32", "bf16", "bf16", 16 }, { "f32", "tf32", "tf32", 8 },
  { "s32", "s8", "s8", 32 }, { "s32", "u8", "s8", 32 }, { "f32", "e4m3", "e5m2", 32 }, { "f16", "e5m2", "e4m3", 32 }
};
static const unsigned widths[] = { 8, 64, 256 }, swizzles[] = { 0, 32, 64, 128 };

static void test_layouts(sim_fixture *x) {
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int turned = 0; turned < (bytes_of(types[t].a) == 2 ? 4 : 1); turned++)
      for (int i = 0; i < 3; i++)
        for (int s = 0; s < 4; s++) {
          product p = { .d = types[t].d, .a = types[t].a, .b = types[t].b, .n = widths[i], .k = types[t].k,
                        .turn_a = turned & 1, .turn_b = turned >> 1, .minus = *types[t].d == 'f' && s == 1 };
          layout a = { swizzles[s], turned & 1, 0, 0 }, b = { swizzles[(s + i) % 4], turned >> 1, 0, 0 };
          try_product(x, &p, &a, &b, s & 1);
        }
}

static void test_registers(sim_fixture *x) {
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int i = 0; i < 3; i++) {
      product p = { .d = types[t].d, .a = types[t].a, .b = types[t].b, .n = widths[i], .k = types[t].k, .registers = 1,
                    .turn_b = bytes_of(types[t].a) == 2 && i == 1 };
      layout a = { 0, 0, 0, 0 }, b = { swizzles[i + 1], p.turn_b, 0, 0 };
      try_product(x, &p, &a, &b, 1);
    }
}

/* A later step along K within a line of 128 bytes; a pattern that begins behind its alignment. */
static void test_steps(sim_fixture *x) {
  product p = { .d = "f32", .a = "bf16", .b = "bf16", .n = 32, .k = 16 };
  for (unsigned skip = 0; skip < 128; skip += 32) {
    layout a = { 128, 0, skip, 0 }, b = { 128, 0, 96 - skip, 0 };
    try_product(x, &p, &a, &b, 0);
  }
  layout a = { 128, 0, 32, 3 }, b = { 128, 0, 64, 6 };
  try_product(x, &p, &a, &b, 1);
}

/* scale-d as a constant, and as the opposite of a predicate. */
static void test_scales(sim_fixture *x) {
  product p = { .d = "f32", .a = "f16", .b = "f16", .n = 16, .k = 16, .scale = "1" };
  layout l = { 0, 0, 0, 0 };
  try_product(x, &p, &l, &l, 1);
  p.scale = "0";
  try_product(x, &p, &l, &l, 0);
}

int main(void) {
  const sim_isa *best = sim_isa_best(), *isas[] = { &sim_isa_base, best == &sim_isa_avx512 ? &sim_isa_avx2 : best, best };
  for (int i = 0; i < 3; i++) {
    sim_fixture x = { 0 };
    if (i > 0 && isas[i] == isas[i - 1]) continue;
    if (open_h100(&x.d, &x.err) != CAWB_OK) return 1;
    ((sim_device *)x.d)->isa = isas[i];
    test_layouts(&x);
    test_registers(&x);
    test_steps(&x);
    test_scales(&x);
    fixture_close(&x);
  }
  return check_report();
}

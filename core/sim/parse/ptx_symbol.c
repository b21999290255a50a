/* ptx_symbol.c - names of a PTX module: a hash table that unwinds with scopes. */
#include "sim/parse/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *name, size_t size) {
  uint32_t h = 2166136261u;  /* FNV-1a */
  for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
  return h % PTX_BUCKETS;
}

ptx_symbol *ptx_symbol_add(ptx_parser *p, const char *name, size_t size) {
  p->symbols = ptx_grow(p, p->symbols, p->nsymbols, &p->symbols_room, sizeof *p->symbols);
  ptx_symbol *s = &p->symbols[p->nsymbols++];
  memset(s, 0, sizeof *s);
  s->name = name;
  s->size = size;
  uint32_t *head = &p->buckets[hash(name, size)];
  s->chain = *head;
  *head = p->nsymbols;
  return s;
}

static uint32_t exact(const ptx_parser *p, const char *name, size_t size) {
  uint32_t i = p->buckets[hash(name, size)];
  while (i != 0) {
    const ptx_symbol *s = &p->symbols[i - 1];
    if (s->size == size && memcmp(s->name, name, size) == 0) return i;
    i = s->chain;
  }
  return 0;
}

/* The symbol's index + 1, or 0. %r12 also finds the family %r<13>. */
uint32_t ptx_symbol_find(const ptx_parser *p, const char *name, size_t size) {
  uint32_t i = exact(p, name, size);
  if (i != 0) return i;
  size_t stem = size;
  while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9') stem--;
  if (stem == size || stem == 0 || size - stem > 9) return 0;
  i = exact(p, name, stem);
  if (i == 0 || !p->symbols[i - 1].family) return 0;
  return strtoul(name + stem, NULL, 10) < p->symbols[i - 1].count ? i : 0;
}

/* Forget the symbols of an inner scope. */
void ptx_symbols_cut(ptx_parser *p, uint32_t count) {
  while (p->nsymbols > count) {
    const ptx_symbol *s = &p->symbols[--p->nsymbols];
    p->buckets[hash(s->name, s->size)] = s->chain;
  }
}

/* Room for `size` bytes after `*end`; returns where it starts. */
uint64_t ptx_place(uint64_t *end, uint64_t size, uint64_t align) {
  if (align == 0) align = 1;
  uint64_t start = (*end + align - 1) / align * align;
  *end = start + size;
  return start;
}

unsigned ptx_type_bytes(const char *text, size_t size) {
  static const struct { const char *name; unsigned bytes; } types[] = {
    { ".b8", 1 }, { ".u8", 1 }, { ".s8", 1 }, { ".b16", 2 }, { ".u16", 2 }, { ".s16", 2 },
    { ".f16", 2 }, { ".bf16", 2 }, { ".b32", 4 }, { ".u32", 4 }, { ".s32", 4 },
    { ".f32", 4 }, { ".f16x2", 4 }, { ".bf16x2", 4 }, { ".b64", 8 }, { ".u64", 8 },
    { ".s64", 8 }, { ".f64", 8 }, { ".pred", 1 }, { ".b128", 16 }
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == size && memcmp(types[i].name, text, size) == 0)
      return types[i].bytes;
  return 0;
}

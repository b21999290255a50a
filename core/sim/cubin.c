/*
** cubin.c - registers of each kernel, from the machine code that ptxas made.
** A cubin is an ELF file; section .nv.info holds records of two bytes format and
** attribute, two bytes size, then a symbol's index and a value: attribute 0x2f
** is the number of registers. Anything odd is skipped: the figure stays unknown.
*/
#include "sim.h"

#include <elf.h>
#include <string.h>

enum { FORMAT_SIZED = 4, ATTRIBUTE_REGISTERS = 0x2f };

typedef struct image { const unsigned char *data; size_t size; } image;

/* `size` bytes at `off`, or NULL beyond the end. */
static const void *at(const image *m, uint64_t off, uint64_t size) {
  return off <= m->size && size <= m->size - off ? m->data + off : NULL;
}

static int section(const image *m, const Elf64_Ehdr *h, unsigned i, Elf64_Shdr *out) {
  const void *p = i < h->e_shnum ? at(m, h->e_shoff + (uint64_t)i * sizeof *out, sizeof *out) : NULL;
  if (p != NULL) memcpy(out, p, sizeof *out);
  return p != NULL;
}

static const char *text_at(const image *m, const Elf64_Shdr *strings, uint32_t off) {
  if (off >= strings->sh_size) return NULL;
  const char *s = at(m, strings->sh_offset + off, strings->sh_size - off);
  return s != NULL && memchr(s, '\0', strings->sh_size - off) != NULL ? s : NULL;
}

static int find(const image *m, const Elf64_Ehdr *h, const char *name, Elf64_Shdr *out) {
  Elf64_Shdr strings;
  if (!section(m, h, h->e_shstrndx, &strings)) return 0;
  for (unsigned i = 0; section(m, h, i, out); i++) {
    const char *s = text_at(m, &strings, out->sh_name);
    if (s != NULL && strcmp(s, name) == 0) return 1;
  }
  return 0;
}

static void set_registers(cawb_module *mod, const image *m, const Elf64_Shdr *symbols,
                          const Elf64_Shdr *names, uint32_t index, uint32_t registers) {
  Elf64_Sym sym;
  const void *p = at(m, symbols->sh_offset + (uint64_t)index * sizeof sym, sizeof sym);
  if (p == NULL) return;
  memcpy(&sym, p, sizeof sym);
  const char *name = text_at(m, names, sym.st_name);
  for (sim_function *f = mod->functions; name != NULL && f != NULL; f = f->next)
    if (strcmp(f->name, name) == 0) f->regs_used = registers;
}

void sim_cubin_read(cawb_module *mod, const void *data, size_t size) {
  image m = { data, size };
  Elf64_Ehdr h;
  Elf64_Shdr info, symbols, names;
  if (data == NULL || size < sizeof h || memcmp(data, ELFMAG, SELFMAG) != 0) return;
  memcpy(&h, data, sizeof h);
  if (!find(&m, &h, ".nv.info", &info) || !find(&m, &h, ".symtab", &symbols) ||
      !section(&m, &h, symbols.sh_link, &names)) return;
  for (uint64_t off = 0; off + 4 <= info.sh_size;) {
    const unsigned char *r = at(&m, info.sh_offset + off, 4);
    if (r == NULL) return;
    uint64_t length = r[0] == FORMAT_SIZED ? 4 + (r[2] | (unsigned)r[3] << 8) : 4;
    uint32_t v[2];
    const void *value = length >= 12 ? at(&m, info.sh_offset + off + 4, sizeof v) : NULL;
    if (r[0] == FORMAT_SIZED && r[1] == ATTRIBUTE_REGISTERS && value != NULL) {
      memcpy(v, value, sizeof v);
      set_registers(mod, &m, &symbols, &names, v[0], v[1]);
    }
    off += length;
  }
}

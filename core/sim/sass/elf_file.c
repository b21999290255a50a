/* elf_file.c - see elf_file.h. */
#include "sim/sass/elf_file.h"

#include <string.h>

int sim_elf_open(sim_elf *m, const void *data, size_t size) {
  if (data == NULL || size < sizeof m->head || memcmp(data, ELFMAG, SELFMAG) != 0) return 0;
  m->data = data;
  m->size = size;
  memcpy(&m->head, data, sizeof m->head);
  return 1;
}

const void *sim_elf_at(const sim_elf *m, uint64_t off, uint64_t size) {
  return off <= m->size && size <= m->size - off ? m->data + off : NULL;
}

int sim_elf_section(const sim_elf *m, unsigned i, Elf64_Shdr *out) {
  const void *p = NULL;
  if (i < m->head.e_shnum) p = sim_elf_at(m, m->head.e_shoff + (uint64_t)i * sizeof *out, sizeof *out);
  if (p != NULL) memcpy(out, p, sizeof *out);
  return p != NULL;
}

const char *sim_elf_text(const sim_elf *m, const Elf64_Shdr *strings, uint32_t off) {
  if (off >= strings->sh_size) return NULL;
  const char *s = sim_elf_at(m, strings->sh_offset + off, strings->sh_size - off);
  return s != NULL && memchr(s, '\0', strings->sh_size - off) != NULL ? s : NULL;
}

unsigned sim_elf_find(const sim_elf *m, const char *name, Elf64_Shdr *out) {
  Elf64_Shdr strings;
  if (!sim_elf_section(m, m->head.e_shstrndx, &strings)) return 0;
  for (unsigned i = 1; sim_elf_section(m, i, out); i++) {
    const char *s = sim_elf_text(m, &strings, out->sh_name);
    if (s != NULL && strcmp(s, name) == 0) return i;
  }
  return 0;
}

int sim_elf_symbol(const sim_elf *m, const Elf64_Shdr *symbols, uint64_t i, Elf64_Sym *out) {
  const void *p = NULL;
  if (i < symbols->sh_size / sizeof *out) p = sim_elf_at(m, symbols->sh_offset + i * sizeof *out, sizeof *out);
  if (p != NULL) memcpy(out, p, sizeof *out);
  return p != NULL;
}

/*
** elf_file.h - sections of an ELF file in memory, as a cubin is one. Whatever the bytes are,
** nothing outside of them is looked at. What is returned points into them.
*/
#ifndef CAWB_SIM_SASS_ELF_FILE_H
#define CAWB_SIM_SASS_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_elf {
  const unsigned char *data;
  size_t size;
  Elf64_Ehdr head;
} sim_elf;

int sim_elf_open(sim_elf *m, const void *data, size_t size);         /* 0: it is none */
const void *sim_elf_at(const sim_elf *m, uint64_t off, uint64_t size);   /* NULL beyond the end */
int sim_elf_section(const sim_elf *m, unsigned i, Elf64_Shdr *out);  /* 0: there are not so many */
unsigned sim_elf_find(const sim_elf *m, const char *name, Elf64_Shdr *out);   /* its number; 0: none */
const char *sim_elf_text(const sim_elf *m, const Elf64_Shdr *strings, uint32_t off);
int sim_elf_symbol(const sim_elf *m, const Elf64_Shdr *symbols, uint64_t i, Elf64_Sym *out);

#endif

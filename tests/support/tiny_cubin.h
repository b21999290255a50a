/*
** tiny_cubin.h - the least that a cubin must have for its machine code to be read: the code of
** one kernel `k`, and its line program. For tests that put them together byte by byte.
*/
#ifndef CAWB_TESTS_TINY_CUBIN_H
#define CAWB_TESTS_TINY_CUBIN_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TINY_NAMES = 1, TINY_SYMBOL_NAMES, TINY_SYMBOLS, TINY_TEXT, TINY_LINES, TINY_RELOCATIONS, TINY_SECTIONS };

typedef struct tiny_cubin { unsigned char *data; size_t size, room; Elf64_Shdr section[TINY_SECTIONS]; } tiny_cubin;

/* A section of these bytes, if there is room. */
static inline void tiny_add(tiny_cubin *c, int i, uint32_t name, const void *bytes, size_t size) {
  if (size > c->room - c->size) size = 0;
  if (size > 0) memcpy(c->data + c->size, bytes, size);
  c->section[i].sh_name = name;
  c->section[i].sh_offset = c->size;
  c->section[i].sh_size = size;
  c->size += size;
}

/* `place`: where in the line program the address stands that is to be the kernel's. Its size. */
static inline size_t tiny_make(unsigned char *out, size_t room, const void *text, size_t text_size,
                               const void *lines, size_t lines_size, uint64_t place) {
  static const char names[] = "\0.shstrtab\0.strtab\0.symtab\0.text.k\0.nv_debug_line_sass\0.rela.nv_debug_line_sass";
  Elf64_Ehdr head = { .e_ident = ELFMAG, .e_shnum = TINY_SECTIONS, .e_shstrndx = TINY_NAMES };
  Elf64_Sym symbols[2] = { { 0 }, { .st_name = 1, .st_shndx = TINY_TEXT } };
  Elf64_Rela move = { .r_offset = place, .r_info = ELF64_R_INFO(UINT64_C(1), 2) };
  tiny_cubin c = { out, sizeof head, room - sizeof c.section, { { 0 } } };
  tiny_add(&c, TINY_NAMES, 1, names, sizeof names);
  tiny_add(&c, TINY_SYMBOL_NAMES, 11, "\0k", 3);
  tiny_add(&c, TINY_SYMBOLS, 19, symbols, sizeof symbols);
  tiny_add(&c, TINY_TEXT, 27, text, text_size);
  tiny_add(&c, TINY_LINES, 35, lines, lines_size);
  tiny_add(&c, TINY_RELOCATIONS, 55, &move, sizeof move);
  c.section[TINY_SYMBOLS].sh_link = TINY_SYMBOL_NAMES;
  c.section[TINY_RELOCATIONS].sh_link = TINY_SYMBOLS;
  c.section[TINY_RELOCATIONS].sh_type = SHT_RELA;
  head.e_shoff = c.size;
  memcpy(out, &head, sizeof head);
  memcpy(out + c.size, c.section, sizeof c.section);
  return c.size + sizeof c.section;
}

#endif

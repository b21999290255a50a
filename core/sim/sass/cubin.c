/*
** cubin.c - registers and local memory of each kernel, from the machine code that ptxas made.
** A cubin is an ELF file; section .nv.info holds records of two bytes format and
** attribute, two bytes size, then a symbol's index and a value: attribute 0x2f
** is the number of registers, 0x11 the bytes of local memory. Anything odd is skipped: the figure stays unknown.
*/
#include "sim/sass/sass.h"

#include <string.h>

enum { FORMAT_SIZED = 4, ATTRIBUTE_REGISTERS = 0x2f, ATTRIBUTE_FRAME = 0x11 };

static void set_value(cawb_module *mod, const sim_elf *m, const Elf64_Shdr *symbols,
                      const Elf64_Shdr *names, uint32_t index, unsigned attribute, uint32_t value) {
  Elf64_Sym sym;
  const char *name = sim_elf_symbol(m, symbols, index, &sym) ? sim_elf_text(m, names, sym.st_name) : NULL;
  for (sim_function *f = mod->functions; name != NULL && f != NULL; f = f->next)
    if (strcmp(f->name, name) == 0) *(attribute == ATTRIBUTE_REGISTERS ? &f->regs_used : &f->stack) = value;
}

void sim_cubin_read(cawb_module *mod, const void *data, size_t size) {
  sim_elf m;
  Elf64_Shdr info, symbols, names;
  if (!sim_elf_open(&m, data, size) || sim_elf_find(&m, ".nv.info", &info) == 0 ||
      sim_elf_find(&m, ".symtab", &symbols) == 0 || !sim_elf_section(&m, symbols.sh_link, &names)) return;
  for (uint64_t off = 0; off + 4 <= info.sh_size;) {
    const unsigned char *r = sim_elf_at(&m, info.sh_offset + off, 4);
    if (r == NULL) return;
    uint64_t length = r[0] == FORMAT_SIZED ? 4 + (r[2] | (unsigned)r[3] << 8) : 4;
    uint32_t v[2];
    const void *value = length >= 12 ? sim_elf_at(&m, info.sh_offset + off + 4, sizeof v) : NULL;
    if (r[0] == FORMAT_SIZED && (r[1] == ATTRIBUTE_REGISTERS || r[1] == ATTRIBUTE_FRAME) && value != NULL) {
      memcpy(v, value, sizeof v);
      set_value(mod, &m, &symbols, &names, v[0], r[1], v[1]);
    }
    off += length;
  }
}

/*
** lines.c - the section .nv_debug_line_sass: for each kernel a line program as in DWARF 2,
** chapter 6.2, whose lines are those of the PTX text. Where a sequence begins is left to a
** relocation, which names the section of the code.
*/
#include "sim/sass/sass.h"

#include <string.h>

enum { BYTES = 16, HEAD = 15, SET_ADDRESS_SIZE = 9 };   /* of an instruction; of a unit's fixed part */
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };

typedef struct reader { const unsigned char *at, *end; } reader;

typedef struct program {
  const sim_elf *file;
  const unsigned char *section;         /* its first byte */
  Elf64_Shdr relocations, symbols;
  unsigned text;                        /* the section of code that is asked for */
  sim_sass *out;
  unsigned step, range, opcodes;
  int base;
  const unsigned char *lengths;         /* operands of the standard opcodes */
  uint64_t address, from;               /* now; of the last row */
  uint32_t line, row;
  int here, open;                       /* the sequence is of that section; there is a last row */
} program;

static uint64_t fixed(reader *r, unsigned bytes) {
  uint64_t v = 0;
  if ((size_t)(r->end - r->at) < bytes) r->at = r->end;
  else for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)*r->at++ << 8 * i;
  return v;
}

static uint64_t variable(reader *r, int is_signed) {
  uint64_t v = 0;
  unsigned shift = 0, byte = 0;
  do {
    byte = (unsigned)fixed(r, 1);
    if (shift < 64) v |= (uint64_t)(byte & 127) << shift;
    shift += 7;
  } while (byte & 128);
  return is_signed && shift < 64 && byte & 64 ? v | ~UINT64_C(0) << shift : v;
}

/* ----------------------------------------------------------------- addresses */

/* Does the relocation of these bytes lead to the section that is asked for? */
static int leads_here(const program *p, uint64_t place, uint64_t *address) {
  const Elf64_Shdr *s = &p->relocations;
  uint64_t size = s->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  for (uint64_t off = 0; off + size <= s->sh_size; off += size) {
    Elf64_Rela r = { 0 };
    Elf64_Sym symbol;
    const void *at = sim_elf_at(p->file, s->sh_offset + off, size);
    if (at == NULL) return 0;
    memcpy(&r, at, size);
    if (r.r_offset != place) continue;
    if (!sim_elf_symbol(p->file, &p->symbols, ELF64_R_SYM(r.r_info), &symbol)) return 0;
    *address += symbol.st_value + (uint64_t)r.r_addend;
    return symbol.st_shndx == p->text;
  }
  return 0;
}

/* The instructions from the last row on up to here are of its line. */
static void end_row(program *p) {
  uint64_t last = p->address / BYTES;
  if (p->here && p->open && p->address > p->from)
    for (uint64_t i = p->from / BYTES; i < last && i < p->out->count; i++) p->out->code[i].line = p->row;
}

static void add_row(program *p) {
  end_row(p);
  p->open = 1;
  p->from = p->address;
  p->row = p->line;
}

/* ------------------------------------------------------------------- opcodes */

static void start(program *p) {
  p->address = p->from = 0;
  p->line = p->row = 1;
  p->here = p->open = 0;
}

static void extended(program *p, reader *r) {
  uint64_t size = variable(r, 0);
  if (size == 0 || size > (uint64_t)(r->end - r->at)) return;
  reader own = { r->at, r->at + size };
  uint64_t op = fixed(&own, 1);
  if (op == END_SEQUENCE) {
    end_row(p);
    start(p);
  } else if (op == SET_ADDRESS && size == SET_ADDRESS_SIZE) {
    uint64_t place = (uint64_t)(own.at - p->section);
    end_row(p);
    p->open = 0;
    p->address = fixed(&own, 8);
    p->here = leads_here(p, place, &p->address);
  }
  r->at += size;
}

static void standard(program *p, reader *r, unsigned op) {
  switch (op) {
    case COPY: add_row(p); return;
    case ADVANCE_PC: p->address += variable(r, 0) * p->step; return;
    case ADVANCE_LINE: p->line += (uint32_t)variable(r, 1); return;
    case CONST_ADD_PC: p->address += (uint64_t)((255 - p->opcodes) / p->range) * p->step; return;
    case FIXED_ADVANCE_PC: p->address += fixed(r, 2); return;
    default: for (unsigned i = p->lengths[op - 1]; i > 0; i--) variable(r, 0);
  }
}

static void special(program *p, unsigned op) {
  p->address += (uint64_t)(op / p->range) * p->step;
  p->line += (uint32_t)(p->base + (int)(op % p->range));
  add_row(p);
}

/* A unit, behind its length. */
static void run(program *p, reader r) {
  if (r.end - r.at < HEAD - 4 || fixed(&r, 2) != 2) return;
  uint64_t behind = fixed(&r, 4);
  const unsigned char *first = r.at;
  if (behind > (uint64_t)(r.end - first)) return;
  p->step = (unsigned)fixed(&r, 1);
  r.at++;                               /* whether rows begin statements */
  p->base = (signed char)fixed(&r, 1);  /* NOLINT: it has a sign */
  p->range = (unsigned)fixed(&r, 1);
  p->opcodes = (unsigned)fixed(&r, 1);
  p->lengths = r.at;
  if (p->range == 0 || p->opcodes == 0 || behind < 5 + (uint64_t)p->opcodes - 1) return;
  r.at = first + behind;
  start(p);
  while (r.at < r.end) {
    unsigned op = (unsigned)fixed(&r, 1);
    if (op >= p->opcodes) special(p, op - p->opcodes);
    else if (op == 0) extended(p, &r);
    else standard(p, &r, op);
  }
}

void sim_sass_lines(const sim_elf *m, unsigned text, sim_sass *s) {
  Elf64_Shdr lines;
  program p = { .file = m, .text = text, .out = s };
  if (sim_elf_find(m, ".nv_debug_line_sass", &lines) == 0 ||
      (sim_elf_find(m, ".rela.nv_debug_line_sass", &p.relocations) == 0 &&
       sim_elf_find(m, ".rel.nv_debug_line_sass", &p.relocations) == 0) ||
      !sim_elf_section(m, p.relocations.sh_link, &p.symbols)) return;
  p.section = sim_elf_at(m, lines.sh_offset, lines.sh_size);
  if (p.section == NULL) return;
  reader all = { p.section, p.section + lines.sh_size };
  while (all.end - all.at >= HEAD) {
    uint64_t size = fixed(&all, 4);
    if (size > (uint64_t)(all.end - all.at)) return;
    run(&p, (reader){ all.at, all.at + size });
    all.at += size;
  }
}

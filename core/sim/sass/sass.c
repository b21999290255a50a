/*
** sass.c - the machine code of each kernel, as far as it says where it goes next. From sm_70 on
** an instruction has 16 bytes: the low 9 bits name the operation, bits 12 to 15 its guard,
** 87 to 90 the predicate of a jump beside that, 32 and 33 when it is taken. A distance counts bytes from the next
** instruction on, in words: from bit 34 on, and from sm_90 on its low byte is at bit 16.
** Each kernel ends with a jump to itself, which tells the two apart, and padding.
*/
#include "sim/sass/sass.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 16, ALWAYS = 7, JUMP_PLAIN = 0x947 };
enum { WHEN_APART = 2, WHEN_TOGETHER };          /* if the lanes are not at one place, if they are */
enum { CONTROL_FIRST = 0x140, CONTROL_LAST = 0x15f, NOP = 0x118 };
enum { OP_LOAD_LOCAL = 0x183, OP_STORE_LOCAL = 0x187, WORDS_2 = 5, WORDS_4 = 6 };
enum { OP_CALL_ABSOLUTE = 0x143, OP_CALL = 0x144, OP_JUMP = 0x147, OP_JUMP_TABLE = 0x149,
       OP_JUMP_FAR = 0x14a, OP_JUMP_FAR_TABLE = 0x14c, OP_EXIT = 0x14d, OP_RETURN = 0x150,
       OP_JUMP_UNIFORM_TABLE = 0x158, OP_JUMP_UNIFORM_FAR = 0x159, OP_KILL = 0x15b };

typedef struct word { uint64_t low, high; } word;

static word word_at(const unsigned char *text, uint32_t i) {
  word w;
  memcpy(&w, text + (size_t)i * BYTES, sizeof w);
  return w;
}

static unsigned operation(word w) { return (unsigned)(w.low & 0x1ff); }

/* Where it goes, as a number of an instruction; split: the low byte is apart. */
static int64_t target(word w, uint32_t i, int split) {
  uint64_t bits = w.low >> 34 | w.high << 30;               /* 48 bits are the distance */
  int64_t far = (int64_t)(bits << 16) >> 16;
  if (split) far = (int64_t)((uint64_t)far << 8 | (w.low >> 16 & 0xff));
  int64_t bytes = (int64_t)((uint64_t)far << 2);
  return bytes % BYTES == 0 ? (int64_t)i + 1 + bytes / BYTES : -1;
}

/* How many instructions precede the jump to itself; 0: there is none. */
static uint32_t find_end(const unsigned char *text, uint32_t count, int *split) {
  for (uint32_t i = count; i-- > 0;) {
    word w = word_at(text, i);
    if (operation(w) != OP_JUMP) continue;
    for (*split = 0; *split < 2; ++*split)
      if (target(w, i, *split) == i) return i;
  }
  return 0;
}

static int is_table(unsigned op) {
  return op == OP_JUMP_TABLE || op == OP_JUMP_FAR || op == OP_JUMP_FAR_TABLE ||
         op == OP_JUMP_UNIFORM_TABLE || op == OP_JUMP_UNIFORM_FAR;
}

static uint8_t kind_of(unsigned op) {
  if (op == OP_JUMP) return SIM_SASS_JUMP;
  if (op == OP_CALL || op == OP_CALL_ABSOLUTE) return SIM_SASS_CALL;
  if (op == OP_EXIT || op == OP_RETURN || op == OP_KILL || is_table(op)) return SIM_SASS_LEAVE;
  return op == NOP || (op >= CONTROL_FIRST && op <= CONTROL_LAST) ? SIM_SASS_OTHER : SIM_SASS_PLAIN;
}

/* Accesses, shuffles, barriers; sums and products of floats of 32, 64 and 16 bits. */
static uint8_t evidence_of(unsigned op) {
  if ((op >= 0x180 && op <= 0x18e) || (op >= 0x1a2 && op <= 0x1ae)) return SIM_SASS_STRONG;
  switch (op) {
    case 0x03b: case 0x044: case 0x0cc: case 0x11d: case 0x1c4: return SIM_SASS_STRONG;
    case 0x020: case 0x021: case 0x023: case 0x028: case 0x029: case 0x02b:
    case 0x030: case 0x031: case 0x032: case 0x035: return SIM_SASS_WEAK;
    default: return 0;
  }
}

static void decode(const unsigned char *text, uint32_t i, uint32_t count, int split, sim_sass_insn *out) {
  word w = word_at(text, i);
  unsigned op = operation(w);
  *out = (sim_sass_insn){ .target = SIM_SASS_NOWHERE, .kind = kind_of(op), .evidence = evidence_of(op) };
  out->guarded = (w.low >> 12 & 15) != ALWAYS;
  unsigned size = (unsigned)(w.high >> 9 & 7);
  if (op == OP_LOAD_LOCAL || op == OP_STORE_LOCAL) out->local = size == WORDS_4 ? 4 : size == WORDS_2 ? 2 : 1;
  if (out->kind != SIM_SASS_JUMP && op != OP_CALL) return;
  int64_t to = target(w, i, split);
  if (to >= 0 && to < count) out->target = (uint32_t)to;
  if (out->kind != SIM_SASS_JUMP) return;
  unsigned when = (unsigned)(w.low >> 32 & 3);
  if (when == WHEN_APART) out->rare = SIM_SASS_RARELY;
  if (when == WHEN_TOGETHER) out->rare = SIM_SASS_MOSTLY;
  if (when != 0 || (w.low & 0xfff) != JUMP_PLAIN || (w.high >> 23 & 15) != ALWAYS) out->guarded = 1;
}

static sim_sass *read_text(const sim_elf *m, unsigned number, const Elf64_Shdr *section) {
  uint64_t count = section->sh_size / BYTES;
  const unsigned char *text = sim_elf_at(m, section->sh_offset, section->sh_size);
  int split;
  uint32_t n = text != NULL && count < UINT32_MAX / BYTES ? find_end(text, (uint32_t)count, &split) : 0;
  sim_sass *s = n > 0 ? calloc(1, sizeof *s) : NULL;
  if (s == NULL) return NULL;
  s->count = n;
  s->code = calloc(n, sizeof *s->code);
  if (s->code == NULL) {
    sim_sass_free(s);
    return NULL;
  }
  for (uint32_t i = 0; i < n; i++) {
    decode(text, i, n, split, &s->code[i]);
    s->locals |= s->code[i].local > 0;
  }
  sim_sass_lines(m, number, s);
  return s;
}

static int has_lines(const sim_sass *s) {
  for (uint32_t i = 0; i < s->count; i++) if (s->code[i].line != 0) return 1;
  return 0;
}

static sim_sass *read_kernel(const sim_elf *m, const char *name) {
  Elf64_Shdr section;
  size_t size = strlen(name) + sizeof ".text.";
  char *wanted = malloc(size);
  if (wanted == NULL) return NULL;
  memcpy(wanted, ".text.", sizeof ".text." - 1);
  memcpy(wanted + sizeof ".text." - 1, name, strlen(name) + 1);
  unsigned number = sim_elf_find(m, wanted, &section);
  free(wanted);
  sim_sass *s = number != 0 ? read_text(m, number, &section) : NULL;
  if (s == NULL || (has_lines(s) && sim_sass_graph(s))) return s;
  sim_sass_free(s);
  return NULL;
}

void sim_sass_read(cawb_module *mod, const void *cubin, size_t size) {
  sim_elf m;
  if (!sim_elf_open(&m, cubin, size)) return;
  for (sim_function *f = mod->functions; f != NULL; f = f->next) f->sass = read_kernel(&m, f->name);
}

void sim_sass_free(sim_sass *s) {
  if (s == NULL) return;
  free(s->code);
  free(s->blocks);
  free(s->edges);
  free(s);
}

/*
** ptx_parse.h - what the parser hands to the decoder. Errors unwind with
** ptx_fail to sim_module_parse, which owns and releases everything.
*/
#ifndef CAWB_SIM_READ_PTX_PARSE_H
#define CAWB_SIM_READ_PTX_PARSE_H

#include "sim/parse/ptx_lex.h"
#include "sim/exec/isa.h"
#include "sim/parse/module.h"

#include <setjmp.h>

#define PTX_RETURN "@ret"          /* the label at the end of a function; no text can spell it */

enum { PTX_OPERANDS = 8, PTX_ITEMS = 136, PTX_WORDS = 16, PTX_DEPTH = 64, PTX_BUCKETS = 1024,
       PTX_OPNAMES = 2048 };

typedef enum ptx_symbol_kind {
  PTX_REG,          /* one register, or the family %r0 .. %r<count-1> */
  PTX_VARIABLE,     /* in `space`, at `offset` */
  PTX_ENTRY_PARAM   /* at `offset` of the launch's parameter block */
} ptx_symbol_kind;

typedef struct ptx_symbol {
  const char *name;
  size_t size;
  ptx_symbol_kind kind;
  uint8_t bytes;            /* of a register's lane: 0 (predicate), 4, 8, 16 (two of 8, see decode_wide.c) */
  uint8_t space;
  int family, dynamic, lazy;
  uint32_t count, align;
  uint64_t offset, length;
  const sim_function *owner;  /* lazy shared variables: placed in this function */
  uint32_t chain;
} ptx_symbol;

typedef enum ptx_operand_kind {
  PTX_O_REG, PTX_O_LITERAL, PTX_O_SYMBOL, PTX_O_MEMORY, PTX_O_VECTOR, PTX_O_NAME,
  PTX_O_SPECIAL, PTX_O_SINK
} ptx_operand_kind;

/* MEMORY: base in `symbol`, in `ref` (symbol NULL, bytes set), or none. */
typedef struct ptx_operand {
  ptx_operand_kind kind;
  sim_ref ref;
  uint8_t bytes;
  uint8_t part;             /* of a register: 1 to 4 is .b0 to .b3, 5 and 6 are .h0 and .h1; 0: all of it */
  int negate;
  ptx_kind literal;
  uint64_t value;
  uint32_t symbol;          /* index + 1 in the parser's table; 0: none */
  int64_t offset;
  unsigned first, count;    /* VECTOR: its elements in items[] */
  const char *text;         /* NAME, SPECIAL */
  size_t size;
} ptx_operand;

typedef struct ptx_word { const char *text; size_t size; } ptx_word;

typedef struct ptx_statement {
  ptx_word whole, word[PTX_WORDS];    /* the mnemonic, and split at its dots */
  unsigned words;
  uint32_t guard, guard_not;
  ptx_operand op[PTX_OPERANDS], second;
  unsigned count, nitems;
  int has_second;                     /* d|p */
  int skipped;                        /* nobody would know its operands */
  ptx_operand items[PTX_ITEMS];       /* the first nitems of them; wgmma has up to 132 */
} ptx_statement;

typedef struct ptx_label { const char *name; size_t size; uint32_t pc; } ptx_label;
typedef struct ptx_fixup { const char *name; size_t size; uint32_t insn, line; } ptx_fixup;
typedef struct ptx_body {
  const char *name;
  size_t size;
  ptx_lexer at;
  int open;                 /* it is being expanded */
  int recursive;            /* it calls itself: calls of it are not expanded */
  uint32_t frame;           /* of the entry at hand, + 1; 0: none */
  struct ptx_formal { uint32_t size, transfer; } *formals;      /* results, then arguments, and where they are handed over */
  uint32_t nresults, nformals, formals_room;
} ptx_body;

typedef struct ptx_parser {
  jmp_buf unwind;
  cawb_status status;
  cawb_err *err;
  sim_device *device;
  cawb_module *module;
  sim_function *f;                    /* being filled */
  ptx_lexer lex;
  ptx_token tok;
  ptx_symbol *symbols;
  uint32_t nsymbols, symbols_room, buckets[PTX_BUCKETS];
  ptx_label *labels;
  uint32_t nlabels, labels_room;
  ptx_fixup *fixups;
  uint32_t nfixups, fixups_room;
  ptx_body *bodies;                   /* .func definitions */
  uint32_t nbodies, bodies_room;
  ptx_word *names;                    /* of functions declared, with a body or not */
  uint32_t nnames, names_room;
  ptx_body *entries;
  uint32_t nentries, entries_room;
  unsigned depth, inlined;
  int again;                          /* a function was found to call itself: read the entry once more */
  uint32_t line, file;                /* of the source, from .loc */
  uint32_t text;                      /* line of the PTX that the statement at hand begins on */
  ptx_word mnemonic;                  /* of the statement at hand; size 0: none */
  int begun;                          /* .version was seen: the text is PTX */
  uint16_t opnames[PTX_OPNAMES];
} ptx_parser;

/* refuse.c */
/* Of text that is PTX, INVALID becomes UNSUPPORTED: a compiler made it, so what is
   not understood is what this device lacks. */
_Noreturn __attribute__((format(printf, 3, 4)))
void ptx_fail(ptx_parser *p, cawb_status code, const char *fmt, ...);

/* ptx_parse.c */
void *ptx_grow(ptx_parser *p, void *list, uint32_t count, uint32_t *room, size_t size);
void ptx_next(ptx_parser *p);
int  ptx_at(const ptx_parser *p, char c);
int  ptx_take(ptx_parser *p, char c);
void ptx_expect(ptx_parser *p, char c);
int  ptx_is(const ptx_parser *p, const char *name);
void ptx_skip_to(ptx_parser *p, char c);       /* and past it */
void ptx_body_parse(ptx_parser *p);

/* ptx_entry.c */
void ptx_entries_read(ptx_parser *p);
void ptx_function_free(sim_function *f);

/* ptx_symbol.c */
ptx_symbol *ptx_symbol_add(ptx_parser *p, const char *name, size_t size);
uint32_t ptx_symbol_find(const ptx_parser *p, const char *name, size_t size);
void ptx_symbols_cut(ptx_parser *p, uint32_t count);
uint64_t ptx_place(uint64_t *end, uint64_t size, uint64_t align);
unsigned ptx_type_bytes(const char *text, size_t size);   /* ".u32" -> 4, ".pred" -> 1 */

/* ptx_declare.c: .reg, variables, parameters */
void ptx_declare_registers(ptx_parser *p);
void ptx_declare_variable(ptx_parser *p, int space, int is_extern);
void ptx_declare_params(ptx_parser *p);

/* ptx_statement.c */
void ptx_statement_read(ptx_parser *p, ptx_statement *s);
void ptx_name_read(ptx_parser *p, ptx_operand *o);          /* and past it */

/* ptx_call.c */
void ptx_call(ptx_parser *p, const ptx_statement *s);
void ptx_function_declare(ptx_parser *p, const char *name, size_t size);
uint64_t ptx_function_address(const ptx_parser *p, const char *name, size_t size);   /* 0: none */

/* ptx_recurse.c: functions that call themselves */
typedef struct ptx_actuals { uint32_t symbol[64]; unsigned count, next; } ptx_actuals;
void ptx_frame_note(ptx_parser *p, const ptx_symbol *s);     /* registers declared */
void ptx_recurse_call(ptx_parser *p, ptx_body *b, const ptx_actuals *results, const ptx_actuals *args);
void ptx_recurse_finish(ptx_parser *p);                      /* their code, behind the entry's own */
void ptx_recurse_forget(ptx_parser *p);                      /* before an entry is read */

/* decode.c */
void ptx_opnames_fill(ptx_parser *p);
void ptx_decode(ptx_parser *p, const ptx_statement *s);
sim_insn *ptx_emit(ptx_parser *p, int op, const ptx_statement *s);
void ptx_unknown(ptx_parser *p, const char *what, size_t size);
void ptx_jump_to(ptx_parser *p, const char *label, size_t size);
sim_ref ptx_constant(ptx_parser *p, const sim_constant *wanted);
sim_ref ptx_value(ptx_parser *p, unsigned bytes, uint64_t value);
sim_ref ptx_sink(ptx_parser *p);           /* a place that nobody reads */
int ptx_special(ptx_parser *p, const char *name, size_t size, ptx_operand *out);

#endif

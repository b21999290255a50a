/*
** ptx_lex.h - PTX text as tokens. A token borrows from the text.
** Names keep their dots and colons: `ld.global.L2::128B.f32` is one token.
*/
#ifndef CAWB_SIM_READ_PTX_LEX_H
#define CAWB_SIM_READ_PTX_LEX_H

#include <stddef.h>
#include <stdint.h>

typedef enum ptx_kind {
  PTX_END, PTX_NAME, PTX_INT, PTX_F32, PTX_F64, PTX_DECIMAL, PTX_STRING, PTX_PUNCT, PTX_BAD
} ptx_kind;

typedef struct ptx_token {
  ptx_kind kind;
  const char *text;      /* PTX_BAD: what is wrong, NUL-terminated */
  size_t size;
  uint64_t value;        /* of a number; the bits of F32, F64, DECIMAL (as f64) */
  unsigned line;
} ptx_token;

typedef struct ptx_lexer {
  const char *at;
  unsigned line;
} ptx_lexer;

void ptx_lex(ptx_lexer *lex, ptx_token *out);

#endif

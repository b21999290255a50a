/* ptx_lex.c - see ptx_lex.h. */
#include "sim/parse/ptx_lex.h"

#include <stdlib.h>
#include <string.h>

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void bad(ptx_token *out, const char *why) {
  out->kind = PTX_BAD;
  out->text = why;
  out->size = strlen(why);
}

/* Spaces and both kinds of comment. Returns 0 if a comment never ends. */
static int skip(ptx_lexer *lex) {
  for (;;) {
    char c = *lex->at;
    if (c == '\n') lex->line++, lex->at++;
    else if (c == ' ' || c == '\t' || c == '\r') lex->at++;
    else if (c == '/' && lex->at[1] == '/') {
      while (*lex->at != '\0' && *lex->at != '\n') lex->at++;
    } else if (c == '/' && lex->at[1] == '*') {
      for (lex->at += 2; !(lex->at[0] == '*' && lex->at[1] == '/'); lex->at++) {
        if (*lex->at == '\0') return 0;
        if (*lex->at == '\n') lex->line++;
      }
      lex->at += 2;
    } else return 1;
  }
}

/* A directive ends before the next dot: `.reg.b16` is two tokens. */
static void name(ptx_lexer *lex, ptx_token *out) {
  const char *p = lex->at + 1, *stops = *lex->at == '.' ? "%." : "%";
  for (;;) {
    if (*p != '\0' && (is_start(*p) ? strchr(stops, *p) == NULL : is_digit(*p))) p++;
    else if (p[0] == ':' && p[1] == ':') p += 2;
    else break;
  }
  out->kind = PTX_NAME;
  out->size = (size_t)(p - lex->at);
  lex->at = p;
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of a float. */
static void float_bits(ptx_lexer *lex, ptx_token *out, int digits) {
  const char *p = lex->at + 2;
  uint64_t v = 0;
  for (int i = 0; i < digits; i++, p++) {
    int h = hex_digit(*p);
    if (h < 0) { bad(out, "a float constant is cut short"); return; }
    v = v << 4 | (unsigned)h;
  }
  out->kind = digits == 8 ? PTX_F32 : PTX_F64;
  out->value = v;
  lex->at = p;
}

static void decimal(ptx_lexer *lex, ptx_token *out) {
  char *end;
  double d = strtod(lex->at, &end);
  out->kind = PTX_DECIMAL;
  memcpy(&out->value, &d, sizeof d);
  lex->at = end;
}

static void number(ptx_lexer *lex, ptx_token *out) {
  const char *p = lex->at;
  unsigned base = 10;
  uint64_t v = 0;
  if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F')) { float_bits(lex, out, 8); return; }
  if (p[0] == '0' && (p[1] == 'd' || p[1] == 'D')) { float_bits(lex, out, 16); return; }
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) base = 16, p += 2;
  else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B')) base = 2, p += 2;
  else if (p[0] == '0' && is_digit(p[1])) base = 8, p++;
  for (;; p++) {
    int h = hex_digit(*p);
    if (h < 0 || (unsigned)h >= base) break;
    v = v * base + (unsigned)h;
  }
  if (base == 10 && (*p == '.' || *p == 'e' || *p == 'E')) { decimal(lex, out); return; }
  if (*p == 'U') p++;
  out->kind = PTX_INT;
  out->value = v;
  lex->at = p;
}

static void string(ptx_lexer *lex, ptx_token *out) {
  const char *p = lex->at + 1;
  while (*p != '"' && *p != '\0' && *p != '\n') p++;
  if (*p != '"') { bad(out, "a string never ends"); return; }
  out->kind = PTX_STRING;
  out->text = lex->at + 1;
  out->size = (size_t)(p - out->text);
  lex->at = p + 1;
}

void ptx_lex(ptx_lexer *lex, ptx_token *out) {
  int ok = skip(lex);
  out->text = lex->at;
  out->size = 1;
  out->value = 0;
  out->line = lex->line;
  if (!ok) { bad(out, "a comment never ends"); return; }
  char c = *lex->at;
  if (c == '\0') out->kind = PTX_END, out->size = 0;
  else if (is_start(c)) name(lex, out);
  else if (is_digit(c)) number(lex, out);
  else if (c == '"') string(lex, out);
  else if (strchr("{}()[]<>,;:=+-!|@*", c) != NULL) {
    out->kind = PTX_PUNCT;
    lex->at++;
  } else bad(out, "a character that PTX does not have");
}

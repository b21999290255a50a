/* census_text.c - see census_text.h. */
#include "gpu/ptx/census_text.h"

#include <stdlib.h>
#include <string.h>

typedef cawb_ptx_word word;

int cawb_census_mark(word w, char c) { return w.size == 1 && w.text[0] == c; }

int cawb_census_name(word w) {
  if (w.size == 0) return 0;
  char c = w.text[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

size_t cawb_census_bits(word w) {
  size_t bits = 0;
  if (w.size < 3 || w.text[0] != '.' || strchr("bfus", w.text[1]) == NULL) return 0;
  return cawb_ptx_number((word){ w.text + 2, w.size - 2 }, &bits) ? bits : 0;
}

word cawb_census_declared(const word *w, size_t n, size_t *bytes) {
  word name = { "", 0 };
  size_t number;
  int sized = 0;
  *bytes = 1;
  for (size_t i = 0; i < n && !cawb_census_mark(w[i], '='); i++) {
    if (cawb_ptx_is(w[i], ".align")) i++;
    else if (cawb_census_bits(w[i]) > 0) *bytes = cawb_census_bits(w[i]) / 8;
    else if (cawb_census_mark(w[i], '[')) sized = 1;
    else if (sized && cawb_ptx_number(w[i], &number)) *bytes *= number, sized = 0;
    else if (name.size == 0 && cawb_census_name(w[i])) name = w[i];
  }
  return name;
}

static void push(census_words *s, word w) {
  if (s->n == s->room) {
    size_t room = s->room > 0 ? 2 * s->room : 128;
    word *larger = realloc(s->w, room * sizeof *larger);
    if (larger == NULL) { s->starved = 1; return; }
    s->w = larger;
    s->room = room;
  }
  s->w[s->n++] = w;
}

static void give(const census_words *s, void (*one)(void *, const word *, size_t), void *data) {
  size_t skip = 0;
  if (s->n > 0 && cawb_census_mark(s->w[0], '@')) skip = s->n > 1 && cawb_census_mark(s->w[1], '!') ? 3 : 2;
  if (s->n > skip) one(data, s->w + skip, s->n - skip);
}

/* A brace inside a statement encloses a vector, one between statements a block. */
void cawb_census_body(const char **at, census_words *s, void (*one)(void *, const word *, size_t), void *data) {
  int vector = 0;
  s->n = 0;
  for (int depth = 1; depth > 0;) {
    word next = cawb_ptx_next(at);
    if (next.size == 0) return;
    char mark = next.size == 1 ? next.text[0] : '\0';
    if (s->n == 0 && cawb_ptx_is(next, ".loc")) {       /* ends with its line */
      *at += strcspn(*at, "\n");
    } else if (mark == ';' || mark == ':' || (s->n == 0 && (mark == '{' || mark == '}')) ||
               (mark == '}' && !vector)) {
      if (mark == ';') give(s, one, data);
      depth += mark == '{' ? 1 : mark == '}' ? -1 : 0;
      s->n = 0;
      vector = 0;
    } else {
      vector = mark == '{' ? 1 : mark == '}' ? 0 : vector;
      push(s, next);
    }
  }
}

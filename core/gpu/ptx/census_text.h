/* census_text.h - a function's body in PTX, statement by statement: for census.c. */
#ifndef CAWB_PTX_CENSUS_TEXT_H
#define CAWB_PTX_CENSUS_TEXT_H

#include <stddef.h>

#include "gpu/ptx/scan.h"

/* Room for the words of one statement, of any length. Begin with zeros; the owner frees `w`. */
typedef struct census_words {
  cawb_ptx_word *w;
  size_t n, room;
  int starved;                   /* out of memory: words are missing */
} census_words;

/*
** Read from behind the opening brace to behind the closing one, and call `one(data, w, n)` for each
** statement, its guard ("@!%p1") left out. Labels are no statements.
*/
void cawb_census_body(const char **at, census_words *room, void (*one)(void *, const cawb_ptx_word *, size_t),
                      void *data);

int cawb_census_mark(cawb_ptx_word w, char c);     /* is it this single mark? */

/* Neither a directive nor a mark nor a number. */
int cawb_census_name(cawb_ptx_word w);

/* Bits of ".b8" or ".f32", 0 for other words. */
size_t cawb_census_bits(cawb_ptx_word w);

/* What is declared in "[.align 4] .b8 name[256]": its name, of no size where there is none, and its bytes. */
cawb_ptx_word cawb_census_declared(const cawb_ptx_word *w, size_t n, size_t *bytes);

#endif

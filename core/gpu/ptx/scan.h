/*
** scan.h - PTX text as words and single marks, comments and strings skipped.
** A word is a run of letters, digits and _ $ % . :: ("ld.param.u64", "%rd1", ".entry",
** "ld.global.L2::128B.f32").
*/
#ifndef CAWB_PTX_SCAN_H
#define CAWB_PTX_SCAN_H

#include <stddef.h>

typedef struct cawb_ptx_word {
  const char *text;            /* into the scanned text; not NUL-terminated */
  size_t size;                 /* 0 at the end of the text */
} cawb_ptx_word;

/* The next word at or after `*at`, which moves behind it. */
cawb_ptx_word cawb_ptx_next(const char **at);

int cawb_ptx_is(cawb_ptx_word w, const char *text);         /* the same text */
int cawb_ptx_starts(cawb_ptx_word w, const char *prefix);

/* The decimal number that `w` is; 0 and `*number` untouched if it is none or too big. */
int cawb_ptx_number(cawb_ptx_word w, size_t *number);

#endif

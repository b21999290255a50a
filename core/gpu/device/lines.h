/*
** lines.h - samples counted by line of the source, and by reason.
** Zero-initialise, begin with the reasons, add, free. All texts are copied.
*/
#ifndef CAWB_DEVICE_LINES_H
#define CAWB_DEVICE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { CAWB_LINE_TRAFFIC = 5 };

typedef struct cawb_line {
  char *kernel, *file;         /* the kernel's full name; "" for an unknown file */
  unsigned number;             /* 0: unknown */
  uint64_t *samples;           /* one count for each reason */
  uint64_t traffic[CAWB_LINE_TRAFFIC];   /* requests to global memory, and their sectors; to shared memory, their wavefronts, and the */
                               /*   least that these could be; all 0 where nobody counts them */
} cawb_line;

typedef struct cawb_lines {
  char **reasons;
  size_t nreasons;
  cawb_line *list;             /* in the order in which they were first added */
  size_t count;
} cawb_lines;

/* Samples as they were taken; free the lines. */
typedef struct cawb_samples {
  cawb_lines lines;
  double total, other, dropped;  /* all; of code that is nobody's; lost on the way */
} cawb_samples;

cawb_status cawb_lines_begin(cawb_lines *l, const char *const *reasons, size_t n,
                             cawb_err *err);
cawb_status cawb_lines_add(cawb_lines *l, const char *kernel, const char *file,
                           unsigned number, size_t reason, uint64_t samples, cawb_err *err);
cawb_status cawb_lines_add_traffic(cawb_lines *l, const char *kernel, const char *file,
                                   unsigned number, const uint64_t *traffic, cawb_err *err);
void        cawb_lines_free(cawb_lines *l);             /* leaves it empty */

#endif

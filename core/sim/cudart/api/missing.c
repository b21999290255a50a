/* missing.c - calls that this runtime does not know end the program, and are named. */
#include <stdio.h>
#include <unistd.h>

#include "sim/cudart/cudart.h"
#include "sim/cudart/api/missing.h"
#include "sim/cudart/note.h"

enum { ENDED = 3 };                            /* the exit status */

static int missing(const char *name) {
  cawb_cudart *rt = cawb_cudart_enter();
  cawb_note_stop(rt, "call", name);
  if (rt->device != NULL) cawb_note_end(rt);
  fflush(NULL);                                /* what the program has printed is not lost */
  _exit(ENDED);
}

#define STANDS_FOR(name) CUDART(int, name, void) { return missing(#name); }
CAWB_CUDART_MISSING(STANDS_FOR)

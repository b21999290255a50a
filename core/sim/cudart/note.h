/*
** note.h - the report: what happened, for whoever started the program. One JSON object a line,
** appended to a file, each written whole at once:
**   {"event":"begin", "device", "model"}
**   {"event":"found", "kind", "text"}     a mistake of the program
**   {"event":"stop", "kind", "text"}      what this runtime or the device does not know
**   {"event":"kernel", "name", "mangled", "launches", sums of their counts and seconds, "bound"}
**   {"event":"end", "seconds"}            modelled, of all that was asked of the device
** The last two come when the program ends by itself. lua/cawb/sim/program.lua reads them.
*/
#ifndef CAWB_CUDART_NOTE_H
#define CAWB_CUDART_NOTE_H

#include "sim/cudart/cudart.h"

void cawb_note_open(cawb_cudart *rt, const char *path);     /* "": there is none */
void cawb_note_close(cawb_cudart *rt);

void cawb_note_begin(cawb_cudart *rt);
void cawb_note_end(cawb_cudart *rt);                        /* with a line for each kernel */

/* A mistake of the program; the same text is told once. `kind`: "race", "unwritten", "barrier", "fault", "launch",
** "call". `source`: what "kernel.cu" stands for in the text, or "". */
void cawb_note_found(cawb_cudart *rt, const char *kind, const char *text, const char *source);

/* Why it cannot go on here. `kind`: "call", "code", "device". */
void cawb_note_stop(cawb_cudart *rt, const char *kind, const char *text);

#endif

/*
** census.h - what is written in a module's PTX, counted: kinds of instructions, hints to
** caches, registers that tell time or place, calls, and who reads and writes which
** parameter and which variable of the module. Facts for rules; nothing is judged here.
**
** The counts are of the text, not of what is executed. Addresses are followed through
** registers without regard to order, so a parameter that may be written counts as
** written. Any text is accepted; what is no PTX counts as nothing.
*/
#ifndef CAWB_PTX_CENSUS_H
#define CAWB_PTX_CENSUS_H

#include <cjson/cJSON.h>

#include "base/err.h"

/*
** { "functions": { name: { "entry": bool, "plain": text, "instructions": n, "asm": n,
**     "params": [ { "reads", "writes", "atomics", "escapes" } ], and groups of counts:
**     "tensor" by type, "narrowed" by type, "arithmetic" by type, "approximate" by
**     operation, "flushed", "cache" by hint, "registers" by name, "calls" by name,
**     "stops", "atomics" by space, operation and type, "loads" and "stores" by space,
**     "order" by qualifier } },
**   "variables": { name: { "space", "bytes", "initialised", "reads", "writes", "atomics",
**     "escapes" } } }
** The caller deletes `*out`; it is NULL after a failure.
*/
cawb_status cawb_census_new(cJSON **out, const char *ptx, cawb_err *err);

#endif

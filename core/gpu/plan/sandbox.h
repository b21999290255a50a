/*
** sandbox.h - a sealed Lua state for text that is not trusted: plans, and rules, which read such text
** (door/bindings/sealed.c). It holds an allow-list of pure functions, counts instructions and bytes, loads text
** only, and has no way to catch its own errors. A count hook does not fire inside C functions: those
** that may take long there are charged for it (strings.h), and so is memory that is asked for. What is
** left is short, but a plan's process has a deadline, too.
*/
#ifndef CAWB_PLAN_SANDBOX_H
#define CAWB_PLAN_SANDBOX_H

#include <lua.h>
#include <stddef.h>

#include "base/err.h"

typedef struct cawb_sandbox cawb_sandbox;

typedef struct cawb_sandbox_limits {
  size_t memory;        /* bytes */
  long instructions;    /* Lua VM instructions for the whole life of the state */
  double seconds;       /* the same, by the clock; 0: no limit */
} cawb_sandbox_limits;

cawb_status cawb_sandbox_new(cawb_sandbox **out, const cawb_sandbox_limits *limits,
                             cawb_err *err);
void        cawb_sandbox_free(cawb_sandbox *s);

/*
** Protected call of a C function with one pointer argument: the only way to
** touch the state safely, since any push may raise for lack of memory.
*/
cawb_status cawb_sandbox_call(cawb_sandbox *s, lua_CFunction f, void *data, cawb_err *err);

/*
** Load and run `text` as chunk `name` ("plan.lua"). CAWB_ERR_CANDIDATE with the
** message and position when it fails or exceeds a limit; CAWB_ERR_INTERRUPTED on Ctrl-C.
*/
cawb_status cawb_sandbox_run(cawb_sandbox *s, const char *text, const char *name,
                             cawb_err *err);

#endif

/*
** strings.h - find, match, gmatch and gsub of Lua's string library on core/gpu/plan/pattern.h, for a
** sandbox: they take the place of the library's, whose time may grow as a power of the subject's
** length, and what they do is charged. Rules (door/bindings/sealed.c) search a candidate's text with them; a
** search of the library's own no hook can stop.
*/
#ifndef CAWB_PLAN_STRINGS_H
#define CAWB_PLAN_STRINGS_H

#include <lua.h>

/* What the state can still spend, in steps of a pattern, and that some were spent: it may raise. */
size_t cawb_sandbox_steps(lua_State *L);
void   cawb_sandbox_stepped(lua_State *L, size_t steps);

/* Into the table of string functions at the top. */
void cawb_strings_install(lua_State *L);

#endif

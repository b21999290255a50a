/*
** confined.h - `cawb --jail`: a process that enters a jail and becomes a program there.
** One request: {jail: a description as jail.h has it, dir, argv: [...], env: ["NAME=value",
** ...], memory: bytes of address space} -> {}, said from inside, just before the program
** takes over; its output is this process's. The judge starts it without an environment, so
** there is none to be found.
*/
#ifndef CAWB_JAIL_CONFINED_H
#define CAWB_JAIL_CONFINED_H

/* Serve the request on `fd`. Does not return when the program begins. */
int cawb_confined_main(int fd);

#endif

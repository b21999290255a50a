/*
** jail.h - a confinement for code that nobody trusts, entered by a process that was just
** forked and has one thread. With namespaces it has a root of its own with nothing in it
** but what the description names, sees no process but its own, has no network, and ends
** with all its descendants when its first process or the caller's does. Landlock, seccomp,
** resource limits and the loss of every privilege come on top of that, and are all there
** is where the kernel forbids namespaces.
*/
#ifndef CAWB_JAIL_JAIL_H
#define CAWB_JAIL_JAIL_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

enum { CAWB_JAIL_PATHS = 128, CAWB_JAIL_LIMITS = 8, CAWB_JAIL_NOBODY = 65534 };

/* The description, as read from lines of text; the strings lie in `text`. */
typedef struct cawb_jail {
  int namespaces;                          /* line "namespaces" */
  int names_threads;                       /* "threads": it may write to /proc of its own */
  int listens;                             /* "listen": to sockets of its own, without a network */
  const char *shown[CAWB_JAIL_PATHS];      /* "show PATH": to be read and executed */
  size_t nshown;
  const char *devices[CAWB_JAIL_PATHS];    /* "device PATH": to be read and written */
  size_t ndevices;
  const char *written[CAWB_JAIL_PATHS];    /* "write PATH": a folder to be written, and it stays */
  size_t nwritten;
  const char *folder;                      /* "folder PATH": to write to, without namespaces */
  unsigned long long disk;                 /* "disk BYTES" of /tmp and of /dev/shm */
  struct { int what; rlim_t most; } limits[CAWB_JAIL_LIMITS];   /* "limit memory 1000" */
  size_t nlimits;
  char *text;
} cawb_jail;

cawb_status cawb_jail_parse(cawb_jail *out, const char *text, cawb_err *err);
void        cawb_jail_free(cawb_jail *j);

/*
** Enter the jail that `text` describes. CAWB_OK is returned in the jailed process, which
** is a descendant of the caller where there are namespaces: the caller stays behind in
** here, ends as the jailed process does (128 + the signal's number when one killed it),
** and takes all that is left in the jail with it on SIGTERM. It is no way back: after a
** failure, which may be reported in either of them, the process must end.
*/
cawb_status cawb_jail_enter(const char *text, cawb_err *err);

/* What the kernel offers of Landlock: its ABI, 0 for none. */
int cawb_jail_landlock_abi(void);

/* The parts, in the order in which they are applied. */
cawb_status cawb_jail_give(const cawb_jail *j, uid_t owner, cawb_err *err);      /* write.c */
cawb_status cawb_jail_root(const cawb_jail *j, cawb_err *err);      /* root.c */
cawb_status cawb_jail_files(const cawb_jail *j, cawb_err *err);     /* landlock.c */
cawb_status cawb_jail_calls(const cawb_jail *j, cawb_err *err);     /* seccomp.c */

#endif

/*
** child.h - a process that answers requests: the task host, a worker, the
** compiler. It runs in its own process group with its socket on descriptor 3,
** its input empty and its output and error text kept for the judge to read.
** It is killed when the thread that started it ends, however that comes about:
** start it from one that outlives it. No other descriptor of the judge reaches it, and
** of its environment all but CAWB_SEED, which secrets follow from.
** Owned by one thread; cawb_child_free kills what is still alive and reaps it.
*/
#ifndef CAWB_PROCESS_CHILD_H
#define CAWB_PROCESS_CHILD_H

#include <sys/types.h>

#include "base/process/message.h"

typedef struct cawb_child cawb_child;

/*
** Start argv[0] (searched on PATH) in `dir` (NULL: here). CAWB_ERR_MISSING when
** the program cannot be executed. `label` names it in messages; both are copied.
** `memory` is the most address space in bytes, 0: no limit; not for a process that
** uses a GPU, and without effect under AddressSanitizer: both reserve terabytes.
** No core is dumped. A reply may have CAWB_MESSAGE_MAX bytes, or what cawb_child_limit says.
*/
cawb_status cawb_child_new(cawb_child **out, const char *label, char *const argv[],
                           const char *dir, size_t memory, cawb_err *err);
void        cawb_child_limit(cawb_child *c, size_t most);    /* bytes of a reply */
void        cawb_child_free(cawb_child *c);              /* NULL is a no-op */

/*
** Send a request and wait for its reply. On CAWB_ERR_TIMEOUT the child has been
** killed; on CAWB_ERR_DIED the message says how it ended and quotes the end of
** what it printed. After either it answers nothing more: free it.
*/
cawb_status cawb_child_call(cawb_child *c, const cJSON *request, const int *fds,
                            size_t nfds, double timeout, cawb_message *reply,
                            cawb_err *err);

/*
** The same in two halves, so that one thread can wait for several things: send, then
** receive once cawb_child_ready says that something is there (or when the time is up).
** Nothing else may be sent between the two. `timeout` of receive is the whole call's, for
** its message; `left` what is left of it, in seconds.
*/
cawb_status cawb_child_send(cawb_child *c, const cJSON *request, const int *fds, size_t nfds,
                            double timeout, cawb_err *err);
cawb_status cawb_child_receive(cawb_child *c, double timeout, double left, cawb_message *reply,
                               cawb_err *err);
int   cawb_child_ready(const cawb_child *c);             /* a reply, or its end */
int   cawb_child_unasked(const cawb_child *c);           /* bytes of a reply, where none is due */
int   cawb_child_fd(const cawb_child *c);                /* to be polled; borrowed */

void  cawb_child_kill(cawb_child *c);                    /* now, with its group */
int   cawb_child_alive(cawb_child *c);                   /* if it ended, reaps it */
int   cawb_child_status(const cawb_child *c);            /* once it ended: 128 + a signal's number */
pid_t cawb_child_pid(const cawb_child *c);               /* 0 once it was reaped */

/*
** The last `size` - 1 bytes (up to 64 KiB) that it printed, as UTF-8, into `out`. Of
** what it prints during one call the first CAWB_CHILD_OUTPUT bytes are kept, less a
** few: what it writes beyond them fails, and the text ends with a line that says so.
*/
enum { CAWB_CHILD_OUTPUT = 4 << 20 };
void  cawb_child_output(const cawb_child *c, char *out, size_t size);

/* How many bytes that was, and up to `size` - 1 of them from `at` on, as UTF-8, into `out`. */
size_t cawb_child_printed(const cawb_child *c);
void   cawb_child_piece(const cawb_child *c, size_t at, char *out, size_t size);

#endif

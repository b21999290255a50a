/*
** worker.h - the disposable process that owns a device and executes candidates.
** It is told what to run and on which memory, and knows no expected value.
**
** Its requests and replies, field by field, are core/base/protocol/worker.json. run, time and profile
** start every call from poisoned outputs and scratch and from prepare, and copy outputs and
** inputs back, so that the judge sees what was written to; with params_share, the parameters too.
** A failure of the candidate has the name "candidate"; "lost":true says that the
** device is gone with it and that this process should be replaced.
*/
#ifndef CAWB_WORKER_WORKER_H
#define CAWB_WORKER_WORKER_H

/* Serve on the descriptor `fd` until it is closed. Returns the exit status. */
int cawb_worker_main(int fd);

#endif

/*
** queue.h - what clients ask, between the threads of their connections and the one thread that
** answers. A connection's thread puts a request in and waits; the answering thread is told by a
** descriptor, takes requests in their order, and answers each when it likes.
** Safe for any number of threads; requests are counted, so that either side may be the last.
*/
#ifndef CAWB_SERVE_QUEUE_H
#define CAWB_SERVE_QUEUE_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

typedef enum cawb_asked_kind {
  CAWB_ASKED_HTTP,      /* one request of HTTP */
  CAWB_ASKED_OPEN,      /* may a WebSocket be opened? 200 says yes */
  CAWB_ASKED_MESSAGE,   /* a whole message on one; the answer's body is sent back, if there is one */
  CAWB_ASKED_CLOSED     /* it is gone: nobody waits for an answer */
} cawb_asked_kind;

typedef struct cawb_asked {
  cawb_asked_kind kind;
  uint64_t connection;        /* of a WebSocket: a number that none had before; 0 for HTTP */
  char *method, *path, *query, *remote;           /* owned; query may be "" */
  cawb_bytes headers;         /* "name: value\n", names in lower case, no authorization */
  cawb_bytes body;
  int status;                 /* the answer, from here on: a status of HTTP; 0 while there is none */
  int last;                   /* of a WebSocket: it is closed after this */
  cawb_bytes type, extra, answer;                 /* content type, further header lines, body */
  void (*answered)(struct cawb_asked *a);         /* of one that is not waited for: called by the thread that answers, */
  void *asker;                                    /*   with the queue locked; for whom it is */
} cawb_asked;

typedef struct cawb_queue cawb_queue;

/* `most`: requests that may wait to be taken. */
cawb_status cawb_queue_new(cawb_queue **out, size_t most, cawb_err *err);
void        cawb_queue_free(cawb_queue *q);       /* NULL is a no-op; nobody may use it any more */
int         cawb_queue_fd(const cawb_queue *q);   /* readable while something waits; borrowed */

/* ---- a connection's side */

/* A request with nothing in it but its kind; NULL: no memory. To be dropped. */
cawb_asked *cawb_asked_new(cawb_asked_kind kind);

/* Put it in and wait for its answer: 0. Else the status to refuse it with: 503, there are too many, or
** the queue is closed. One of the kind CLOSED is put in and not waited for. */
int  cawb_queue_ask(cawb_queue *q, cawb_asked *a);
/* Put it in and go on: its `answered` is called once there is an answer. As cawb_queue_ask. */
int  cawb_queue_put(cawb_queue *q, cawb_asked *a);

/* One more that has to drop it. */
void cawb_asked_keep(cawb_asked *a);

/* From now on `answered` is not called any more, nor being called. */
void cawb_queue_forget(cawb_queue *q, cawb_asked *a);
void cawb_asked_drop(cawb_asked *a);              /* NULL is a no-op */

/* ---- the answering side */

cawb_asked *cawb_queue_take(cawb_queue *q);       /* NULL: nothing waits. To be answered and dropped */

/* Fill status, last, type, extra and answer before: then it is the connection's again. */
void cawb_queue_answer(cawb_queue *q, cawb_asked *a, int status);

/* From now on nobody is let in, and who waits is answered 503. */
void cawb_queue_close(cawb_queue *q);

#endif

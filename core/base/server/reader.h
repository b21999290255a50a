/*
** reader.h - one thread that reads all WebSockets, between their handshakes, which are civetweb's affair, and their ends.
** A message goes into the queue, and whoever answers it writes to the socket himself: between a client and the one thread
** that answers there is one other, however many clients there are.
**
** Locks are taken in this order: the reader's, the queue's, a line's.
*/
#ifndef CAWB_SERVE_READER_H
#define CAWB_SERVE_READER_H

#include "base/server/connection.h"
#include "base/server/frames.h"

#include <pthread.h>

typedef struct cawb_line {
  cawb_server *server;
  uint64_t number;
  int fd;                     /* the connection's socket; borrowed */
  cawb_frames frames;         /* the reader's own, as are the next two */
  cawb_bytes in;              /* what came, and is no whole frame yet */
  struct cawb_line *next, *before;
  pthread_mutex_t lock;       /* of all below */
  pthread_cond_t changed;
  double heard;               /* when something came last, or was said */
  cawb_asked *asked;          /* the message that is not answered yet */
  int held;                   /* another is whole already, and waits */
  cawb_bytes out;             /* what the socket had no room for, */
  size_t sent;                /*   but for so many bytes */
  unsigned watched;           /* for what, by epoll */
  int closing, gone;          /* nothing more is read; nothing more is written, either */
  int over;                   /* the reader has let go of it */
} cawb_line;

/* Start the thread; a line that is silent for so many seconds ends. */
cawb_status cawb_reader_new(cawb_reader **out, double silence, cawb_err *err);

/* Read this line until it is over: called in the thread of its connection. */
void cawb_reader_serve(cawb_reader *r, cawb_line *l);

/* End all lines, with a word to those that wait for an answer, and the thread. The queue is closed. */
void cawb_reader_stop(cawb_reader *r);
void cawb_reader_free(cawb_reader *r);            /* once it has stopped and no connection is left; NULL is a no-op */

#endif

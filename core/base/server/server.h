/*
** server.h - a server of HTTP and WebSockets. Its threads, one for each connection, read a request
** whole, refuse what may not come in, put the rest into a queue and write the answer back.
**
** Refused before anybody is asked: bodies and messages beyond the limit (413, close 1009), requests
** without the token where there is one (401), and requests of a web page, or by a foreign name, where
** there is none (403): a page that somebody has open must not drive a server on his machine. A server with a page of its own
** lets that page ask: its Origin is the name by which the server was asked. GET / is the page: anybody has it, without a token.
** A server with guests is asked by other machines too, by any name of this one; pages of others stay refused.
*/
#ifndef CAWB_SERVE_SERVER_H
#define CAWB_SERVE_SERVER_H

#include "base/server/queue.h"

typedef struct cawb_server cawb_server;

typedef struct cawb_server_options {
  const char *host;           /* an address to listen on, such as "127.0.0.1" */
  int port;                   /* 0: a free one */
  const char *token;          /* what clients must send as "Authorization: Bearer TOKEN"; NULL: nothing */
  int page;                   /* it has a page of its own */
  int guests;                 /* other machines may ask without a token, by any name of this one */
  int threads;                /* connections at once */
  size_t body;                /* bytes of a body, and of a message */
  double idle, session;       /* seconds that a connection may be silent: within a request; as a WebSocket */
} cawb_server_options;

/* Listen. CAWB_ERR_IO: the address is taken, or none of this machine's. */
cawb_status cawb_server_open(cawb_server **out, const cawb_server_options *o, cawb_err *err);
int         cawb_server_port(const cawb_server *s);
cawb_queue *cawb_server_queue(cawb_server *s);    /* borrowed */

/* Let nobody in, answer 503 to those who wait, end the threads. Its queue stays. */
void cawb_server_stop(cawb_server *s);
void cawb_server_free(cawb_server *s);            /* stops it too; NULL is a no-op */

/* Whether two texts are the same, in a time that tells nothing of where they differ. */
int cawb_server_same(const char *a, const char *b);

#endif

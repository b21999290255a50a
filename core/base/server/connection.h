/*
** connection.h - what server.c and lines.c share: a server, and what both do with a connection of it.
*/
#ifndef CAWB_SERVE_CONNECTION_H
#define CAWB_SERVE_CONNECTION_H

#include <civetweb.h>
#include <stdatomic.h>

#include "base/server/server.h"

typedef struct cawb_reader cawb_reader;

struct cawb_server {
  struct mg_context *context;
  cawb_queue *queue;
  cawb_reader *reader;        /* of WebSockets */
  char *token;
  int page, guests;
  size_t body;
  double idle;                /* seconds that a read may take */
  int port;
  atomic_uint_fast64_t connections;
  atomic_int busy;            /* threads between a request and the end of its answer */
};

/* 0, or the status to refuse a connection with. */
int cawb_server_refusal(const cawb_server *s, const struct mg_connection *c);

/* Why, in words. */
const char *cawb_server_reason(int status);

/* Tell a client that nothing is done for it; returns the status. */
int cawb_server_refuse(struct mg_connection *c, int status);

/* What is known of a request before its body; the caller drops it. NULL: no memory. */
cawb_asked *cawb_server_describe(const struct mg_connection *c, cawb_asked_kind kind, uint64_t number);

#endif

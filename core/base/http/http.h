/*
** http.h - many HTTP requests at once, in one thread, through libcurl's multi interface.
** libcurl is opened at run time; this is the only noun that knows it. Certificates are
** verified, redirects are not followed (they would carry a key elsewhere). Times in
** seconds, sizes in bytes. Deadlines but the one for connecting are the caller's: it
** closes the transfer.
*/
#ifndef CAWB_NET_HTTP_H
#define CAWB_NET_HTTP_H

#include <stddef.h>

#include "base/err.h"

typedef struct cawb_http cawb_http;
typedef struct cawb_transfer cawb_transfer;

/* How a transfer ended. */
typedef enum cawb_ending {
  CAWB_RUNNING = 0,
  CAWB_ENDED,                /* a whole reply, whatever its status */
  CAWB_END_RESOLVE,          /* no such host */
  CAWB_END_CONNECT,          /* refused, unreachable */
  CAWB_END_CONNECT_TIMEOUT,
  CAWB_END_TLS,              /* the certificate or the handshake */
  CAWB_END_CUT,              /* the connection ended before the reply did */
  CAWB_END_TOO_LARGE,        /* more than `limit` bytes */
  CAWB_END_MALFORMED,        /* what came is no HTTP */
  CAWB_END_FAILED,           /* anything else; the message says what */
  CAWB_ENDINGS
} cawb_ending;

const char *cawb_ending_name(cawb_ending e);   /* "running", "ended", "resolve", ... */

typedef struct cawb_http_request {
  const char *url;                   /* http:// or https:// */
  const char *const *headers;        /* "name: value", NULL at the end; NULL: none */
  const char *body;                  /* POST; NULL: GET */
  size_t size;                       /* of the body */
  double connect;                    /* seconds to connect in, name and TLS included */
  size_t limit;                      /* most bytes of a reply */
  const char *ca;                    /* a file of certificates to trust; NULL: the system's */
} cawb_http_request;                 /* everything is copied */

/* CAWB_ERR_MISSING where there is no libcurl. */
cawb_status cawb_http_open(cawb_http **out, cawb_err *err);
void        cawb_http_close(cawb_http *h);     /* ends what is running; NULL is a no-op */
const char *cawb_http_version(const cawb_http *h);

/* A new transfer, owned by the caller. It moves in cawb_http_wait only. */
cawb_status cawb_http_start(cawb_http *h, const cawb_http_request *r, cawb_transfer **out,
                            cawb_err *err);

/*
** Move every transfer, and wait up to `seconds` for one to get on, or for one of `fds` to
** be readable. CAWB_ERR_INTERRUPTED on Ctrl-C.
*/
cawb_status cawb_http_wait(cawb_http *h, const int *fds, size_t nfds, double seconds, cawb_err *err);

cawb_ending cawb_transfer_ending(const cawb_transfer *t);
const char *cawb_transfer_message(const cawb_transfer *t);  /* "" or libcurl's words */
long        cawb_transfer_status(const cawb_transfer *t);   /* 200, ...; 0: not known yet */

/* The value of a reply's header into `out`; 0 where there is none. */
int         cawb_transfer_header(const cawb_transfer *t, const char *name, char *out, size_t room);

/* What came since the last call; borrowed until the next wait. */
const char *cawb_transfer_take(cawb_transfer *t, size_t *size);
void        cawb_transfer_close(cawb_transfer *t);          /* NULL is a no-op */

#endif

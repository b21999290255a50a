/*
** sse.h - server-sent events, as endpoints stream their replies: lines "event: NAME" and
** "data: TEXT", an empty line ends an event. Bytes may come in any portions; lines end
** with LF, CR or both. Zero-initialise it, set `limit`, feed it, free it.
*/
#ifndef CAWB_NET_SSE_H
#define CAWB_NET_SSE_H

#include "base/bytes.h"

typedef struct cawb_sse {
  cawb_bytes event, data;   /* of the event that is ready, else what there is so far */
  cawb_bytes line;
  size_t limit;             /* most bytes of one event */
  int began, after_cr, has_data, ready;
  int failed;               /* an event beyond the limit, or no memory: feeds take nothing more */
} cawb_sse;

/*
** Take bytes up to the end of the next event: returns how many. If `ready` is set then,
** `event` ("" where none was named) and `data` are whole; the next feed forgets them.
*/
size_t cawb_sse_feed(cawb_sse *s, const char *bytes, size_t size);

/* Whether an event has begun that is not complete. */
int  cawb_sse_pending(const cawb_sse *s);
void cawb_sse_free(cawb_sse *s);

#endif

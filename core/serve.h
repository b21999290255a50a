/*
** serve.h - the loop of a process that answers requests: receive, handle, reply,
** until the judge closes its end.
*/
#ifndef CAWB_SERVE_H
#define CAWB_SERVE_H

#include "message.h"

/*
** Handle one request and fill `reply` (an empty object). The descriptors in `m`
** are closed after the call. A status other than CAWB_OK becomes
** {"ok":false,"name":...,"message":...} on top of what `reply` holds.
*/
typedef cawb_status (*cawb_handler)(void *ctx, const cawb_message *m, cJSON *reply,
                                    cawb_err *err);

/* Serve on `fd`. Returns the process's exit status. */
int cawb_serve(int fd, cawb_handler handle, void *ctx);

/* Fields of a request: the value, or NULL / the fallback where it is absent. */
const char *cawb_request_text(const cJSON *request, const char *key);
double      cawb_request_number(const cJSON *request, const char *key, double fallback);

#endif

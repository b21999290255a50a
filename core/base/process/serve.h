/*
** serve.h - the loop of a process that answers requests: receive, handle, reply,
** until the judge closes its end.
*/
#ifndef CAWB_PROCESS_SERVE_H
#define CAWB_PROCESS_SERVE_H

#include <stdint.h>

#include "base/process/message.h"

/*
** Handle one request and fill `reply` (an empty object). The descriptors in `m`
** are closed after the call. A status other than CAWB_OK becomes
** {"ok":false,"name":...,"message":...} on top of what `reply` holds. The number `call` of a
** request comes back in its reply.
*/
typedef cawb_status (*cawb_handler)(void *ctx, const cawb_message *m, cJSON *reply,
                                    cawb_err *err);

/* Serve on `fd`. Returns the process's exit status. */
int cawb_serve(int fd, cawb_handler handle, void *ctx);

/* A field of a request, or NULL where it is absent or no text. */
const char *cawb_request_text(const cJSON *request, const char *key);

/*
** A field that counts something: a whole number from 0 to `most`, which is at most
** 2^53. `*out` is left as it is where the field is absent; CAWB_ERR_INVALID for
** anything else.
*/
cawb_status cawb_request_count(uint64_t *out, const cJSON *request, const char *key,
                               uint64_t most, cawb_err *err);

#endif

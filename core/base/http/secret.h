/*
** secret.h - keys of endpoints. They are taken out of the environment at the start, so
** that no child process inherits one and no script reads one; what is sent is made from
** them in C, and what is shown or stored can be cleared of them.
*/
#ifndef CAWB_NET_SECRET_H
#define CAWB_NET_SECRET_H

#include "base/bytes.h"
#include "base/err.h"

typedef struct cawb_secrets cawb_secrets;

/* Takes every variable whose name ends with _API_KEY, _API_TOKEN or _AUTH_TOKEN. Its
** value is overwritten where it was, so /proc/PID/environ has it no more. */
cawb_status cawb_secrets_new(cawb_secrets **out, cawb_err *err);
void        cawb_secrets_free(cawb_secrets *s);       /* overwrites them; NULL is a no-op */

/* The value of a variable, taken out of the environment if it still is there; NULL where
** there is none. Borrowed until the secrets are freed. */
const char *cawb_secrets_env(cawb_secrets *s, const char *name);

/* The first line of a file. NULL and `err`: CAWB_ERR_MISSING, CAWB_ERR_INVALID. */
const char *cawb_secrets_file(cawb_secrets *s, const char *path, cawb_err *err);

/* Append `text` to `out` with every secret of at least 8 bytes in it as "[key]". */
void cawb_secrets_redact(const cawb_secrets *s, const char *text, size_t size, cawb_bytes *out);

#endif

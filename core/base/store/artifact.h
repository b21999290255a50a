/*
** artifact.h - files named by the SHA-256 of what they hold: ROOT/ab/cdef...
** A file appears whole or not at all (written aside, synced, renamed), so any
** number of processes may write one folder. Nothing is ever changed or removed.
*/
#ifndef CAWB_RECORD_ARTIFACT_H
#define CAWB_RECORD_ARTIFACT_H

#include <stddef.h>

#include "base/err.h"

/* Keep `data`; its name goes to `hex` (64 digits and a NUL). */
cawb_status cawb_artifact_write(const char *root, const void *data, size_t size,
                                char hex[65], cawb_err *err);

/* The bytes called `hex`, checked against their name. The caller frees
** `*data`, which has a NUL behind its `*size` bytes. */
cawb_status cawb_artifact_read(const char *root, const char *hex, void **data,
                               size_t *size, cawb_err *err);

/* Where `hex` is or would be. `out` holds `room` bytes. */
cawb_status cawb_artifact_path(char *out, size_t room, const char *root,
                               const char *hex, cawb_err *err);

#endif

/*
** pch.h - precompiled headers for one process. NVRTC's own automatic ones are
** named after the whole preprocessor prefix, #defines included, and are kept for
** ever (100 MB for cooperative_groups.h); these are named after the headers and
** the options alone, bounded in size, and have no name on disk once made, so that
** nothing is left behind however the process ends.
*/
#ifndef CAWB_COMPILE_PCH_H
#define CAWB_COMPILE_PCH_H

#include <stddef.h>

#include "base/bytes.h"
#include "gpu/compile/nvrtc.h"

typedef struct cawb_pch cawb_pch;

/* `folder` takes at most `most` bytes of disk while this is open. */
cawb_status cawb_pch_open(cawb_pch **out, const char *folder, size_t most, cawb_err *err);
void        cawb_pch_close(cawb_pch *p);                    /* NULL is a no-op */

/*
** The path for --use-pch= of `headers` (lines of #include) compiled with `options`,
** made now if it is new. NULL where there is none: compile without. Valid until the
** next call. A source that uses it starts with cawb_pch_prefix, then anything.
*/
const char *cawb_pch_find(cawb_pch *p, cawb_nvrtc *n, const char *headers,
                          const char *const *options, int count);
void        cawb_pch_prefix(cawb_bytes *out, const char *headers);

/* NVRTC would not take the one found last: forget it, and do not make it again. */
void cawb_pch_refuse(cawb_pch *p);

#endif

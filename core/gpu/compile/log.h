/* log.h - NVRTC's log, made fit to be shown to an agent and kept. */
#ifndef CAWB_COMPILE_LOG_H
#define CAWB_COMPILE_LOG_H

#include <stddef.h>

/* Remove ptxas' timings (they differ from run to run) and, beyond `most` bytes,
** the middle; make it UTF-8. In place. */
void cawb_compile_log_tidy(char *log, size_t most);

/* The first line that reports an error, copied to `out`; 0 if there is none. */
int cawb_compile_log_error(const char *log, char *out, size_t room);

/* The first kernel that uses more than `most` bytes of static shared memory, its
** mangled name copied to `out`: how many bytes; 0 if there is none. */
size_t cawb_compile_log_shared(const char *log, size_t most, char *out, size_t room);

#endif

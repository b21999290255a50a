/*
** source_check.h - what CUDA source may reach with its preprocessor.
**
** NVRTC opens any path that #include names and prints lines of what it opened in
** its log, so only names inside the toolkit's header folders may pass: literal,
** relative, without "..". Everything else is the candidate's failure.
*/
#ifndef CAWB_COMPILE_SOURCE_CHECK_H
#define CAWB_COMPILE_SOURCE_CHECK_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/err.h"

/* The #include lines at the top, before any other directive or declaration. */
typedef struct cawb_source_head {
  size_t size;                 /* bytes up to and with the last of them; 0: there are none */
  unsigned line;               /* the number of the line behind them, from 1 */
  cawb_bytes headers;          /* "#include <a>\n#include <b>\n", nothing else */
  int includes;                /* #include lines in the whole source */
} cawb_source_head;

/*
** `source` is NUL-terminated and changed in place: #include "x" becomes
** #include <x>, for there is no folder that quotes could mean. CAWB_ERR_CANDIDATE
** names the line and what to write instead. Free `head` in every case.
*/
cawb_status cawb_source_check(char *source, cawb_source_head *head, cawb_err *err);
void        cawb_source_head_free(cawb_source_head *head);

/* 1 if it is nothing but white space and comments: a plan may call libraries only. */
int         cawb_source_is_blank(const char *source);

#endif

/* err.c - see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *cawb_status_name(cawb_status code) {
  static const char *const names[] = {
    "ok", "candidate", "invalid", "missing", "unsupported", "memory",
    "io", "timeout", "died", "interrupted", "device", "protocol"
  };
  size_t i = (size_t)code;
  return i < sizeof names / sizeof *names ? names[i] : "unknown";
}

static void format(cawb_err *err, cawb_status code, const char *fmt, va_list ap) {
  if (err == NULL) return;
  err->code = code;
  vsnprintf(err->msg, sizeof err->msg, fmt, ap);    /* NOLINT: its callers have begun it */
  cawb_utf8_clean(err->msg);      /* it may quote a candidate, or be cut short */
}

cawb_status cawb_fail(cawb_err *err, cawb_status code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  format(err, code, fmt, ap);
  va_end(ap);
  return code;
}

cawb_status cawb_fail_errno(cawb_err *err, cawb_status code, const char *fmt, ...) {
  int saved = errno;  /* vsnprintf may change it */
  va_list ap;
  va_start(ap, fmt);
  format(err, code, fmt, ap);
  va_end(ap);
  if (err != NULL) {
    size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, ": %s", strerror(saved));
  }
  return code;
}

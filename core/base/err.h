/*
** err.h - how a C function says what went wrong.
** A fallible function returns a cawb_status and fills the caller's cawb_err;
** on CAWB_OK the cawb_err is left as it was. No global state, no printing.
*/
#ifndef CAWB_BASE_ERR_H
#define CAWB_BASE_ERR_H

typedef enum cawb_status {
  CAWB_OK = 0,
  CAWB_ERR_CANDIDATE,    /* the candidate is at fault: data, not an error */
  CAWB_ERR_INVALID,      /* a request or a file is malformed */
  CAWB_ERR_MISSING,      /* the machine lacks something: library, device, file */
  CAWB_ERR_UNSUPPORTED,  /* this device or build cannot do that */
  CAWB_ERR_MEMORY,       /* out of memory, host or device */
  CAWB_ERR_IO,           /* the operating system refused */
  CAWB_ERR_TIMEOUT,      /* a deadline passed */
  CAWB_ERR_DIED,         /* the process at the other end is gone */
  CAWB_ERR_INTERRUPTED,  /* the user asked to stop */
  CAWB_ERR_DEVICE,       /* the device or its driver failed, nobody's fault */
  CAWB_ERR_PROTOCOL      /* what came from another process is no message of its protocol */
} cawb_status;

typedef struct cawb_err {
  cawb_status code;
  char msg[1024];        /* one line of UTF-8, no newline at its end */
} cawb_err;

/* The stable name that Lua code branches on: "candidate", "missing", ... */
const char *cawb_status_name(cawb_status code);

/* Fill `err` (which may be NULL) from a printf format and return `code`. */
__attribute__((format(printf, 3, 4)))
cawb_status cawb_fail(cawb_err *err, cawb_status code, const char *fmt, ...);

/* Like cawb_fail, with ": " and the text of the current errno behind it. */
__attribute__((format(printf, 3, 4)))
cawb_status cawb_fail_errno(cawb_err *err, cawb_status code, const char *fmt, ...);

#endif

/*
** message.h - one JSON object and the file descriptors that go with it, over a
** stream socket: 4 bytes of length, little-endian, then the text. Descriptors
** travel as ancillary data on the length bytes.
*/
#ifndef CAWB_PROCESS_MESSAGE_H
#define CAWB_PROCESS_MESSAGE_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "base/err.h"

enum { CAWB_MESSAGE_FDS = 8 };               /* most descriptors in one message */
#define CAWB_MESSAGE_MAX ((size_t)64 << 20)  /* most bytes of text */
enum { CAWB_MESSAGE_DEPTH = 64, CAWB_MESSAGE_VALUE = 8 };
#define CAWB_FOREVER 1e18                    /* a deadline that never passes */

typedef struct cawb_message {
  cJSON *json;                    /* owned */
  int fds[CAWB_MESSAGE_FDS];      /* owned: the receiver closes them */
  size_t nfds;
} cawb_message;

/*
** `deadline` is a time of cawb_clock_now. CAWB_ERR_TIMEOUT when it passes,
** CAWB_ERR_DIED when the other end is closed, CAWB_ERR_INTERRUPTED on Ctrl-C,
** CAWB_ERR_INVALID for text to send that is too long, CAWB_ERR_PROTOCOL for text received that
** is longer than `most` bytes, is no JSON object, or holds too many values or too deep
** ones: at most one for every CAWB_MESSAGE_VALUE of the bytes that there may be.
*/
cawb_status cawb_message_send(int fd, const cJSON *json, const int *fds, size_t nfds,
                              double deadline, cawb_err *err);
cawb_status cawb_message_receive(int fd, cawb_message *out, size_t most, double deadline,
                                 cawb_err *err);
void        cawb_message_free(cawb_message *m);   /* closes what it still holds */

#endif

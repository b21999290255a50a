/* message.c - see message.h. Sockets are used without blocking, behind poll. */
#include "base/process/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process/interrupt.h"

typedef union fd_room {           /* a buffer aligned as the kernel wants it */
  struct cmsghdr head;
  char bytes[CMSG_SPACE(CAWB_MESSAGE_FDS * sizeof(int))];
} fd_room;

static cawb_status await(int fd, short events, double deadline, cawb_err *err) {
  for (;;) {
    if (cawb_interrupted()) return cawb_fail(err, CAWB_ERR_INTERRUPTED, "interrupted");
    struct pollfd p = { .fd = fd, .events = events };
    int n = poll(&p, 1, cawb_clock_left_ms(deadline));
    if (n > 0) return CAWB_OK;
    if (n == 0) return cawb_fail(err, CAWB_ERR_TIMEOUT, "no answer before the deadline");
    if (errno != EINTR) return cawb_fail_errno(err, CAWB_ERR_IO, "poll");
  }
}

static int would_block(void) { return errno == EAGAIN || errno == EINTR; }

static void attach_fds(struct msghdr *h, fd_room *room, const int *fds, size_t nfds) {
  size_t size = nfds * sizeof(int);
  memset(room, 0, sizeof *room);
  h->msg_control = room->bytes;
  h->msg_controllen = CMSG_SPACE(size);
  struct cmsghdr *c = CMSG_FIRSTHDR(h);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(c), fds, size);
}

static cawb_status send_all(int fd, const char *data, size_t size, const int *fds,
                            size_t nfds, double deadline, cawb_err *err) {
  while (size > 0) {
    cawb_status rc = await(fd, POLLOUT, deadline, err);
    if (rc != CAWB_OK) return rc;
    struct iovec v = { .iov_base = (void *)data, .iov_len = size };
    struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
    fd_room room;
    if (nfds > 0) attach_fds(&h, &room, fds, nfds);
    ssize_t n = sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && would_block()) continue;
    if (n < 0) return cawb_fail(err, CAWB_ERR_DIED, "the other end closed its socket");
    data += n;
    size -= (size_t)n;
    nfds = 0;                     /* they went with the first bytes */
  }
  return CAWB_OK;
}

cawb_status cawb_message_send(int fd, const cJSON *json, const int *fds, size_t nfds,
                              double deadline, cawb_err *err) {
  if (nfds > CAWB_MESSAGE_FDS)
    return cawb_fail(err, CAWB_ERR_INVALID, "%zu descriptors in a message, at most %d",
                     nfds, CAWB_MESSAGE_FDS);
  char *text = cJSON_PrintUnformatted(json);
  if (text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a message");
  size_t size = strlen(text);
  cawb_status rc;
  if (size > CAWB_MESSAGE_MAX) {
    rc = cawb_fail(err, CAWB_ERR_INVALID, "a message of %zu bytes, at most %zu",
                   size, CAWB_MESSAGE_MAX);
  } else {
    unsigned char head[4] = { (unsigned char)size, (unsigned char)(size >> 8),
                              (unsigned char)(size >> 16), (unsigned char)(size >> 24) };
    rc = send_all(fd, (const char *)head, sizeof head, fds, nfds, deadline, err);
    if (rc == CAWB_OK) rc = send_all(fd, text, size, NULL, 0, deadline, err);
  }
  cJSON_free(text);
  return rc;
}

/* Move what came with some bytes into the message, which then owns it. */
static cawb_status take_fds(struct msghdr *h, cawb_message *m, cawb_err *err) {
  int excess = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (m->nfds < CAWB_MESSAGE_FDS) m->fds[m->nfds++] = fd;
      else excess = 1, close(fd);
    }
  }
  if (excess || (h->msg_flags & MSG_CTRUNC))     /* the kernel closed what had no room */
    return cawb_fail(err, CAWB_ERR_IO, "descriptors of a message were lost: it has more than "
                     "%d, or this process has too many files open", CAWB_MESSAGE_FDS);
  return CAWB_OK;
}

static cawb_status receive_all(int fd, char *data, size_t size, cawb_message *m,
                               double deadline, cawb_err *err) {
  while (size > 0) {
    cawb_status rc = await(fd, POLLIN, deadline, err);
    if (rc != CAWB_OK) return rc;
    fd_room room;
    struct iovec v = { .iov_base = data, .iov_len = size };
    struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room.bytes,
                        .msg_controllen = sizeof room.bytes };
    ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && would_block()) continue;
    if (n <= 0) return cawb_fail(err, CAWB_ERR_DIED, "the other end closed its socket");
    rc = take_fds(&h, m, err);
    if (rc != CAWB_OK) return rc;
    data += n;
    size -= (size_t)n;
  }
  return CAWB_OK;
}

static cawb_status receive_text(int fd, char **out, size_t *length, size_t most, cawb_message *m,
                                double deadline, cawb_err *err) {
  unsigned char head[4];
  cawb_status rc = receive_all(fd, (char *)head, sizeof head, m, deadline, err);
  if (rc != CAWB_OK) return rc;
  size_t size = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
                (size_t)head[3] << 24;
  if (size > most)
    return cawb_fail(err, CAWB_ERR_PROTOCOL, "a message of %zu bytes, at most %zu", size, most);
  char *text = malloc(size + 1);
  if (text == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a message");
  rc = receive_all(fd, text, size, m, deadline, err);
  if (rc != CAWB_OK) { free(text); return rc; }
  text[size] = '\0';
  *out = text;
  *length = size;
  return CAWB_OK;
}

/* Behind a quote: the end of the string, or of the text. */
static const char *skip_string(const char *s) {
  for (; *s != '\0' && *s != '"'; s++)
    if (*s == '\\' && s[1] != '\0') s++;
  return s;
}

/* Ahead of parsing, which takes memory and stack: how deep, and how many values. */
static cawb_status check_size(const char *text, size_t most, cawb_err *err) {
  size_t values = 0, depth = 0;
  for (const char *s = text; *s != '\0'; s++) {
    if (*s == '"') s = skip_string(s + 1);
    if (*s == '\0') break;
    if (*s == '[' || *s == '{') depth++;
    if ((*s == ']' || *s == '}') && depth > 0) depth--;
    values += *s == ',' || *s == '[' || *s == '{';
    if (depth > CAWB_MESSAGE_DEPTH)
      return cawb_fail(err, CAWB_ERR_PROTOCOL, "a message nested more than %d deep", CAWB_MESSAGE_DEPTH);
  }
  if (values <= most / CAWB_MESSAGE_VALUE) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_PROTOCOL, "a message of more than %zu values", most / CAWB_MESSAGE_VALUE);
}

static cawb_status parse(cJSON **out, const char *text, size_t size, size_t most, cawb_err *err) {
  const char *end = NULL;
  cawb_status rc = check_size(text, most, err);
  if (rc != CAWB_OK) return rc;
  *out = strlen(text) == size ? cJSON_ParseWithLengthOpts(text, size + 1, &end, 1) : NULL;
  if (cJSON_IsObject(*out) && end == text + size) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_PROTOCOL, "a message that is no JSON object: %.80s", text);
}

cawb_status cawb_message_receive(int fd, cawb_message *out, size_t most, double deadline,
                                 cawb_err *err) {
  char *text = NULL;
  size_t size = 0;
  memset(out, 0, sizeof *out);
  cawb_status rc = receive_text(fd, &text, &size, most, out, deadline, err);
  if (rc == CAWB_OK) rc = parse(&out->json, text, size, most, err);
  free(text);
  if (rc != CAWB_OK) cawb_message_free(out);
  return rc;
}

void cawb_message_free(cawb_message *m) {
  for (size_t i = 0; i < m->nfds; i++)
    if (m->fds[i] >= 0) close(m->fds[i]);
  cJSON_Delete(m->json);
  memset(m, 0, sizeof *m);
}

/*
** fuzz_message.c - a stream of bytes where a message is expected; and, framed
** properly, up to 16 lines as requests to a worker on a simulated device, with two
** descriptors of 4096 bytes in each. Its working folder must be one of no worth.
*/
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "fuzz.h"
#include "base/process/message.h"
#include "judge/worker/worker.h"

enum { REQUESTS = 16, SHARE = 4096 };

static void feed_stream(const uint8_t *data, size_t size) {
  int pair[2];
  cawb_message m;
  cawb_err err;
  FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  ssize_t sent = size > 0 ? send(pair[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
  (void)sent;                                   /* as much as the socket holds */
  close(pair[1]);
  while (cawb_message_receive(pair[0], &m, CAWB_MESSAGE_MAX, cawb_clock_now() + 1, &err) == CAWB_OK) {
    FUZZ_CHECK(cJSON_IsObject(m.json));
    cawb_message_free(&m);
  }
  close(pair[0]);
}

static void send_request(int fd, const char *line, size_t size, const int *fds) {
  union { struct cmsghdr head; char bytes[CMSG_SPACE(2 * sizeof(int))]; } room;
  unsigned char head[4] = { (unsigned char)size, (unsigned char)(size >> 8),
                            (unsigned char)(size >> 16), (unsigned char)(size >> 24) };
  struct iovec v[2] = { { head, sizeof head }, { (void *)line, size } };
  struct msghdr h = { .msg_iov = v, .msg_iovlen = 2, .msg_control = room.bytes,
                      .msg_controllen = sizeof room.bytes };
  memset(&room, 0, sizeof room);
  room.head.cmsg_level = SOL_SOCKET;
  room.head.cmsg_type = SCM_RIGHTS;
  room.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
  memcpy(CMSG_DATA(&room.head), fds, 2 * sizeof(int));
  ssize_t sent = sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)sent;
}

static void feed_worker(const char *text) {
  int pair[2], fds[2];
  FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  for (int i = 0; i < 2; i++) {
    fds[i] = memfd_create("share", MFD_CLOEXEC);
    FUZZ_CHECK(fds[i] >= 0 && ftruncate(fds[i], SHARE) == 0);
  }
  for (int i = 0; i < REQUESTS && *text != '\0'; i++) {
    size_t n = strcspn(text, "\n");
    send_request(pair[1], text, n, fds);
    text += n + (text[n] == '\n');
  }
  shutdown(pair[1], SHUT_WR);
  cawb_worker_main(pair[0]);
  close(pair[0]);
  close(pair[1]);
  close(fds[0]);
  close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  feed_stream(data, size);
  if (strstr(text, "cuda") == NULL && strstr(text, "auto") == NULL) feed_worker(text);
  free(text);
  return 0;
}

/*
** python.c - stands for CAWB_PYTHON in the tests. A task host that it is to start is forked by
** tests/support/warm/server.py, which has PyTorch in memory; everything else is given to the real
** Python, and so is the task host where that server does not answer.
**
** The host is the server's child. This process stands for it: it passes on its descriptors 0 to
** 2 and the socket, waits, and ends as the host ended. When this process is killed, the server
** sees its connection end and kills the host.
*/
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

/* How a host ended, as the server reports it. */
typedef struct ending {
  int32_t code;
  int32_t signal;      /* 0: it ended by itself, with that code */
} ending;

static int real_python(char **argv) {
  argv[0] = CAWB_REAL_PYTHON;
  execv(argv[0], argv);
  perror(argv[0]);
  return 127;
}

/* `python python/cawb_host [--fd N]`, of this checkout: the host's socket. Anything else: -1. */
static int host_socket(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], CAWB_SOURCE "/python/cawb_host") != 0) return -1;
  if (argc == 2) return 3;
  return argc == 4 && strcmp(argv[2], "--fd") == 0 ? atoi(argv[3]) : -1;
}

static int reach_server(void) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  if (sizeof CAWB_WARM_SOCKET > sizeof address.sun_path) return -1;
  memcpy(address.sun_path, CAWB_WARM_SOCKET, sizeof CAWB_WARM_SOCKET);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0) return -1;
  if (connect(server, (struct sockaddr *)&address, sizeof address) == 0) return server;
  close(server);
  return -1;
}

/* The strings, each with its final NUL, one after the other; exits when there is no memory. */
static char *joined(char **strings, const char *first, size_t *size) {
  *size = strlen(first) + 1;
  for (char **s = strings; *s != NULL; s++) *size += strlen(*s) + 1;
  char *all = malloc(*size), *end = all;
  if (all == NULL) _exit(127);
  end = stpcpy(end, first) + 1;
  for (char **s = strings; *s != NULL; s++) end = stpcpy(end, *s) + 1;
  return all;
}

static int send_all(int to, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = send(to, data, size, MSG_NOSIGNAL);
    if (n <= 0) return 0;
    data += n;
    size -= (size_t)n;
  }
  return 1;
}

/* The size of what follows, and the descriptors 0, 1, 2 and the host's socket. */
static int send_descriptors(int to, uint32_t size, int host) {
  const int fds[] = { 0, 1, 2, host };
  union { struct cmsghdr header; char room[CMSG_SPACE(sizeof fds)]; } control = { 0 };
  struct iovec part = { &size, sizeof size };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room,
                            .msg_controllen = sizeof control.room };
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  memcpy(CMSG_DATA(header), fds, sizeof fds);
  return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof size;
}

/* The working folder and the environment: all else of a task host is the same in each. */
static int send_request(int to, int host) {
  char here[4096];
  size_t size;
  if (getcwd(here, sizeof here) == NULL) return 0;
  char *text = joined(environ, here, &size);
  int sent = send_descriptors(to, (uint32_t)size, host) && send_all(to, text, size);
  free(text);
  return sent;
}

static int end_like_host(int server) {
  ending how = { 1, 0 };
  if (recv(server, &how, sizeof how, MSG_WAITALL) != (ssize_t)sizeof how) return 1;
  if (how.signal != 0) {
    signal(how.signal, SIG_DFL);
    raise(how.signal);
  }
  return how.code;
}

int main(int argc, char **argv) {
  int host = host_socket(argc, argv);
  int server = host < 0 ? -1 : reach_server();
  if (server < 0) return real_python(argv);
  signal(SIGINT, SIG_IGN);                /* as the host does */
  if (!send_request(server, host)) return 1;
  close(host);                            /* its end is seen when the host ends */
  return end_like_host(server);
}

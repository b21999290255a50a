/* test_child.c - messages with descriptors, and processes that end in every way. */
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "base/clock.h"
#include "base/process/serve.h"

static cawb_status echo(void *ctx, const cawb_message *m, cJSON *reply, cawb_err *err) {
  const char *op = cawb_request_text(m->json, "op");
  (void)ctx;
  if (strcmp(op, "die") == 0) {
    fputs("about to die\n", stderr);
    abort();
  }
  if (strcmp(op, "exit") == 0) _exit(7);
  if (strcmp(op, "hang") == 0) for (;;) pause();
  if (strcmp(op, "fail") == 0) return cawb_fail(err, CAWB_ERR_CANDIDATE, "no good");
  if (strcmp(op, "fd") == 0) {
    char text[8] = { 0 };
    ssize_t n = m->nfds == 2 ? pread(m->fds[1], text, 7, 0) : -1;
    cJSON_AddStringToObject(reply, "text", n == 7 ? text : "?");
  }
  if (strcmp(op, "descriptors") == 0)
    for (int fd = 0, n = 0; fd < 1024; fd++)
      if (fcntl(fd, F_GETFD) >= 0) cJSON_AddNumberToObject(reply, "open", n++);
  if (strcmp(op, "orphan") == 0) {
    pid_t pid = fork();
    if (pid == 0) for (;;) pause();
    cJSON_AddNumberToObject(reply, "pid", pid);
  }
  if (strcmp(op, "print") == 0) {
    for (int i = 0; i < 20000; i++) fputs("a line of 32 bytes, not counting\n", stdout);
    fputs("the end \xff\n", stdout);
    fflush(stdout);
  }
  if (strcmp(op, "flood") == 0) {
    int lost = 0;
    for (int i = 0; i < 100000 && !lost; i++)
      lost = write(1, "one line of a hundred bytes, which go on and on until there is no room for them "
                   "and then for one more\n", 101) != 101;
    cJSON_AddBoolToObject(reply, "lost", lost);
    cJSON_AddBoolToObject(reply, "grown", ftruncate(1, (off_t)1 << 30) == 0);
  }
  if (strcmp(op, "limits") == 0) {
    struct rlimit core, space;
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_AS, &space);
    cJSON_AddNumberToObject(reply, "core", (double)core.rlim_max);
    cJSON_AddNumberToObject(reply, "memory", space.rlim_cur == RLIM_INFINITY ? 0 : (double)space.rlim_cur);
    void *p = mmap(NULL, (size_t)2 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cJSON_AddBoolToObject(reply, "mapped", p != MAP_FAILED);
    if (p != MAP_FAILED) munmap(p, (size_t)2 << 30);
  }
  if (strcmp(op, "long") == 0) {
    char *s = malloc(CAWB_MESSAGE_MAX + 1);
    memset(s, 'x', CAWB_MESSAGE_MAX);
    s[CAWB_MESSAGE_MAX] = '\0';
    cJSON_AddStringToObject(reply, "text", s);
    free(s);
  }
  return CAWB_OK;
}

static cawb_child *start(char *self) {
  cawb_child *c;
  cawb_err err;
  char *argv[] = { self, "--serve", NULL };
  CHECK(cawb_child_new(&c, "echo", argv, NULL, 0, &err) == CAWB_OK);
  return c;
}

static cawb_status ask(cawb_child *c, const char *op, double timeout, cawb_message *reply,
                       cawb_err *err) {
  cJSON *q = cJSON_CreateObject();
  cJSON_AddStringToObject(q, "op", op);
  cawb_status rc = cawb_child_call(c, q, NULL, 0, timeout, reply, err);
  cJSON_Delete(q);
  return rc;
}

static void test_answers(char *self) {
  cawb_child *c = start(self);
  cawb_message reply;
  cawb_err err;
  CHECK(ask(c, "hello", 10, &reply, &err) == CAWB_OK);
  CHECK(cJSON_IsTrue(cJSON_GetObjectItem(reply.json, "ok")));
  cawb_message_free(&reply);
  CHECK(ask(c, "fail", 10, &reply, &err) == CAWB_OK);
  CHECK(strcmp(cawb_request_text(reply.json, "name"), "candidate") == 0);
  CHECK(strcmp(cawb_request_text(reply.json, "message"), "no good") == 0);
  cawb_message_free(&reply);
  CHECK(cawb_child_alive(c) && cawb_child_pid(c) > 0);
  cawb_child_free(c);
}

static void test_descriptors_travel(char *self) {
  cawb_child *c = start(self);
  cawb_message reply;
  cawb_err err;
  int fds[2] = { memfd_create("a", MFD_CLOEXEC), memfd_create("b", MFD_CLOEXEC) };
  CHECK(write(fds[1], "seventh", 7) == 7);
  cJSON *q = cJSON_Parse("{\"op\":\"fd\"}");
  CHECK(cawb_child_call(c, q, fds, 2, 10, &reply, &err) == CAWB_OK);
  CHECK(strcmp(cawb_request_text(reply.json, "text"), "seventh") == 0);
  cawb_message_free(&reply);
  cJSON_Delete(q);
  close(fds[0]);
  close(fds[1]);
  cawb_child_free(c);
}

static void test_deaths_are_told(char *self) {
  cawb_message reply;
  cawb_err err;
  cawb_child *c = start(self);
  CHECK(ask(c, "die", 10, &reply, &err) == CAWB_ERR_DIED);
  CHECK(strstr(err.msg, "the echo was killed by signal 6 (Aborted)") != NULL);
  CHECK(strstr(err.msg, "it last printed: about to die") != NULL);
  CHECK(!cawb_child_alive(c));
  CHECK(ask(c, "hello", 10, &reply, &err) == CAWB_ERR_DIED);
  cawb_child_free(c);
  c = start(self);
  CHECK(ask(c, "exit", 10, &reply, &err) == CAWB_ERR_DIED);
  CHECK(strstr(err.msg, "ended with status 7") != NULL);
  cawb_child_free(c);
}

static void test_deadlines_hold(char *self) {
  cawb_message reply;
  cawb_err err;
  cawb_child *c = start(self);
  CHECK(ask(c, "hang", 0.05, &reply, &err) == CAWB_ERR_TIMEOUT);
  CHECK(strstr(err.msg, "did not answer within 0.05 s") != NULL);
  CHECK(!cawb_child_alive(c));            /* it really was killed */
  cawb_child_free(c);
}

static void test_a_missing_program(void) {
  cawb_child *c;
  cawb_err err;
  char *argv[] = { "/nonexistent/python", NULL };
  CHECK(cawb_child_new(&c, "task host", argv, NULL, 0, &err) == CAWB_ERR_MISSING);
  CHECK(c == NULL && strstr(err.msg, "/nonexistent/python") != NULL);
}

static double number(const cawb_message *m, const char *key) {
  const cJSON *v = cJSON_GetObjectItem(m->json, key);
  return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

static void test_nothing_else_is_inherited(char *self) {
  cawb_message reply;
  cawb_err err;
  int leak = open("/dev/null", O_RDONLY), high = fcntl(leak, F_DUPFD, 700);
  cawb_child *c = start(self);
  CHECK(leak >= 0 && high >= 700);        /* as Lua's io.open makes them: to be inherited */
  CHECK(ask(c, "descriptors", 10, &reply, &err) == CAWB_OK);
  const cJSON *list = reply.json->child;
  int n = 0;
  for (; list != NULL; list = list->next) n += strcmp(list->string, "open") == 0;
  CHECK(n == 4);                          /* 0, 1, 2 and the socket */
  cawb_message_free(&reply);
  cawb_child_free(c);
  close(leak);
  close(high);
}

/* The child leaves another one behind: both are gone when it is seen to have ended. */
static void test_the_group_ends_too(char *self) {
  cawb_message reply;
  cawb_err err;
  cawb_child *c = start(self);
  CHECK(ask(c, "orphan", 10, &reply, &err) == CAWB_OK);
  pid_t orphan = (pid_t)number(&reply, "pid");
  cawb_message_free(&reply);
  CHECK(orphan > 0 && kill(orphan, 0) == 0);
  kill(cawb_child_pid(c), SIGKILL);
  while (cawb_child_alive(c)) usleep(1000);
  double deadline = cawb_clock_now() + 10;
  int gone = 0;                           /* a zombie until its new parent reaps it */
  while (!gone && cawb_clock_left_ms(deadline) > 0) {
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)orphan);
    FILE *f = fopen(path, "r");
    size_t got = f != NULL ? fread(stat, 1, sizeof stat - 1, f) : 0;
    if (f != NULL) fclose(f);
    gone = got == 0 || strstr(stat, ") Z ") != NULL || strstr(stat, ") X ") != NULL;
  }
  CHECK(gone);
  cawb_child_free(c);
}

static void test_output_is_kept_in_part(char *self) {
  cawb_message reply;
  cawb_err err;
  char out[64], path[64];
  struct stat st;
  cawb_child *c = start(self);
  for (int i = 0; i < 5; i++) {
    CHECK(ask(c, "print", 10, &reply, &err) == CAWB_OK);
    cawb_message_free(&reply);
  }
  cawb_child_output(c, out, sizeof out);
  CHECK(strstr(out, "the end ?") != NULL && strlen(out) <= 63);
  snprintf(path, sizeof path, "/proc/%d/fd/1", (int)cawb_child_pid(c));
  CHECK(stat(path, &st) == 0 && st.st_blocks * 512 < 1500000);
  cawb_child_free(c);
}

/* However much it prints, so much memory and no more; the next call has room again. */
static void test_output_is_bounded(char *self) {
  cawb_message reply;
  cawb_err err;
  char out[256], path[64];
  struct stat st;
  cawb_child *c = start(self);
  for (int i = 0; i < 3; i++) {
    CHECK(ask(c, "flood", 60, &reply, &err) == CAWB_OK);
    CHECK(cJSON_IsTrue(cJSON_GetObjectItem(reply.json, "lost")));
    CHECK(cJSON_IsFalse(cJSON_GetObjectItem(reply.json, "grown")));
    cawb_message_free(&reply);
    snprintf(path, sizeof path, "/proc/%d/fd/1", (int)cawb_child_pid(c));
    CHECK(stat(path, &st) == 0 && st.st_size == CAWB_CHILD_OUTPUT);
    cawb_child_output(c, out, sizeof out);
    CHECK(strlen(out) < sizeof out && strstr(out, "and then for one more") != NULL);
    CHECK(strcmp(strrchr(out, '\n'), "\n[it printed more, which is lost]") == 0);
  }
  CHECK(ask(c, "print", 10, &reply, &err) == CAWB_OK);
  cawb_message_free(&reply);
  cawb_child_output(c, out, sizeof out);
  CHECK(strcmp(out + strlen(out) - 9, "the end ?") == 0);
  CHECK(stat(path, &st) == 0 && st.st_blocks * 512 < 1500000);
  cawb_child_free(c);
}

static void test_limits(char *self) {
  static const size_t GIB = (size_t)1 << 30;
  for (size_t memory = 0; memory <= GIB; memory += GIB) {
    char *argv[] = { self, "--serve", NULL };
    cawb_child *c;
    cawb_message reply;
    cawb_err err;
    CHECK(cawb_child_new(&c, "echo", argv, NULL, memory, &err) == CAWB_OK);
    CHECK(ask(c, "limits", 10, &reply, &err) == CAWB_OK);
    CHECK(number(&reply, "core") == 0);
#ifndef __SANITIZE_ADDRESS__
    CHECK(memory == 0 || number(&reply, "memory") == (double)memory);
    CHECK(cJSON_IsTrue(cJSON_GetObjectItem(reply.json, "mapped")) == (memory == 0));
#endif
    cawb_message_free(&reply);
    cawb_child_free(c);
  }
}

static void test_a_reply_too_long(char *self) {
  cawb_message reply;
  cawb_err err;
  cawb_child *c = start(self);
  CHECK(ask(c, "long", 60, &reply, &err) == CAWB_OK);
  CHECK(strcmp(cawb_request_text(reply.json, "name"), "invalid") == 0);
  CHECK(strstr(cawb_request_text(reply.json, "message"), "bytes, at most") != NULL);
  cawb_message_free(&reply);
  CHECK(ask(c, "hello", 10, &reply, &err) == CAWB_OK);     /* and it goes on */
  cawb_message_free(&reply);
  cawb_child_free(c);
}

static int next_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return fd;
}

static void test_no_descriptors_left(char *self) {
  struct rlimit was, few;
  cawb_child *c;
  cawb_err err;
  char *argv[] = { self, "--serve", NULL };
  int first = next_descriptor();
  CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
  for (int most = first; most < first + 13; most++) {
    few = (struct rlimit){ (rlim_t)most, was.rlim_max };
    setrlimit(RLIMIT_NOFILE, &few);
    cawb_status rc = cawb_child_new(&c, "echo", argv, NULL, 0, &err);
    setrlimit(RLIMIT_NOFILE, &was);
    CHECK(rc == CAWB_OK || (rc == CAWB_ERR_IO && c == NULL));
    cawb_child_free(c);
  }
  CHECK(next_descriptor() == first);      /* and none was lost */
}

/* What the receiver makes of these bytes and so many descriptors with them. */
static cawb_status receive(const void *bytes, size_t size, int nfds, cawb_message *m,
                           cawb_err *err) {
  int pair[2], fds[16];
  union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof fds)]; } room;
  struct iovec v = { (void *)(uintptr_t)bytes, size };
  struct msghdr h = { .msg_iov = &v, .msg_iovlen = 1 };
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  for (int i = 0; i < nfds; i++) fds[i] = pair[0];
  if (nfds > 0) {
    memset(&room, 0, sizeof room);
    h.msg_control = room.bytes;
    h.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof *fds);
    room.head.cmsg_level = SOL_SOCKET;
    room.head.cmsg_type = SCM_RIGHTS;
    room.head.cmsg_len = CMSG_LEN((size_t)nfds * sizeof *fds);
    memcpy(CMSG_DATA(&room.head), fds, (size_t)nfds * sizeof *fds);
  }
  CHECK(sendmsg(pair[1], &h, 0) == (ssize_t)size);
  shutdown(pair[1], SHUT_WR);
  cawb_status rc = cawb_message_receive(pair[0], m, CAWB_MESSAGE_MAX, cawb_clock_now() + 10, err);
  close(pair[0]);
  close(pair[1]);
  return rc;
}

static void test_malformed_messages(void) {
  static const struct { const char *bytes; size_t size; cawb_status rc; } cases[] = {
    { "\2\0\0\0{}", 6, CAWB_OK }, { "\4\0\0\0 {} ", 8, CAWB_OK },
    { "\0\0\0\0", 4, CAWB_ERR_PROTOCOL }, { "\2\0\0\0[]", 6, CAWB_ERR_PROTOCOL },
    { "\3\0\0\0{}x", 7, CAWB_ERR_PROTOCOL }, { "\4\0\0\0{}\0x", 8, CAWB_ERR_PROTOCOL },
    { "\4\0\0\0{}{}", 8, CAWB_ERR_PROTOCOL }, { "\3\0\0\0{\"a", 7, CAWB_ERR_PROTOCOL },
    { "\3\0\0\0{}", 6, CAWB_ERR_DIED }, { "\3\0", 2, CAWB_ERR_DIED },
    { "\1\0\0\4", 4, CAWB_ERR_PROTOCOL }, { "\377\377\377\377", 4, CAWB_ERR_PROTOCOL },
  };
  cawb_message m;
  cawb_err err;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cawb_status rc = receive(cases[i].bytes, cases[i].size, 0, &m, &err);
    if (rc != cases[i].rc) fprintf(stderr, "case %zu: %s\n", i, cawb_status_name(rc));
    CHECK(rc == cases[i].rc);
    cawb_message_free(&m);
  }
  CHECK(cawb_message_receive(-1, &m, CAWB_MESSAGE_MAX, cawb_clock_now() + 1, &err) != CAWB_OK);
}

/* An object nested `deep`, two or more, with `wide` numbers; brackets in a name are none. */
static cawb_status receive_shaped(size_t deep, size_t wide, size_t most) {
  static char bytes[1 << 16];
  char *p = bytes + 4;
  int pair[2];
  cawb_message m;
  cawb_err err;
  p += sprintf(p, "{\"[\\\"[\":");
  memset(p, '[', deep - 1);
  memset(p + deep - 1, ']', deep - 1);
  p += 2 * (deep - 1) + (size_t)sprintf(p + 2 * (deep - 1), ",\"b\":[1");
  for (size_t i = 1; i < wide; i++) *p++ = ',', *p++ = '1';
  p += sprintf(p, "]}");
  size_t size = (size_t)(p - bytes) - 4;
  bytes[0] = (char)size, bytes[1] = (char)(size >> 8), bytes[2] = bytes[3] = 0;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(write(pair[1], bytes, size + 4) == (ssize_t)(size + 4));
  cawb_status rc = cawb_message_receive(pair[0], &m, most, cawb_clock_now() + 10, &err);
  cawb_message_free(&m);
  close(pair[0]);
  close(pair[1]);
  return rc;
}

static void test_messages_have_bounds(void) {
  CHECK(receive_shaped(CAWB_MESSAGE_DEPTH, 1, 1 << 16) == CAWB_OK);
  CHECK(receive_shaped(CAWB_MESSAGE_DEPTH + 1, 1, 1 << 16) == CAWB_ERR_PROTOCOL);
  CHECK(receive_shaped(2, 1000, 1 << 16) == CAWB_OK);
  CHECK(receive_shaped(2, 1000, 2100) == CAWB_ERR_PROTOCOL);      /* more values than most / 8 */
  CHECK(receive_shaped(2, 1000, 2000) == CAWB_ERR_PROTOCOL);      /* more bytes than most */
}

static void test_descriptors_are_not_lost_in_silence(void) {
  cawb_message m;
  cawb_err err;
  struct rlimit was, few;
  CHECK(receive("\2\0\0\0{}", 6, CAWB_MESSAGE_FDS, &m, &err) == CAWB_OK);
  CHECK(m.nfds == CAWB_MESSAGE_FDS);
  cawb_message_free(&m);
  CHECK(receive("\2\0\0\0{}", 6, CAWB_MESSAGE_FDS + 1, &m, &err) == CAWB_ERR_IO);
  CHECK(strstr(err.msg, "were lost") != NULL && m.nfds == 0);
  int first = next_descriptor();
  CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
  few = (struct rlimit){ (rlim_t)first + 5, was.rlim_max };    /* two go to the sockets */
  setrlimit(RLIMIT_NOFILE, &few);
  cawb_status rc = receive("\2\0\0\0{}", 6, 6, &m, &err);
  setrlimit(RLIMIT_NOFILE, &was);
  CHECK(rc == CAWB_ERR_IO);
  CHECK(next_descriptor() == first);
}

int main(int argc, char **argv) {
  if (argc == 2) return cawb_serve(3, echo, NULL);
  test_answers(argv[0]);
  test_descriptors_travel(argv[0]);
  test_deaths_are_told(argv[0]);
  test_deadlines_hold(argv[0]);
  test_a_missing_program();
  test_nothing_else_is_inherited(argv[0]);
  test_the_group_ends_too(argv[0]);
  test_output_is_kept_in_part(argv[0]);
  test_output_is_bounded(argv[0]);
  test_limits(argv[0]);
  test_a_reply_too_long(argv[0]);
  test_no_descriptors_left(argv[0]);
  test_malformed_messages();
  test_messages_have_bounds();
  test_descriptors_are_not_lost_in_silence();
  return check_report();
}

/* test_child.c - messages with descriptors, and processes that end in every way. */
#include "child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "serve.h"

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
  return CAWB_OK;
}

static cawb_child *start(char *self) {
  cawb_child *c;
  cawb_err err;
  char *argv[] = { self, "--serve", NULL };
  CHECK(cawb_child_new(&c, "echo", argv, NULL, &err) == CAWB_OK);
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
  CHECK(cawb_child_new(&c, "task host", argv, NULL, &err) == CAWB_ERR_MISSING);
  CHECK(c == NULL && strstr(err.msg, "/nonexistent/python") != NULL);
}

static void test_malformed_text(void) {
  int fds[2];
  cawb_message m;
  cawb_err err;
  CHECK(pipe(fds) == 0);                  /* the length and the text, by hand */
  close(fds[0]);
  close(fds[1]);
  CHECK(cawb_message_receive(fds[0], &m, cawb_clock_now() + 1, &err) != CAWB_OK);
}

int main(int argc, char **argv) {
  if (argc == 2) return cawb_serve(3, echo, NULL);
  test_answers(argv[0]);
  test_descriptors_travel(argv[0]);
  test_deaths_are_told(argv[0]);
  test_deadlines_hold(argv[0]);
  test_a_missing_program();
  test_malformed_text();
  return check_report();
}

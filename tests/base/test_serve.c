/*
** test_serve.c - what stands between connections and the thread that answers: messages out of frames, the queue, and
** a server asked over its socket.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

#include "check.h"
#include "base/server/frames.h"
#include "base/server/server.h"

static void test_frames_become_messages(void) {
  cawb_frames f = { .most = 8 };
  cawb_bytes got = { 0 };
  CHECK(cawb_frames_add(&f, 0x01, "ab", 2) == CAWB_FRAMES_PART);
  CHECK(cawb_frames_add(&f, 0x89, "ping", 4) == CAWB_FRAMES_PART);
  CHECK(cawb_frames_add(&f, 0x80, "cd", 2) == CAWB_FRAMES_WHOLE);
  cawb_frames_take(&f, &got);
  CHECK(got.size == 4 && memcmp(got.data, "abcd", 4) == 0);
  CHECK(cawb_frames_add(&f, 0x81, "", 0) == CAWB_FRAMES_WHOLE);
  CHECK(cawb_frames_add(&f, 0x80, "x", 1) == CAWB_FRAMES_BROKEN);
  CHECK(cawb_frames_add(&f, 0x82, "x", 1) == CAWB_FRAMES_NO_TEXT);
  CHECK(cawb_frames_add(&f, 0x88, "", 0) == CAWB_FRAMES_END);
  CHECK(cawb_frames_add(&f, 0x01, "12345678", 8) == CAWB_FRAMES_PART);
  CHECK(cawb_frames_add(&f, 0x81, "x", 1) == CAWB_FRAMES_BROKEN);
  CHECK(cawb_frames_add(&f, 0x80, "9", 1) == CAWB_FRAMES_TOO_LONG);
  cawb_bytes_free(&got);
  cawb_frames_free(&f);
}

static void test_bytes_become_frames(void) {
  char masked[] = { (char)0x81, (char)0x83, 1, 2, 3, 4, 'a' ^ 1, 'b' ^ 2, 'c' ^ 3, 'x' };
  char bare[] = { (char)0x89, 2, 'h', 'i' }, large[] = { (char)0x81, 126, 1, 0 };
  char huge[] = { (char)0x81, 127, (char)0xff, 0, 0, 0, 0, 0, 0, 0 };
  cawb_frame f;
  for (size_t n = 0; n < 9; n++) CHECK(cawb_frame_read(&f, masked, n, 64) == 0);
  CHECK(cawb_frame_read(&f, masked, sizeof masked, 64) == 9 && f.bits == 0x81 && f.size == 3 && memcmp(f.bytes, "abc", 3) == 0);
  CHECK(cawb_frame_read(&f, bare, sizeof bare, 64) == 4 && f.bits == 0x89 && f.size == 2 && memcmp(f.bytes, "hi", 2) == 0);
  CHECK(cawb_frame_read(&f, large, sizeof large, 256) == 0);
  CHECK(cawb_frame_read(&f, large, sizeof large, 255) == 4 && f.size == 256);
  CHECK(cawb_frame_read(&f, huge, sizeof huge, 1 << 20) == 10 && f.size > 1 << 20);
}

static void test_what_is_written_can_be_read(void) {
  static const size_t sizes[] = { 0, 1, 125, 126, 127, 65535, 65536, 70000 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    cawb_bytes all = { 0 };
    cawb_frame f;
    char *text = malloc(sizes[i] + 1);
    memset(text, 'x', sizes[i] + 1);
    cawb_frame_write(&all, 1, text, sizes[i]);
    CHECK(cawb_frame_read(&f, all.data, all.size, 1 << 20) == all.size && f.bits == 0x81 && f.size == sizes[i]);
    CHECK(memcmp(f.bytes, text, sizes[i]) == 0);
    free(text);
    cawb_bytes_free(&all);
  }
}

/* ---- the queue */

static void *ask(void *queue) {
  cawb_asked *a = cawb_asked_new(CAWB_ASKED_HTTP);
  intptr_t status = cawb_queue_ask(queue, a);
  if (status == 0) status = a->status;
  cawb_asked_drop(a);
  return (void *)status;
}

static int readable(int fd, int milliseconds) {
  struct pollfd p = { .fd = fd, .events = POLLIN };
  return poll(&p, 1, milliseconds) == 1;
}

static void test_a_request_waits_for_its_answer(void) {
  cawb_queue *q;
  pthread_t one, two;
  void *status;
  CHECK(cawb_queue_new(&q, 8, NULL) == CAWB_OK);
  CHECK(cawb_queue_take(q) == NULL && !readable(cawb_queue_fd(q), 0));
  pthread_create(&one, NULL, ask, q);
  CHECK(readable(cawb_queue_fd(q), 10000));
  cawb_asked *a = cawb_queue_take(q);
  CHECK(a != NULL && !readable(cawb_queue_fd(q), 0));
  cawb_queue_answer(q, a, 204);
  cawb_asked_drop(a);
  pthread_join(one, &status);
  CHECK((intptr_t)status == 204);
  pthread_create(&two, NULL, ask, q);
  CHECK(readable(cawb_queue_fd(q), 10000));
  a = cawb_queue_take(q);                     /* held while the queue closes */
  cawb_queue_close(q);
  pthread_join(two, &status);
  CHECK((intptr_t)status == 503);
  cawb_queue_answer(q, a, 200);
  cawb_asked_drop(a);
  CHECK((intptr_t)ask(q) == 503);
  cawb_queue_free(q);
}

static void count(cawb_asked *a) {
  ++*(int *)a->asker;
  cawb_asked_drop(a);
}

static void test_one_is_put_in_and_told(void) {
  cawb_queue *q;
  int told = 0;
  CHECK(cawb_queue_new(&q, 8, NULL) == CAWB_OK);
  for (int i = 0; i < 2; i++) {
    cawb_asked *a = cawb_asked_new(CAWB_ASKED_MESSAGE), *taken;
    a->answered = count;
    a->asker = &told;
    CHECK(cawb_queue_put(q, a) == 0 && readable(cawb_queue_fd(q), 0));
    if (i == 1) cawb_queue_forget(q, a);
    CHECK((taken = cawb_queue_take(q)) == a && told == i);
    cawb_queue_answer(q, taken, 200);
    cawb_asked_drop(taken);
    if (i == 1) cawb_asked_drop(a);
    CHECK(told == 1);
  }
  cawb_queue_close(q);
  cawb_asked *late = cawb_asked_new(CAWB_ASKED_MESSAGE);
  CHECK(cawb_queue_put(q, late) == 503);
  cawb_asked_drop(late);
  cawb_queue_free(q);
}

static void test_a_full_queue_refuses(void) {
  cawb_queue *q;
  CHECK(cawb_queue_new(&q, 0, NULL) == CAWB_OK);
  CHECK((intptr_t)ask(q) == 503);
  cawb_asked *gone = cawb_asked_new(CAWB_ASKED_CLOSED);
  CHECK(cawb_queue_ask(q, gone) == 0);        /* it is never refused, nor waited for */
  cawb_asked_drop(gone);
  CHECK(readable(cawb_queue_fd(q), 0));
  cawb_queue_free(q);
}

/* ---- a server over its socket */

static int connect_to(int port) {
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

typedef struct call { int port; const char *text; char answer[512]; } call;

/* Send bytes as they are, and read what comes until it ends; nothing where they could not be sent. */
static void *send_raw(void *argument) {
  call *c = argument;
  int fd = connect_to(c->port);
  size_t at = 0;
  c->answer[0] = '\0';
  if (fd < 0) return NULL;
  if (send(fd, c->text, strlen(c->text), MSG_NOSIGNAL) < 0) c->text = "";
  shutdown(fd, SHUT_WR);
  for (ssize_t n; at < sizeof c->answer - 1 && (n = recv(fd, c->answer + at, sizeof c->answer - 1 - at, 0)) > 0;) at += (size_t)n;
  c->answer[at] = '\0';
  close(fd);
  return NULL;
}

/* Answer one request with what it asked. */
static void answer_one(cawb_server *s, const char *body) {
  cawb_queue *q = cawb_server_queue(s);
  CHECK(readable(cawb_queue_fd(q), 10000));
  cawb_asked *a = cawb_queue_take(q);
  CHECK(a != NULL && strcmp(a->path, "/a") == 0 && strcmp(a->query, "b=1") == 0);
  CHECK(a->body.size == strlen(body) && (a->body.size == 0 || memcmp(a->body.data, body, a->body.size) == 0));
  CHECK(strstr(a->headers.data, "authorization") == NULL && strstr(a->headers.data, "host: ") != NULL);
  cawb_bytes_text(&a->answer, "{}");
  cawb_queue_answer(q, a, 200);
  cawb_asked_drop(a);
}

static void test_a_server_hands_over_what_may_come_in(void) {
  cawb_server *s;
  cawb_err err;
  cawb_server_options o = { .host = "127.0.0.1", .token = "key", .threads = 2, .body = 4, .idle = 5, .session = 5 };
  CHECK(cawb_server_open(&s, &o, &err) == CAWB_OK);
  pthread_t thread;
  call good = { .port = cawb_server_port(s),
    .text = "POST /a?b=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi" };
  pthread_create(&thread, NULL, send_raw, &good);
  answer_one(s, "hi");
  pthread_join(thread, NULL);
  CHECK(strncmp(good.answer, "HTTP/1.1 200 OK\r\n", 17) == 0 && strstr(good.answer, "\r\n\r\n{}") != NULL);
  call none = { .port = good.port, .text = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n" };
  send_raw(&none);
  CHECK(strncmp(none.answer, "HTTP/1.1 401 ", 13) == 0);
  call large = { .port = good.port, .text = "POST /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key\r\nContent-Length: 5\r\n\r\nabcde" };
  send_raw(&large);
  CHECK(strncmp(large.answer, "HTTP/1.1 413 ", 13) == 0);
  o.port = good.port;
  cawb_server *other;
  CHECK(cawb_server_open(&other, &o, &err) == CAWB_ERR_IO && other == NULL);
  cawb_server_free(s);
}

/* The status of a request, which is answered with 200 where it comes in. */
static int status_of(cawb_server *s, int comes_in, const char *text) {
  call c = { .port = cawb_server_port(s), .text = text };
  if (!comes_in) {
    send_raw(&c);
    return atoi(c.answer + 9);
  }
  pthread_t thread;
  cawb_queue *q = cawb_server_queue(s);
  pthread_create(&thread, NULL, send_raw, &c);
  CHECK(readable(cawb_queue_fd(q), 10000));
  cawb_asked *a = cawb_queue_take(q);
  CHECK(a != NULL);
  cawb_queue_answer(q, a, 200);
  cawb_asked_drop(a);
  pthread_join(thread, NULL);
  return atoi(c.answer + 9);
}

static void test_a_page_of_the_server_may_ask_and_no_other(void) {
  cawb_server *s;
  cawb_err err;
  cawb_server_options o = { .host = "127.0.0.1", .page = 1, .threads = 2, .body = 4, .idle = 5, .session = 5 };
  CHECK(cawb_server_open(&s, &o, &err) == CAWB_OK);
#define FROM(origin) "GET /a HTTP/1.1\r\nHost: localhost:80\r\nOrigin: " origin "\r\nConnection: close\r\n\r\n"
  CHECK(status_of(s, 1, FROM("http://localhost:80")) == 200);
  CHECK(status_of(s, 0, FROM("http://localhost:81")) == 403);
  CHECK(status_of(s, 0, FROM("https://localhost:80")) == 403);
  CHECK(status_of(s, 0, FROM("null")) == 403);
  CHECK(status_of(s, 0, "GET / HTTP/1.1\r\nHost: x.org\r\nOrigin: http://x.org\r\n\r\n") == 403);
  cawb_server_free(s);
  o.token = "key";
  CHECK(cawb_server_open(&s, &o, &err) == CAWB_OK);
  CHECK(status_of(s, 1, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == 200);
  CHECK(status_of(s, 0, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n") == 401);
  CHECK(status_of(s, 0, "GET //a HTTP/1.1\r\nHost: x\r\n\r\n") == 401);
  cawb_server_free(s);
}

static void test_texts_are_compared_whole(void) {
  CHECK(cawb_server_same("", "") && cawb_server_same("abc", "abc"));
  CHECK(!cawb_server_same("abc", "abd") && !cawb_server_same("abc", "abcd") && !cawb_server_same("abc", ""));
}

int main(void) {
  test_frames_become_messages();
  test_bytes_become_frames();
  test_what_is_written_can_be_read();
  test_one_is_put_in_and_told();
  test_a_request_waits_for_its_answer();
  test_a_full_queue_refuses();
  test_a_server_hands_over_what_may_come_in();
  test_a_page_of_the_server_may_ask_and_no_other();
  test_texts_are_compared_whole();
  return check_report();
}

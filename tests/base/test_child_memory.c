/*
** test_child_memory.c - each allocation on the way from a request to its reply fails
** once, on the judge's side and then on the child's: nothing crashes, leaks or hangs,
** and no descriptor is lost.
*/
#include "check.h"
#include "failing_malloc.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/child.h"
#include "base/clock.h"
#include "base/process/serve.h"

static char *self;

static void *(*volatile allocate)(size_t) = malloc;     /* not to be inlined */

static void *json_malloc(size_t n) {        /* see test_plan_memory.c */
  void *volatile p = allocate(n);
  return p;
}

static cawb_status echo(void *ctx, const cawb_message *m, cJSON *reply, cawb_err *err) {
  (void)ctx;
  (void)err;
  cJSON_AddStringToObject(reply, "text", cawb_request_text(m->json, "text"));
  return CAWB_OK;
}

/* In the child; its Nth allocation fails. */
static int serve(const char *nth) {
  cJSON_InitHooks(&(cJSON_Hooks){ json_malloc, free });
  failing_start(strtol(nth, NULL, 10));
  return cawb_serve(3, echo, NULL);
}

/* One call. What is not CAWB_OK must be one of the ways in which it may fail. */
static cawb_status call(const char *nth) {
  char *argv[] = { self, (char *)nth, NULL };
  cawb_child *c;
  cawb_message reply;
  cawb_err err;
  cawb_status rc = cawb_child_new(&c, "echo", argv, NULL, 0, &err);
  if (rc != CAWB_OK) return c == NULL ? rc : CAWB_ERR_DEVICE;
  cJSON *q = cJSON_CreateObject();
  if (cJSON_AddStringToObject(q, "text", "hello") == NULL) rc = CAWB_ERR_MEMORY;
  else rc = cawb_child_call(c, q, NULL, 0, 60, &reply, &err);
  if (rc == CAWB_OK && !cJSON_IsTrue(cJSON_GetObjectItem(reply.json, "ok"))) rc = CAWB_ERR_INVALID;
  if (rc == CAWB_OK && cJSON_GetObjectItem(reply.json, "text") == NULL) rc = CAWB_ERR_MEMORY;
  else if (rc != CAWB_OK && rc != CAWB_ERR_MEMORY && rc != CAWB_ERR_DIED && rc != CAWB_ERR_INVALID
           && rc != CAWB_ERR_PROTOCOL)
    rc = CAWB_ERR_DEVICE;
  if (rc != CAWB_ERR_MEMORY || cJSON_GetArraySize(q) > 0) cawb_message_free(&reply);
  cJSON_Delete(q);
  cawb_child_free(c);
  return rc;
}

static int next_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return fd;
}

static void test_the_judge(void) {
  int first = next_descriptor();
  long n = 0;
  for (failing_done = 1; failing_done && n < 1000; n++) {
    long before = failing_live;
    failing_start(n);
    cawb_status rc = call("-1");
    failing_stop();
    CHECK(rc == CAWB_OK || (failing_done && (rc == CAWB_ERR_MEMORY || rc == CAWB_ERR_PROTOCOL)));
    CHECK(failing_live == before && next_descriptor() == first);
    if (failing_live != before) fprintf(stderr, "  allocation %ld: %s\n", n, cawb_status_name(rc));
  }
  CHECK(n > 4 && n < 1000);
}

static void test_the_child(void) {
  char nth[16];
  int good = 0;
  for (int n = 0; n < 200 && good < 3; n++) {
    snprintf(nth, sizeof nth, "%d", n);
    cawb_status rc = call(nth);
    CHECK(rc == CAWB_OK || rc == CAWB_ERR_DIED || rc == CAWB_ERR_MEMORY || rc == CAWB_ERR_INVALID
          || rc == CAWB_ERR_PROTOCOL);
    good = rc == CAWB_OK ? good + 1 : 0;
  }
  CHECK(good == 3);
}

int main(int argc, char **argv) {
  if (!FAILING_MALLOC) return printf("skipped: a sanitizer has its own malloc\n"), 0;
  if (argc == 2) return serve(argv[1]);
  self = argv[0];
  cJSON_InitHooks(&(cJSON_Hooks){ json_malloc, free });
  test_the_judge();
  test_the_child();
  return check_report();
}

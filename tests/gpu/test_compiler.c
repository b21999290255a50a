/* test_compiler.c - what the compiler process answers to requests that it must not guess at. */
#include "gpu/compile/compiler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "base/clock.h"
#include "base/process/message.h"

static char folder[64] = "/tmp/cawb-compiler-XXXXXX";

static void *serve(void *end) {
  char *packages = getenv("CAWB_TEST_SITE_PACKAGES"), *argv[] = { folder, "0", folder, packages != NULL ? packages : "" };
  int fd = *(int *)end, status = cawb_compiler_main(fd, 4, argv);
  close(fd);
  return status == 0 ? end : NULL;
}

/* The reply's message; "" where it is no failure called `name`. Of none: NVRTC's version. */
static const char *ask(int sock, const char *request, const char *name) {
  static char message[1024];
  cawb_message reply;
  cawb_err err;
  cJSON *q = cJSON_Parse(request);
  double deadline = cawb_clock_now() + 60;
  message[0] = '\0';
  if (cawb_message_send(sock, q, NULL, 0, deadline, &err) != CAWB_OK ||
      cawb_message_receive(sock, &reply, CAWB_MESSAGE_MAX, deadline, &err) != CAWB_OK) {
    fprintf(stderr, "%s\n  %s\n", request, err.msg);
    exit(1);
  }
  const char *got = cJSON_GetStringValue(cJSON_GetObjectItem(reply.json, "name"));
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(reply.json, name != NULL ? "message" : "nvrtc"));
  int as_expected = name == NULL || (got != NULL && strcmp(got, name) == 0);
  if (as_expected && text != NULL) snprintf(message, sizeof message, "%s", text);
  cJSON_Delete(q);
  cawb_message_free(&reply);
  return message;
}

static void test_requests(int sock) {
#define SOURCE "{\"op\":\"compile\",\"source\":\"\",\"arch\":\"sm_90\""
  char many[8192] = SOURCE ",\"options\":[\"a\"";
  for (int i = 0; i < 256; i++) strcat(many, ",\"a\"");
  strcat(many, "]}");
  CHECK(strstr(ask(sock, "{}", "invalid"), "a source and an arch") != NULL);
  CHECK(strstr(ask(sock, "{\"source\":7,\"arch\":\"sm_90\"}", "invalid"), "a source and an arch") != NULL);
  CHECK(strstr(ask(sock, SOURCE ",\"defines\":{\"N\":4}}", "invalid"), "defines is no text") != NULL);
  CHECK(strstr(ask(sock, SOURCE ",\"defines\":[\"N\"]}", "invalid"), "{name: value}") != NULL);
  CHECK(strstr(ask(sock, SOURCE ",\"options\":[true]}", "invalid"), "options is no text") != NULL);
  CHECK(strstr(ask(sock, many, "candidate"), "more than 256 options") != NULL);
  CHECK(atoi(ask(sock, "{\"op\":\"version\"}", NULL)) >= 11);
}

int main(void) {
  int pair[2];
  pthread_t thread;
  void *ended = NULL;
  char command[128];
  if (mkdtemp(folder) == NULL) return 1;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(pthread_create(&thread, NULL, serve, &pair[1]) == 0);
  test_requests(pair[0]);
  close(pair[0]);
  CHECK(pthread_join(thread, &ended) == 0 && ended != NULL);
  CHECK(chdir("/") == 0);            /* it works in a folder below */
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  return check_report();
}

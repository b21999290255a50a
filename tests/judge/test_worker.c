/*
** test_worker.c - the worker as the judge sees it, on a simulated device: what it
** computes, and what it answers when a request is absurd. It must never crash.
*/
#include "judge/worker/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "base/clock.h"
#include "base/process/message.h"
#include "sim_figures.h"

#define TENSOR "{\"shape\":[64],\"strides\":[1],\"dtype\":\"float32\",\"offset\":0,\"bytes\":256}"
#define LIMITS "\"limits\":{\"memory\":8000000,\"instructions\":1000000}"
#define TENSORS "\"inputs\":[" TENSOR "],\"outputs\":[" TENSOR "],\"params\":[]"
#define PLAN "\"plan\":\"launch('gelu', { grid = 1, block = 64 }, outputs[1], inputs[1], 64)\""
#define LOAD(more) "{\"op\":\"load\",\"ptx\":\"" CAWB_PTX "/basic.ptx\"," more "}"
#define SHARES "\"inputs_share\":{\"fd\":0,\"size\":256},\"outputs_share\":{\"fd\":1,\"size\":256}"

static int sock;                 /* our end */
static float *x, *y;             /* the two shares, mapped */
static int fds[2];

static void *serve(void *end) {
  int fd = *(int *)end;
  int status = cawb_worker_main(fd);
  close(fd);
  return status == 0 ? end : NULL;
}

/* The reply to `request`, with both shares; free it. */
static cJSON *ask(const char *request) {
  cawb_message reply;
  cawb_err err = { CAWB_OK, "" };
  cJSON *q = cJSON_Parse(request);
  CHECK(q != NULL);
  double deadline = cawb_clock_now() + 60;
  if (cawb_message_send(sock, q, fds, 2, deadline, &err) != CAWB_OK ||
      cawb_message_receive(sock, &reply, CAWB_MESSAGE_MAX, deadline, &err) != CAWB_OK) {
    fprintf(stderr, "%s\n  %s\n", request, err.msg);
    exit(1);
  }
  cJSON_Delete(q);
  return reply.json;
}

static const char *text(const cJSON *reply, const char *key) {
  const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(reply, key));
  return s != NULL ? s : "";
}

static int passes(const char *request) {
  cJSON *reply = ask(request);
  int ok = cJSON_IsTrue(cJSON_GetObjectItem(reply, "ok"));
  if (!ok) fprintf(stderr, "%.200s: %s\n", request, text(reply, "message"));
  cJSON_Delete(reply);
  return ok;
}

/* It fails, under this name, with a message that holds `with`. */
static int fails(const char *request, const char *name, const char *with) {
  cJSON *reply = ask(request);
  int ok = cJSON_IsFalse(cJSON_GetObjectItem(reply, "ok")) &&
           strcmp(text(reply, "name"), name) == 0 && strstr(text(reply, "message"), with) != NULL;
  if (!ok) fprintf(stderr, "%.200s: got %s: %s\n", request, text(reply, "name"), text(reply, "message"));
  cJSON_Delete(reply);
  return ok;
}

static void test_before_a_device(void) {
  CHECK(fails("{}", "invalid", "without an op"));
  CHECK(fails("{\"op\":7}", "invalid", "without an op"));
  CHECK(fails("{\"op\":\"jump\"}", "invalid", "unknown op 'jump'"));
  CHECK(fails("{\"op\":\"run\"}", "invalid", "no candidate is loaded"));
  CHECK(fails(LOAD(PLAN "," LIMITS), "invalid", "no device is open"));
  CHECK(fails("{\"op\":\"open\"}", "invalid", "no device is named"));
  CHECK(fails("{\"op\":\"open\",\"device\":\"sim:none\"}", "invalid", "none"));
  CHECK(passes("{\"op\":\"unload\"}"));
  CHECK(fails("{\"op\":\"open\",\"device\":\"sim:h100\",\"figures\":{\"model\":\"x\"}}", "invalid", "'arch'"));
  CHECK(passes("{\"op\":\"open\",\"device\":\"sim:h100\",\"figures\":" SIM_FIGURES "}"));
  CHECK(fails("{\"op\":\"open\",\"device\":\"sim:h100\"}", "invalid", "open already"));
}

static void test_bad_loads(void) {
  CHECK(fails(LOAD(TENSORS), "invalid", "without a plan"));
  CHECK(fails(LOAD(PLAN "," TENSORS ",\"limits\":{\"memory\":-1}"), "invalid", "'memory'"));
  CHECK(fails(LOAD(PLAN "," TENSORS ",\"limits\":{\"memory\":1e999}"), "invalid", "'memory'"));
  CHECK(fails(LOAD(PLAN "," TENSORS ",\"limits\":{\"instructions\":\"many\"}"), "invalid", "'instructions'"));
  CHECK(fails("{\"op\":\"load\"," PLAN "," LIMITS "}", "invalid", "no PTX"));
  CHECK(fails("{\"op\":\"load\",\"ptx\":\"/nonexistent\"," PLAN "," LIMITS "}", "missing", "/nonexistent"));
  CHECK(fails("{\"op\":\"load\",\"ptx\":\"/tmp\"," PLAN "," LIMITS "}", "missing", "is no file"));
  CHECK(fails("{\"op\":\"load\",\"ptx\":\"/dev/zero\"," PLAN "," LIMITS "}", "missing", "is no file"));
  CHECK(fails(LOAD("\"plan\":\"error('\xff')\"," TENSORS "," LIMITS), "candidate", "plan.lua:1: ?"));
  CHECK(fails(LOAD(PLAN ",\"inputs\":[{\"shape\":[64],\"strides\":[1],\"dtype\":\"float32\","
                   "\"offset\":0,\"bytes\":4}]," LIMITS), "candidate", "do not hold its shape"));
  CHECK(fails(LOAD(PLAN "," LIMITS ",\"inputs\":[" TENSOR "],\"outputs\":[" TENSOR "],\"params\":["
              "{\"name\":\"w\",\"shape\":[2],\"strides\":[1],\"dtype\":\"float32\",\"offset\":0,"
              "\"bytes\":8}]"), "invalid", "a share without"));
  CHECK(fails("{\"op\":\"run\"," SHARES "}", "invalid", "no candidate is loaded"));
}

static void test_runs(void) {
  for (int i = 0; i < 64; i++) x[i] = 1.0f;
  memset(y, 0, 256);
  CHECK(passes(LOAD(PLAN "," TENSORS "," LIMITS)));
  CHECK(passes(LOAD(PLAN "," TENSORS "," LIMITS)));                  /* again: it replaces */
  CHECK(passes("{\"op\":\"run\"," SHARES ",\"poison\":2143289344}"));
  CHECK(y[0] > 0.84f && y[0] < 0.85f && y[63] == y[0]);
  CHECK(passes("{\"op\":\"time\"," SHARES ",\"samples\":2,\"warmup\":1,\"budget\":0.5}"));
}

static void test_bad_runs(void) {
  static const char *const times[] = { "0", "-1", "1e9", "1e999", "1.5", "\"2\"" };
  char request[256];
  CHECK(fails("{\"op\":\"run\"}", "invalid", "a share without"));
  CHECK(fails("{\"op\":\"run\"," SHARES ",\"poison\":-1}", "invalid", "'poison'"));
  CHECK(fails("{\"op\":\"run\"," SHARES ",\"poison\":4294967296}", "invalid", "'poison'"));
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    snprintf(request, sizeof request, "{\"op\":\"time\"," SHARES ",\"samples\":%s}", times[i]);
    CHECK(fails(request, "invalid", "samples"));
  }
  CHECK(fails("{\"op\":\"time\"," SHARES ",\"samples\":1,\"warmup\":-3}", "invalid", "'warmup'"));
  CHECK(fails("{\"op\":\"time\"," SHARES ",\"samples\":1,\"budget\":-3}", "invalid", "budget"));
}

static void test_bad_shares(void) {
  static const struct { const char *inputs, *with; } cases[] = {
    { "{\"fd\":0}", "lies outside its share" },          /* a share of nothing moves nothing */
    { "{\"fd\":0,\"size\":255}", "lies outside its share" },
    { "{\"fd\":0,\"size\":-1}", "'size'" }, { "{\"fd\":0,\"size\":1e300}", "'size'" },
    { "{\"fd\":0,\"size\":8192}", "" },                  /* more than the file has: SIGBUS */
    { "{\"fd\":2,\"size\":256}", "a share without" }, { "{\"fd\":-1,\"size\":256}", "'fd'" },
    { "{\"fd\":0.5,\"size\":256}", "'fd'" }, { "{\"fd\":1e99,\"size\":256}", "'fd'" },
    { "{\"ipc\":\"12\",\"size\":256}", "malformed IPC" }, { "7", "a share without" },
  };
  char request[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(request, sizeof request, "{\"op\":\"run\",\"inputs_share\":%s,"
             "\"outputs_share\":{\"fd\":1,\"size\":256}}", cases[i].inputs);
    CHECK(fails(request, "invalid", cases[i].with));
    snprintf(request, sizeof request, "{\"op\":\"run\",\"outputs_share\":%s,"
             "\"inputs_share\":{\"fd\":0,\"size\":256}}", cases[i].inputs);
    CHECK(fails(request, "invalid", cases[i].with));
  }
  CHECK(passes("{\"op\":\"run\"," SHARES "}"));                      /* it is still well */
}

static void test_tunables_and_unload(void) {
  CHECK(passes("{\"op\":\"tunables\"," PLAN "," TENSORS "," LIMITS "}"));
  CHECK(fails("{\"op\":\"tunables\",\"plan\":\"tunables{ a = { {} } }\"," TENSORS "," LIMITS "}",
              "candidate", "must list whole numbers"));
  CHECK(passes("{\"op\":\"unload\"}"));
  CHECK(passes("{\"op\":\"unload\"}"));
  CHECK(fails("{\"op\":\"run\"," SHARES "}", "invalid", "no candidate is loaded"));
}

int main(void) {
  int pair[2];
  pthread_t thread;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  sock = pair[0];
  for (int i = 0; i < 2; i++) {
    fds[i] = memfd_create("share", MFD_CLOEXEC);
    CHECK(ftruncate(fds[i], 256) == 0);
  }
  x = mmap(NULL, 256, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
  y = mmap(NULL, 256, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
  CHECK(pthread_create(&thread, NULL, serve, &pair[1]) == 0);
  test_before_a_device();
  test_bad_loads();
  test_runs();
  test_bad_runs();
  test_bad_shares();
  test_tunables_and_unload();
  close(sock);
  void *ended = NULL;
  CHECK(pthread_join(thread, &ended) == 0 && ended != NULL);
  return check_report();
}

/* confined.c - see confined.h. */
#include "judge/jail/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "judge/jail/jail.h"
#include "base/process/serve.h"

/* What is to run, read from a request whose strings it borrows. */
typedef struct order {
  const char *jail, *dir;
  char **argv, **env;
  uint64_t memory;
} order;

/* A NULL-terminated list of an array's texts; NULL where it is none. */
static char **list_of(const cJSON *array) {
  size_t n = 0;
  const cJSON *v;
  if (!cJSON_IsArray(array)) return NULL;
  char **list = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *list);
  if (list == NULL) return NULL;
  cJSON_ArrayForEach(v, array) {
    if ((list[n++] = cJSON_GetStringValue(v)) != NULL) continue;
    free(list);
    return NULL;
  }
  return list;
}

static cawb_status read_order(order *o, const cJSON *request, cawb_err *err) {
  o->jail = cawb_request_text(request, "jail");
  o->dir = cawb_request_text(request, "dir");
  o->argv = list_of(cJSON_GetObjectItemCaseSensitive(request, "argv"));
  o->env = list_of(cJSON_GetObjectItemCaseSensitive(request, "env"));
  cawb_status rc = cawb_request_count(&o->memory, request, "memory", 1ull << 53, err);
  if (rc != CAWB_OK) return rc;
  if (o->memory > 0 && o->jail != NULL && o->dir != NULL && o->env != NULL && o->argv != NULL && o->argv[0] != NULL)
    return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_INVALID, "a jail needs jail, dir, argv, env and memory");
}

static cawb_status go_inside(const order *o, cawb_err *err) {
  cawb_status rc = cawb_jail_enter(o->jail, err);
  if (rc == CAWB_OK && chdir(o->dir) != 0)
    rc = cawb_fail_errno(err, CAWB_ERR_IO, "jail: cannot enter %s", o->dir);
  return rc;
}

/* In the jail: nothing of ours goes on but 0, 1 and 2. */
static _Noreturn void become(const order *o) {
  struct rlimit most = { o->memory, o->memory }, now;
  sigset_t none;
  for (int fd = 3; fd < 1024; fd++) close(fd);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);               /* the judge ignores it, and that is inherited */
  if (getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_max < most.rlim_max)
    most.rlim_cur = most.rlim_max = now.rlim_max;
  if (setrlimit(RLIMIT_AS, &most) == 0)   /* not before: a sanitizer reserves terabytes */
    execve(o->argv[0], o->argv, o->env);
  const char *why = strerror(errno);
  ssize_t ignored = write(2, why, strlen(why));
  (void)ignored;
  _exit(127);
}

static int reply(int fd, cawb_status rc, const cawb_err *why) {
  cawb_err err;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "ok", rc == CAWB_OK);
  if (rc != CAWB_OK) {
    cJSON_AddStringToObject(json, "name", cawb_status_name(rc));
    cJSON_AddStringToObject(json, "message", why->msg);
  }
  rc = cawb_message_send(fd, json, NULL, 0, cawb_clock_now() + 10, &err);
  cJSON_Delete(json);
  return rc == CAWB_OK;
}

int cawb_confined_main(int fd) {
  cawb_message m;
  cawb_err err = { CAWB_OK, "" };
  order o = { .memory = 0 };
  if (cawb_message_receive(fd, &m, CAWB_MESSAGE_MAX, CAWB_FOREVER, &err) != CAWB_OK) return 1;
  cawb_status rc = read_order(&o, m.json, &err);
  if (rc == CAWB_OK) rc = go_inside(&o, &err);
  int told = reply(fd, rc, &err);
  if (rc == CAWB_OK && told) become(&o);
  free(o.argv);
  free(o.env);
  cawb_message_free(&m);
  return 1;
}

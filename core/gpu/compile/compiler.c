/* compiler.c - see compiler.h. */
#include "gpu/compile/compiler.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gpu/compile/compile.h"
#include "base/process/serve.h"

enum { MOST_WORDS = 256 };      /* defines or options in one request */

typedef struct server {
  cawb_compiler *compiler;
  cawb_places places;
  const char *cache, *headers;
  char scratch[PATH_MAX];       /* ours alone; "" where none could be made */
  size_t pch_bytes;
} server;

/* ---- a scratch folder named after this process, inside the cache ---- */

static void remove_folder(const char *path) {
  char file[PATH_MAX + 520];
  DIR *d = opendir(path);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    snprintf(file, sizeof file, "%s/%s", path, e->d_name);
    unlink(file);               /* "." and ".." refuse */
  }
  if (d != NULL) closedir(d);
  rmdir(path);
}

/* Folders of compilers that were killed before they could tidy up. */
static void remove_orphans(const char *parent) {
  char path[PATH_MAX + 260];
  DIR *d = opendir(parent);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    long pid = strtol(e->d_name, NULL, 10);
    if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
    snprintf(path, sizeof path, "%s/%s", parent, e->d_name);
    remove_folder(path);
  }
  if (d != NULL) closedir(d);
}

/* Working from an empty folder, a source finds nothing to include beside it. */
static void make_scratch(server *s) {
  char parent[PATH_MAX];
  snprintf(parent, sizeof parent, "%s/headers", s->cache);
  cawb_folders_make(parent);
  remove_orphans(parent);
  if (snprintf(s->scratch, sizeof s->scratch, "%s/%ld", parent, (long)getpid()) >=
          (int)sizeof s->scratch ||
      (mkdir(s->scratch, 0700) != 0 && errno != EEXIST) || chdir(s->scratch) != 0)
    s->scratch[0] = '\0';
}

/* ---- requests ---- */

/* Leaving out what is no text, or too much, would compile something else. */
static cawb_status check_words(const cJSON *list, const char *what, cawb_err *err) {
  const cJSON *w;
  if (cJSON_GetArraySize(list) > MOST_WORDS)
    return cawb_fail(err, CAWB_ERR_CANDIDATE, "more than %d %s", MOST_WORDS, what);
  cJSON_ArrayForEach(w, list)
    if (!cJSON_IsString(w))
      return cawb_fail(err, CAWB_ERR_INVALID, "compile: one of the %s is no text", what);
  return CAWB_OK;
}

static cawb_status read_defines(cawb_define *out, size_t *n, const cJSON *object,
                                cawb_err *err) {
  const cJSON *d;
  *n = 0;
  cawb_status rc = check_words(object, "defines", err);
  if (rc != CAWB_OK) return rc;
  if (object != NULL && !cJSON_IsObject(object))
    return cawb_fail(err, CAWB_ERR_INVALID, "compile: defines are {name: value}");
  cJSON_ArrayForEach(d, object)
    out[(*n)++] = (cawb_define){ .name = d->string, .value = d->valuestring };
  return CAWB_OK;
}

static cawb_status read_options(const char **out, size_t *n, const cJSON *list, cawb_err *err) {
  const cJSON *w;
  *n = 0;
  cawb_status rc = check_words(list, "options", err);
  if (rc != CAWB_OK) return rc;
  cJSON_ArrayForEach(w, list) out[(*n)++] = w->valuestring;
  return CAWB_OK;
}

static void add_known(cJSON *o, const char *key, long value) {
  if (value >= 0) cJSON_AddNumberToObject(o, key, (double)value);
}

static cJSON *describe_kernel(const cawb_kernel *k) {
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "name", k->plain);
  cJSON_AddNumberToObject(o, "parameters", (double)k->nparams);
  add_known(o, "registers", k->registers);
  add_known(o, "spill_stores", k->spill_stores);
  add_known(o, "spill_loads", k->spill_loads);
  add_known(o, "stack", k->stack);
  add_known(o, "shared", k->shared);
  add_known(o, "constant", k->constant);
  add_known(o, "barriers", k->barriers);
  return o;
}

static void describe(cJSON *reply, const cawb_compile_result *r) {
  if (r->log != NULL) cJSON_AddStringToObject(reply, "log", r->log);
  cJSON_AddNumberToObject(reply, "seconds", r->seconds);
  cJSON_AddBoolToObject(reply, "cached", r->cached);
  cJSON_AddStringToObject(reply, "key", r->key);
  if (!r->ok) return;
  cJSON_AddStringToObject(reply, "ptx", r->ptx);
  cJSON_AddStringToObject(reply, "cubin", r->cubin);
  cJSON *list = cJSON_AddArrayToObject(reply, "kernels");
  for (size_t i = 0; i < r->kernels.count; i++)
    cJSON_AddItemToArray(list, describe_kernel(&r->kernels.list[i]));
}

/* NVRTC is opened by the first request, so that its absence is an answer. */
static cawb_status open_compiler(server *s, cawb_err *err) {
  cawb_compiler_setting setting = { .places = &s->places, .cache = s->cache,
    .scratch = s->scratch[0] != '\0' && s->pch_bytes > 0 ? s->scratch : NULL,
    .pch_bytes = s->pch_bytes, .headers = s->headers };
  return s->compiler != NULL ? CAWB_OK : cawb_compiler_open(&s->compiler, &setting, err);
}

/* {"op":"version"}: which NVRTC compiles here. */
static cawb_status version(server *s, cJSON *reply, cawb_err *err) {
  char text[32];
  int major = 0, minor = 0;
  cawb_status rc = open_compiler(s, err);
  if (rc != CAWB_OK) return rc;
  cawb_compiler_version(s->compiler, &major, &minor);
  snprintf(text, sizeof text, "%d.%d", major, minor);
  cJSON_AddStringToObject(reply, "nvrtc", text);
  cJSON_AddStringToObject(reply, "path", cawb_compiler_library(s->compiler)->path);
  return CAWB_OK;
}

static cawb_status compile(server *s, const cawb_message *m, cJSON *reply, cawb_err *err) {
  cawb_define defines[MOST_WORDS];
  const char *options[MOST_WORDS];
  const char *source = cawb_request_text(m->json, "source");
  const char *arch = cawb_request_text(m->json, "arch");
  cawb_compile_result result;
  if (source == NULL || arch == NULL)
    return cawb_fail(err, CAWB_ERR_INVALID, "compile: a source and an arch are needed");
  cawb_compile_request request = { .source = source, .size = strlen(source), .arch = arch,
    .defines = defines, .options = options };
  cawb_status rc = read_defines(defines, &request.ndefines,
                                cJSON_GetObjectItemCaseSensitive(m->json, "defines"), err);
  if (rc == CAWB_OK)
    rc = read_options(options, &request.noptions,
                      cJSON_GetObjectItemCaseSensitive(m->json, "options"), err);
  if (rc == CAWB_OK) rc = open_compiler(s, err);
  if (rc != CAWB_OK) return rc;
  rc = cawb_compiler_compile(s->compiler, &request, &result, err);
  describe(reply, &result);
  cawb_compile_result_free(&result);
  return rc;
}

static cawb_status handle(void *ctx, const cawb_message *m, cJSON *reply, cawb_err *err) {
  const char *op = cawb_request_text(m->json, "op");
  if (op != NULL && strcmp(op, "version") == 0) return version(ctx, reply, err);
  return compile(ctx, m, reply, err);
}

int cawb_compiler_main(int fd, int argc, char **argv) {
  server s;
  memset(&s, 0, sizeof s);
  if (argc < 3) return 2;
  s.cache = argv[0];
  s.pch_bytes = (size_t)strtoull(argv[1], NULL, 10);
  s.headers = argv[2];
  cawb_places_default(&s.places, argc > 3 ? argv[3] : NULL);
  make_scratch(&s);
  int status = cawb_serve(fd, handle, &s);
  cawb_compiler_close(s.compiler);
  if (s.scratch[0] != '\0') remove_folder(s.scratch);
  return status;
}

/* secret.c - see secret.h. */
#include "base/http/secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { LONGEST = 8192, SHORTEST = 8 };    /* bytes; shorter ones are in any text by chance */

typedef struct secret {
  struct secret *next;
  char *name, *value;                     /* a variable's name, or "file:PATH" */
} secret;

struct cawb_secrets { secret *first; };

static void wipe(char *text) {
  volatile char *p = text;                /* or the compiler leaves it out */
  while (*p != '\0') *p++ = '\0';
}

static void free_secret(secret *k) {
  if (k->value != NULL) wipe(k->value);
  free(k->value);
  free(k->name);
  free(k);
}

static secret *find(const cawb_secrets *s, const char *name) {
  secret *k = s->first;
  while (k != NULL && strcmp(k->name, name) != 0) k = k->next;
  return k;
}

/* The new secret, or NULL without memory. */
static secret *keep(cawb_secrets *s, const char *name, const char *value) {
  secret *k = calloc(1, sizeof *k);
  if (k == NULL) return NULL;
  k->name = strdup(name);
  k->value = strdup(value);
  if (k->name == NULL || k->value == NULL) return free_secret(k), NULL;
  k->next = s->first;
  s->first = k;
  return k;
}

static secret *take(cawb_secrets *s, const char *name) {
  char *value = getenv(name);
  if (value == NULL || *value == '\0') return NULL;
  secret *k = keep(s, name, value);
  if (k == NULL) return NULL;
  wipe(value);
  unsetenv(name);
  return k;
}

static int is_secret(const char *name, size_t length) {
  static const char *const tails[] = { "_API_KEY", "_API_TOKEN", "_AUTH_TOKEN" };
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    size_t n = strlen(tails[i]);
    if (length > n && memcmp(name + length - n, tails[i], n) == 0) return 1;
  }
  return 0;
}

/* One that is still in the environment, into `name`; taking it changes the list. */
static int next_in_environment(char *name, size_t room) {
  for (char **e = environ; e != NULL && *e != NULL; e++) {
    size_t n = strcspn(*e, "=");
    if (!is_secret(*e, n) || (*e)[n] == '\0' || (*e)[n + 1] == '\0' || n >= room) continue;
    memcpy(name, *e, n);
    name[n] = '\0';
    return 1;
  }
  return 0;
}

cawb_status cawb_secrets_new(cawb_secrets **out, cawb_err *err) {
  char name[256];
  *out = NULL;
  cawb_secrets *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for keys");
  while (next_in_environment(name, sizeof name)) {
    if (take(s, name) == NULL) {
      cawb_secrets_free(s);
      return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for keys");
    }
  }
  *out = s;
  return CAWB_OK;
}

void cawb_secrets_free(cawb_secrets *s) {
  if (s == NULL) return;
  for (secret *k = s->first, *next; k != NULL; k = next) {
    next = k->next;
    free_secret(k);
  }
  free(s);
}

const char *cawb_secrets_env(cawb_secrets *s, const char *name) {
  secret *k = take(s, name);              /* a newer value comes before an older one */
  if (k == NULL) k = find(s, name);
  return k != NULL ? k->value : NULL;
}

const char *cawb_secrets_file(cawb_secrets *s, const char *path, cawb_err *err) {
  char line[LONGEST], name[LONGEST + 8];
  FILE *f = fopen(path, "re");
  if (f == NULL) {
    cawb_fail_errno(err, errno == ENOENT ? CAWB_ERR_MISSING : CAWB_ERR_IO, "the key file %s", path);
    return NULL;
  }
  size_t n = fread(line, 1, sizeof line - 1, f);
  fclose(f);
  line[n] = '\0';
  line[strcspn(line, "\r\n")] = '\0';
  if (*line == '\0') {
    cawb_fail(err, CAWB_ERR_INVALID, "the key file %s has no key on its first line", path);
    return NULL;
  }
  snprintf(name, sizeof name, "file:%s", path);
  secret *k = find(s, name);
  if (k == NULL || strcmp(k->value, line) != 0) k = keep(s, name, line);
  wipe(line);
  if (k == NULL) cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a key");
  return k != NULL ? k->value : NULL;
}

static size_t matches(const secret *k, const char *text, size_t size) {
  size_t n = strlen(k->value);
  return n >= SHORTEST && n <= size && memcmp(text, k->value, n) == 0 ? n : 0;
}

void cawb_secrets_redact(const cawb_secrets *s, const char *text, size_t size, cawb_bytes *out) {
  size_t from = 0, at = 0;
  while (at < size) {
    size_t n = 0;
    for (const secret *k = s->first; k != NULL && n == 0; k = k->next)
      n = matches(k, text + at, size - at);
    if (n == 0) { at++; continue; }
    cawb_bytes_add(out, text + from, at - from);
    cawb_bytes_text(out, "[key]");
    at += n;
    from = at;
  }
  cawb_bytes_add(out, text + from, size - from);
}

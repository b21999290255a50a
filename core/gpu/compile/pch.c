/*
** pch.c - see pch.h. NVRTC writes a file by name and reads one by name; in
** between the name is removed and /proc/self/fd/N stands for it.
*/
#include "gpu/compile/pch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"

/* More sets of headers than this are not told apart; the oldest is forgotten. */
enum { ENTRIES = 32, OPTIONS = 32 };

typedef struct entry {
  char key[65];                /* "": free */
  int fd;                      /* -1: could not be made or used */
  size_t bytes;
  unsigned long used;          /* the `clock` of the last use */
} entry;

struct cawb_pch {
  char folder[4000];
  size_t most;
  unsigned long clock;
  entry entries[ENTRIES];
  entry *last;                 /* found last */
  char path[64];
};

static void empty(entry *e) {
  if (e->key[0] != '\0' && e->fd >= 0) close(e->fd);
  memset(e, 0, sizeof *e);
  e->fd = -1;
}

cawb_status cawb_pch_open(cawb_pch **out, const char *folder, size_t most, cawb_err *err) {
  *out = NULL;
  cawb_pch *p = calloc(1, sizeof *p);
  if (p == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for precompiled headers");
  p->most = most;
  if (snprintf(p->folder, sizeof p->folder, "%s", folder) >= (int)sizeof p->folder) {
    free(p);
    return cawb_fail(err, CAWB_ERR_INVALID, "the folder's name is too long: %.200s", folder);
  }
  *out = p;
  return CAWB_OK;
}

void cawb_pch_close(cawb_pch *p) {
  if (p == NULL) return;
  for (int i = 0; i < ENTRIES; i++) empty(&p->entries[i]);
  free(p);
}

void cawb_pch_prefix(cawb_bytes *out, const char *headers) {
  cawb_bytes_text(out, headers);
  cawb_bytes_text(out, "#pragma nv_hdrstop\n");
}

/* The register limit is ptxas' affair; everything else may change what headers mean. */
static int matters(const char *option) { return strncmp(option, "-maxrregcount", 13) != 0; }

static void key_of(char key[65], const char *headers, const char *const *options, int count) {
  cawb_sha256 s;
  cawb_sha256_start(&s);
  cawb_sha256_field(&s, headers, strlen(headers));
  for (int i = 0; i < count; i++)
    if (matters(options[i])) cawb_sha256_field(&s, options[i], strlen(options[i]));
  cawb_sha256_end_hex(&s, key);
}

/* The entry called `key`, else the one to overwrite: a free one or the oldest. */
static entry *lookup(cawb_pch *p, const char *key) {
  entry *oldest = p->entries;
  for (int i = 0; i < ENTRIES; i++) {
    if (strcmp(p->entries[i].key, key) == 0) return &p->entries[i];
    if (p->entries[i].used < oldest->used) oldest = &p->entries[i];
  }
  return oldest;
}

/* Give up the oldest until all fit; the newest itself if it is too big alone. */
static void shrink(cawb_pch *p) {
  for (;;) {
    size_t total = 0;
    entry *oldest = NULL;
    for (int i = 0; i < ENTRIES; i++) {
      entry *e = &p->entries[i];
      total += e->bytes;
      if (e->bytes > 0 && (oldest == NULL || e->used < oldest->used)) oldest = e;
    }
    if (total <= p->most || oldest == NULL) return;
    if (oldest != p->last) {
      empty(oldest);
    } else {
      cawb_pch_refuse(p);
      return;
    }
  }
}

/* Compile the headers alone; NVRTC leaves the file behind as a side effect. */
static void create(entry *e, cawb_nvrtc *n, const char *file, const char *headers,
                   const char *const *options, int count) {
  const char *all[OPTIONS + 2];
  char option[4200];
  cawb_bytes source = { 0 };
  cawb_nvrtc_output output = { 0 };
  struct stat st;
  int used = 0;
  for (int i = 0; i < count && used < OPTIONS; i++)
    if (matters(options[i])) all[used++] = options[i];
  snprintf(option, sizeof option, "--create-pch=%s", file);
  all[used++] = option;
  all[used++] = "--pch-messages=false";
  cawb_pch_prefix(&source, headers);
  if (!source.failed
      && cawb_nvrtc_compile(n, source.data, "kernel.cu", all, used, &output, NULL) == CAWB_OK) {
    e->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (e->fd >= 0 && fstat(e->fd, &st) == 0) e->bytes = (size_t)st.st_size;
  }
  cawb_nvrtc_output_free(&output);
  cawb_bytes_free(&source);
}

static void make(cawb_pch *p, entry *e, cawb_nvrtc *n, const char *headers,
                 const char *const *options, int count) {
  char file[4096];
  snprintf(file, sizeof file, "%s/cawb-XXXXXX.pch", p->folder);
  int fd = mkostemps(file, 4, O_CLOEXEC);
  if (fd < 0) return;
  close(fd);
  create(e, n, file, headers, options, count);
  unlink(file);
  if (e->bytes > 0) shrink(p);
  else cawb_pch_refuse(p);
}

const char *cawb_pch_find(cawb_pch *p, cawb_nvrtc *n, const char *headers,
                          const char *const *options, int count) {
  char key[65];
  key_of(key, headers, options, count);
  entry *e = p->last = lookup(p, key);
  int fresh = strcmp(e->key, key) != 0;
  if (fresh) {
    empty(e);
    memcpy(e->key, key, sizeof key);
  }
  e->used = ++p->clock;
  if (fresh) make(p, e, n, headers, options, count);
  if (e->fd < 0) return NULL;
  snprintf(p->path, sizeof p->path, "/proc/self/fd/%d", e->fd);
  return p->path;
}

void cawb_pch_refuse(cawb_pch *p) {
  entry *e = p->last;
  if (e == NULL) return;
  if (e->fd >= 0) close(e->fd);
  e->fd = -1;
  e->bytes = 0;
}

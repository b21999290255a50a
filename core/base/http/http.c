/* http.c - see http.h. The only file that includes curl.h. */
#define CURL_DISABLE_TYPECHECK            /* its macros would take the place of the pointers */
#include <curl/curl.h>

#include "base/http/http.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/process/interrupt.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

/* X(name): every function that is used. */
#define FUNCTIONS(X) X(global_init) X(global_cleanup) X(version_info) X(easy_init) \
  X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_strerror) X(multi_init) \
  X(multi_cleanup) X(multi_add_handle) X(multi_remove_handle) X(multi_perform) X(multi_poll) \
  X(multi_info_read) X(multi_strerror) X(multi_setopt) X(slist_append) X(slist_free_all)

typedef struct api {
#define DECLARE(name) __typeof__(curl_##name) *name;
  FUNCTIONS(DECLARE)
#undef DECLARE
} api;

enum { HEADERS = 1 << 16, CONNECTIONS = 256 };

struct cawb_http {
  api c;
  void *library;
  CURLM *multi;
  int ready;                        /* global_init was called */
  cawb_transfer *first;             /* those not closed yet */
};

struct cawb_transfer {
  cawb_transfer *next, **link;      /* in the list of its http */
  cawb_http *http;                  /* NULL once that was closed */
  CURL *easy;
  struct curl_slist *headers;
  char *body;
  cawb_bytes got, lines;            /* the reply's bytes not taken yet; its header lines */
  size_t taken, total, limit;       /* taken: of `got`, at the next wait dropped */
  long status;
  cawb_ending ending;
  char message[CURL_ERROR_SIZE];
};

const char *cawb_ending_name(cawb_ending e) {
  static const char *const names[CAWB_ENDINGS] = {
    "running", "ended", "resolve", "connect", "connect_timeout", "tls", "cut", "too_large",
    "malformed", "failed"
  };
  return names[e];
}

static cawb_ending ending_of(const cawb_transfer *t, CURLcode code) {
  switch (code) {
    case CURLE_OK: return CAWB_ENDED;
    case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_RESOLVE_PROXY: return CAWB_END_RESOLVE;
    case CURLE_COULDNT_CONNECT: return CAWB_END_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: return CAWB_END_CONNECT_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR: case CURLE_PEER_FAILED_VERIFICATION: case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER: case CURLE_SSL_ISSUER_ERROR: case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return CAWB_END_TLS;
    case CURLE_PARTIAL_FILE: case CURLE_RECV_ERROR: case CURLE_GOT_NOTHING: case CURLE_SEND_ERROR:
    case CURLE_HTTP2: case CURLE_HTTP2_STREAM: case CURLE_SEND_FAIL_REWIND: return CAWB_END_CUT;
    case CURLE_WEIRD_SERVER_REPLY: case CURLE_UNSUPPORTED_PROTOCOL: case CURLE_BAD_CONTENT_ENCODING:
      return CAWB_END_MALFORMED;
    case CURLE_WRITE_ERROR:
      return t->total > t->limit ? CAWB_END_TOO_LARGE : CAWB_END_FAILED;
    default: return CAWB_END_FAILED;
  }
}

/* ---- the library ---- */

static int load(cawb_http *h) {
  static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so" };
  for (size_t i = 0; i < sizeof names / sizeof *names && h->library == NULL; i++)
    h->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (h->library == NULL) return 0;
#define FIND(name) if ((h->c.name = (__typeof__(h->c.name))dlsym(h->library, "curl_" #name)) == NULL) return 0;
  FUNCTIONS(FIND)
#undef FIND
  return 1;
}

cawb_status cawb_http_open(cawb_http **out, cawb_err *err) {
  *out = NULL;
  cawb_http *h = calloc(1, sizeof *h);
  if (h == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for HTTP");
  cawb_status rc;
  if (!load(h)) {
    rc = cawb_fail(err, CAWB_ERR_MISSING, "libcurl 7.66 or newer is not on this machine: install "
                   "what Debian calls libcurl4 (cawb.ask needs it, nothing else does)");
  } else {
    h->ready = h->c.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    h->multi = h->ready ? h->c.multi_init() : NULL;
    if (h->multi != NULL) h->c.multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS);
    rc = h->multi != NULL ? CAWB_OK : cawb_fail(err, CAWB_ERR_MEMORY, "libcurl does not start");
  }
  if (rc == CAWB_OK) *out = h;
  else cawb_http_close(h);
  return rc;
}

/* Out of libcurl; what it received stays. */
static void detach(cawb_transfer *t) {
  cawb_http *h = t->http;
  if (h == NULL) return;
  h->c.multi_remove_handle(h->multi, t->easy);
  h->c.easy_cleanup(t->easy);
  h->c.slist_free_all(t->headers);
  t->easy = NULL;
  t->headers = NULL;
  t->http = NULL;
  *t->link = t->next;
  if (t->next != NULL) t->next->link = t->link;
  if (t->ending == CAWB_RUNNING) {
    t->ending = CAWB_END_FAILED;
    snprintf(t->message, sizeof t->message, "it was closed");
  }
}

void cawb_http_close(cawb_http *h) {
  if (h == NULL) return;
  while (h->first != NULL) detach(h->first);
  if (h->multi != NULL) h->c.multi_cleanup(h->multi);
  if (h->ready) h->c.global_cleanup();
  if (h->library != NULL) dlclose(h->library);
  free(h);
}

const char *cawb_http_version(const cawb_http *h) {
  return h->c.version_info(CURLVERSION_NOW)->version;
}

/* ---- a transfer ---- */

static size_t on_body(char *bytes, size_t one, size_t n, void *context) {
  cawb_transfer *t = context;
  t->total += one * n;
  if (t->total > t->limit) return 0;                /* which ends it */
  cawb_bytes_add(&t->got, bytes, one * n);
  return t->got.failed ? 0 : one * n;
}

/* A reply may have several heads (100, then 200): the last one counts. */
static size_t on_header(char *bytes, size_t one, size_t n, void *context) {
  cawb_transfer *t = context;
  if (n >= 5 && memcmp(bytes, "HTTP/", 5) == 0) cawb_bytes_free(&t->lines);
  if (t->lines.size + n > HEADERS) return 0;
  cawb_bytes_add(&t->lines, bytes, one * n);
  return t->lines.failed ? 0 : one * n;
}

static int add_headers(cawb_transfer *t, const cawb_http_request *r) {
  const api *c = &t->http->c;
  t->headers = c->slist_append(NULL, "Expect:");    /* no wait for a 100 */
  for (size_t i = 0; t->headers != NULL && r->headers != NULL && r->headers[i] != NULL; i++) {
    struct curl_slist *longer = c->slist_append(t->headers, r->headers[i]);
    if (longer == NULL) return 0;
    t->headers = longer;
  }
  return t->headers != NULL;
}

static int set_up(cawb_transfer *t, const cawb_http_request *r) {
  const api *c = &t->http->c;
  if (!add_headers(t, r)) return 0;
  int bad = 0;
#define SET(option, value) bad |= c->easy_setopt(t->easy, CURLOPT_##option, value) != CURLE_OK
  SET(URL, r->url);
  SET(NOSIGNAL, 1L);
  SET(FOLLOWLOCATION, 0L);
  SET(SSL_VERIFYPEER, 1L);
  SET(SSL_VERIFYHOST, 2L);
  SET(HTTPHEADER, t->headers);
  SET(CONNECTTIMEOUT_MS, (long)(r->connect * 1e3) + 1);
  SET(ERRORBUFFER, t->message);
  SET(WRITEFUNCTION, on_body);
  SET(WRITEDATA, (void *)t);
  SET(HEADERFUNCTION, on_header);
  SET(HEADERDATA, (void *)t);
  SET(PRIVATE, (void *)t);
  SET(TCP_KEEPALIVE, 1L);
  if (r->ca != NULL) SET(CAINFO, r->ca);
  if (t->body != NULL) {
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
    SET(POSTFIELDS, t->body);
  }
#undef SET
  return !bad;
}

static int copy_body(cawb_transfer *t, const cawb_http_request *r) {
  if (r->body == NULL) return 1;
  t->body = malloc(r->size + 1);
  if (t->body == NULL) return 0;
  memcpy(t->body, r->body, r->size);
  t->body[r->size] = '\0';
  return 1;
}

static void enlist(cawb_http *h, cawb_transfer *t) {
  t->http = h;
  t->link = &h->first;
  t->next = h->first;
  if (h->first != NULL) h->first->link = &t->next;
  h->first = t;
}

cawb_status cawb_http_start(cawb_http *h, const cawb_http_request *r, cawb_transfer **out,
                            cawb_err *err) {
  *out = NULL;
  if (strncmp(r->url, "https://", 8) != 0 && strncmp(r->url, "http://", 7) != 0)
    return cawb_fail(err, CAWB_ERR_INVALID, "'%.100s': an address begins with https:// or http://",
                     r->url);
  cawb_transfer *t = calloc(1, sizeof *t);
  if (t == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a request");
  t->limit = r->limit;
  t->easy = h->c.easy_init();
  if (t->easy != NULL) enlist(h, t);
  if (t->easy == NULL || !copy_body(t, r) || !set_up(t, r) ||
      h->c.multi_add_handle(h->multi, t->easy) != CURLM_OK) {
    cawb_transfer_close(t);
    return cawb_fail(err, CAWB_ERR_INVALID, "libcurl does not take a request to %.200s", r->url);
  }
  *out = t;
  return CAWB_OK;
}

/* ---- moving on ---- */

static void finish(cawb_http *h, const CURLMsg *m) {
  cawb_transfer *t = NULL;
  h->c.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
  t->ending = ending_of(t, m->data.result);
  h->c.easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &t->status);
  if (t->ending == CAWB_ENDED) t->message[0] = '\0';
  else if (t->message[0] == '\0')
    snprintf(t->message, sizeof t->message, "%s", h->c.easy_strerror(m->data.result));
  detach(t);
}

static void forget_taken(cawb_http *h) {
  for (cawb_transfer *t = h->first; t != NULL; t = t->next) {
    if (t->taken == 0) continue;
    t->got.size -= t->taken;
    memmove(t->got.data, t->got.data + t->taken, t->got.size + 1);
    t->taken = 0;
  }
}

static CURLMcode move(cawb_http *h) {
  int running, left;
  CURLMcode rc = h->c.multi_perform(h->multi, &running);
  for (CURLMsg *m; (m = h->c.multi_info_read(h->multi, &left)) != NULL;)
    if (m->msg == CURLMSG_DONE) finish(h, m);
  return rc;
}

/* Whether somebody has something to read. */
static int has_news(const cawb_http *h, const cawb_transfer *before) {
  if (h->first != before) return 1;       /* the first one ended */
  for (const cawb_transfer *t = h->first; t != NULL; t = t->next)
    if (t->got.size > t->taken) return 1;
  return 0;
}

static size_t count(const cawb_http *h) {
  size_t n = 0;
  for (const cawb_transfer *t = h->first; t != NULL; t = t->next) n++;
  return n;
}

cawb_status cawb_http_wait(cawb_http *h, const int *fds, size_t nfds, double seconds, cawb_err *err) {
  if (cawb_interrupted()) return cawb_fail(err, CAWB_ERR_INTERRUPTED, "interrupted");
  struct curl_waitfd *extra = calloc(nfds + 1, sizeof *extra);
  if (extra == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for waiting");
  for (size_t i = 0; i < nfds; i++) extra[i] = (struct curl_waitfd){ .fd = fds[i], .events = CURL_WAIT_POLLIN };
  forget_taken(h);
  size_t running = count(h);
  const cawb_transfer *before = h->first;
  CURLMcode rc = move(h);
  int ms = !(seconds > 0) ? 0 : seconds > 3600 ? 3600000 : (int)(seconds * 1e3) + 1;
  if (rc == CURLM_OK && ms > 0 && count(h) == running && !has_news(h, before)) {
    rc = h->c.multi_poll(h->multi, extra, (unsigned)nfds, ms, NULL);
    if (rc == CURLM_OK) rc = move(h);
  }
  free(extra);
  if (cawb_interrupted()) return cawb_fail(err, CAWB_ERR_INTERRUPTED, "interrupted");
  if (rc == CURLM_OK) return CAWB_OK;
  return cawb_fail(err, CAWB_ERR_IO, "libcurl: %s", h->c.multi_strerror(rc));
}

cawb_ending cawb_transfer_ending(const cawb_transfer *t) { return t->ending; }
const char *cawb_transfer_message(const cawb_transfer *t) { return t->message; }

long cawb_transfer_status(const cawb_transfer *t) {
  long status = t->status;
  if (status == 0 && t->http != NULL && t->lines.size > 0)
    t->http->c.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/* "Name: value" at `line`, which has `size` bytes: the value into `out`, without blanks. */
static int take_header(const char *line, size_t size, const char *name, char *out, size_t room) {
  size_t n = strlen(name);
  if (size <= n || line[n] != ':' || strncasecmp(line, name, n) != 0) return 0;
  const char *from = line + n + 1, *end = line + size;
  while (from < end && (*from == ' ' || *from == '\t')) from++;
  while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  snprintf(out, room, "%.*s", (int)(end - from), from);
  return 1;
}

int cawb_transfer_header(const cawb_transfer *t, const char *name, char *out, size_t room) {
  const char *line = t->lines.data, *end = line + t->lines.size;
  if (line == NULL) return 0;
  while (line < end) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    size_t size = (size_t)((stop != NULL ? stop : end) - line);
    if (take_header(line, size, name, out, room)) return 1;
    line += size + 1;
  }
  return 0;
}

const char *cawb_transfer_take(cawb_transfer *t, size_t *size) {
  if (t->http == NULL && t->taken > 0) {            /* no wait will forget it */
    t->got.size -= t->taken;
    memmove(t->got.data, t->got.data + t->taken, t->got.size + 1);
    t->taken = 0;
  }
  const char *from = t->got.data != NULL ? t->got.data + t->taken : "";
  *size = t->got.size - t->taken;
  t->taken = t->got.size;
  return from;
}

void cawb_transfer_close(cawb_transfer *t) {
  if (t == NULL) return;
  if (t->http != NULL) detach(t);
  cawb_bytes_free(&t->got);
  cawb_bytes_free(&t->lines);
  free(t->body);
  free(t);
}

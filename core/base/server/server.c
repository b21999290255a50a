/*
** server.c - see server.h. This and lines.c know civetweb. It is built without files, scripts and
** CGI in mind: a handler for every path is all that it serves.
*/
#include "base/server/connection.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/sha256.h"
#include "base/server/lines.h"
#include "base/server/reader.h"

int cawb_server_same(const char *a, const char *b) {
  unsigned char x[32], y[32], differ = 0;
  cawb_sha256 s;
  cawb_sha256_start(&s);
  cawb_sha256_add(&s, a, strlen(a));
  cawb_sha256_end(&s, x);
  cawb_sha256_start(&s);
  cawb_sha256_add(&s, b, strlen(b));
  cawb_sha256_end(&s, y);
  for (size_t i = 0; i < sizeof x; i++) differ |= (unsigned char)(x[i] ^ y[i]);
  return differ == 0;
}

/* ---- who may come in */

/* "127.0.0.1:8000", "[::1]:8000" and "localhost" are this machine's own names. */
static int is_local_name(const char *host) {
  static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i]);
    if (strncasecmp(host, names[i], n) == 0 && (host[n] == '\0' || host[n] == ':')) return 1;
  }
  return 0;
}

static int has_token(const cawb_server *s, const struct mg_connection *c) {
  const char *given = mg_get_header(c, "Authorization");
  int bearer = given != NULL && strncasecmp(given, "Bearer ", 7) == 0;
  return cawb_server_same(bearer ? given + 7 : "", s->token) && bearer;
}

static int is_the_page(const struct mg_connection *c) {
  const struct mg_request_info *info = mg_get_request_info(c);
  return strcmp(info->request_method, "GET") == 0 && info->local_uri != NULL && strcmp(info->local_uri, "/") == 0;
}

/* Whether a page that comes from here asks: of any other page the origin is another one. */
static int is_own_origin(const char *origin, const char *host) {
  return host != NULL && strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

int cawb_server_refusal(const cawb_server *s, const struct mg_connection *c) {
  const char *host = mg_get_header(c, "Host"), *origin = mg_get_header(c, "Origin");
  if (s->token != NULL) return has_token(s, c) || (s->page && is_the_page(c)) ? 0 : 401;
  if (origin != NULL && !(s->page && is_own_origin(origin, host))) return 403;
  return host == NULL || s->guests || is_local_name(host) ? 0 : 403;
}

const char *cawb_server_reason(int status) {
  switch (status) {
    case 401: return "this server wants its token: send the header 'Authorization: Bearer TOKEN'";
    case 403: return "web pages and foreign names are refused here: start the server with --token-file to let them in";
    case 408: return "the body came too slowly";
    case 411: return "a body needs a Content-Length";
    case 413: return "the body is larger than this server takes";
    case 503: return "too much is waiting, or the server is stopping: try again later";
    default: return "the request cannot be answered";
  }
}

/* ---- answers */

static void write_answer(struct mg_connection *c, int status, const char *type, const char *extra,
                         const char *body, size_t size) {
  mg_printf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: %s\r\n%s\r\n", status,
            mg_get_response_code_text(c, status), type, size, status >= 400 ? "close" : "keep-alive", extra);
  if (size > 0) mg_write(c, body, size);
}

int cawb_server_refuse(struct mg_connection *c, int status) {
  char body[256];
  int n = snprintf(body, sizeof body, "{\"error\":\"%s\"}\n", cawb_server_reason(status));
  write_answer(c, status, "application/json", status == 503 ? "Retry-After: 1\r\n" : "", body, (size_t)n);
  return status;
}

static const char *text_of(const cawb_bytes *b) { return b->data != NULL ? b->data : ""; }

/* ---- requests */

static void add_headers(cawb_bytes *to, const struct mg_request_info *info) {
  for (int i = 0; i < info->num_headers; i++) {
    const char *name = info->http_headers[i].name;
    if (strcasecmp(name, "Authorization") == 0) continue;
    size_t from = to->size;
    cawb_bytes_print(to, "%s: %s\n", name, info->http_headers[i].value);
    for (size_t k = from; k < to->size && to->data[k] != ':'; k++)
      if (to->data[k] >= 'A' && to->data[k] <= 'Z') to->data[k] += 32;
  }
}

cawb_asked *cawb_server_describe(const struct mg_connection *c, cawb_asked_kind kind, uint64_t number) {
  const struct mg_request_info *info = mg_get_request_info(c);
  cawb_asked *a = cawb_asked_new(kind);
  if (a == NULL) return NULL;
  a->connection = number;
  a->method = strdup(info->request_method);
  a->path = strdup(info->local_uri != NULL ? info->local_uri : "");
  a->query = strdup(info->query_string != NULL ? info->query_string : "");
  a->remote = strdup(info->remote_addr);
  if (kind == CAWB_ASKED_HTTP || kind == CAWB_ASKED_OPEN) add_headers(&a->headers, info);
  if (a->method != NULL && a->path != NULL && a->query != NULL && a->remote != NULL && !a->headers.failed) return a;
  cawb_asked_drop(a);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The body, whole: 0, or the status to refuse with. A sender that is slower than SLOWEST loses its thread: civetweb bounds the
** time of each read alone. */
static int read_body(const cawb_server *s, struct mg_connection *c, cawb_bytes *body) {
  enum { SLOWEST = 16384 };               /* bytes a second, after the time that a read may take */
  long long announced = mg_get_request_info(c)->content_length;
  char piece[16384];
  if (announced > (long long)s->body) return 413;
  double from = now();
  for (int n; (n = mg_read(c, piece, sizeof piece)) > 0;) {
    cawb_bytes_add(body, piece, (size_t)n);
    if (body->size > s->body || body->failed) return 413;
    if (now() - from > s->idle + (double)body->size / SLOWEST) return 408;
  }
  return announced > 0 && body->size < (size_t)announced ? 400 : 0;
}

static int answer_request(struct mg_connection *c, void *data) {
  cawb_server *s = data;
  s->busy++;
  int status = cawb_server_refusal(s, c);
  cawb_asked *a = status == 0 ? cawb_server_describe(c, CAWB_ASKED_HTTP, 0) : NULL;
  if (status == 0) status = a == NULL ? 503 : read_body(s, c, &a->body);
  if (status == 0) status = cawb_queue_ask(s->queue, a);
  if (status != 0) cawb_server_refuse(c, status);
  else
    write_answer(c, a->status, a->type.size > 0 ? a->type.data : "application/json", text_of(&a->extra),
                 text_of(&a->answer), a->answer.size);
  if (status == 0) status = a->status;
  cawb_asked_drop(a);
  s->busy--;
  return status;
}

/* ---- starting and stopping */

static int quiet(const struct mg_connection *c, const char *message) {
  (void)c;
  (void)message;
  return 1;
}

/* Signals belong to the thread that answers: threads start with all of them blocked. */
static struct mg_context *start(struct mg_init_data *init, struct mg_error_data *error) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct mg_context *context = mg_start2(init, error);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return context;
}

static cawb_status listen_on(cawb_server *s, const cawb_server_options *o, cawb_err *err) {
  char address[256], threads[16], idle[24], session[24], why[256] = "";
  struct mg_callbacks callbacks = { .log_message = quiet, .log_access = quiet };
  struct mg_error_data error = { .text = why, .text_buffer_size = sizeof why };
  struct mg_server_port port;
  snprintf(address, sizeof address, strchr(o->host, ':') != NULL ? "[%s]:%d" : "%s:%d", o->host, o->port);
  snprintf(threads, sizeof threads, "%d", o->threads);
  snprintf(idle, sizeof idle, "%.0f", o->idle * 1e3);
  snprintf(session, sizeof session, "%.0f", o->session * 1e3);
  const char *options[] = { "listening_ports", address, "num_threads", threads, "request_timeout_ms", idle,
                            "websocket_timeout_ms", session, "enable_keep_alive", "yes", "keep_alive_timeout_ms", "5000",
                            "tcp_nodelay", "1", "decode_url", "no", NULL };
  struct mg_init_data init = { .callbacks = &callbacks, .user_data = s, .configuration_options = options };
  s->context = start(&init, &error);
  if (s->context == NULL)
    return cawb_fail(err, CAWB_ERR_IO, "cannot listen on %s: %s", address, *why != '\0' ? why : "is the port taken?");
  if (mg_get_server_ports(s->context, 1, &port) == 1) s->port = port.port;
  mg_set_request_handler(s->context, "**", answer_request, s);
  cawb_lines_serve(s);
  return CAWB_OK;
}

cawb_status cawb_server_open(cawb_server **out, const cawb_server_options *o, cawb_err *err) {
  enum { WAITING = 4096 };
  *out = NULL;
  cawb_server *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a server");
  s->body = o->body;
  s->idle = o->idle;
  s->page = o->page;
  s->guests = o->guests;
  cawb_status rc = cawb_queue_new(&s->queue, WAITING, err);
  if (rc == CAWB_OK) rc = cawb_reader_new(&s->reader, o->session, err);
  if (rc == CAWB_OK && o->token != NULL && (s->token = strdup(o->token)) == NULL)
    rc = cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a token");
  if (rc == CAWB_OK) {
    mg_init_library(MG_FEATURES_WEBSOCKET);
    rc = listen_on(s, o, err);
  }
  if (rc == CAWB_OK) *out = s;
  else cawb_server_free(s);
  return rc;
}

int cawb_server_port(const cawb_server *s) { return s->port; }
cawb_queue *cawb_server_queue(cawb_server *s) { return s->queue; }

/* civetweb writes nothing more once it is told to stop: answers that are on their way come first. */
static void await_answers(cawb_server *s) {
  enum { TRIES = 5000 };
  const struct timespec moment = { .tv_nsec = 1000000 };
  for (int i = 0; i < TRIES && s->busy > 0; i++) nanosleep(&moment, NULL);
}

void cawb_server_stop(cawb_server *s) {
  struct mg_context *context = s->context;
  s->context = NULL;
  if (context == NULL) return;
  cawb_queue_close(s->queue);
  cawb_reader_stop(s->reader);
  await_answers(s);
  mg_stop(context);
  mg_exit_library();
}

void cawb_server_free(cawb_server *s) {
  if (s == NULL) return;
  cawb_server_stop(s);
  cawb_reader_free(s->reader);
  cawb_queue_free(s->queue);
  if (s->token != NULL) explicit_bzero(s->token, strlen(s->token));
  free(s->token);
  free(s);
}

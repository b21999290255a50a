/*
** server.c - see server.h. The one file that knows civetweb. It is built without files, scripts and
** CGI in mind: a handler for every path is all that it serves.
*/
#include "serve/server.h"

#include <civetweb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/sha256.h"
#include "serve/frames.h"

struct cawb_server {
  struct mg_context *context;
  cawb_queue *queue;
  char *token;
  size_t body;
  int port;
  atomic_uint_fast64_t connections;
  atomic_int busy;            /* threads between a request and the end of its answer */
};

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

/* 0, or the status to refuse a connection with. */
static int refusal(const cawb_server *s, const struct mg_connection *c) {
  const char *host = mg_get_header(c, "Host");
  if (s->token != NULL) return has_token(s, c) ? 0 : 401;
  if (mg_get_header(c, "Origin") != NULL) return 403;
  return host == NULL || is_local_name(host) ? 0 : 403;
}

static const char *reason_of(int status) {
  switch (status) {
    case 401: return "this server wants its token: send the header 'Authorization: Bearer TOKEN'";
    case 403: return "web pages and foreign names are refused here: start the server with --token-file to let them in";
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

static int refuse(struct mg_connection *c, int status) {
  char body[256];
  int n = snprintf(body, sizeof body, "{\"error\":\"%s\"}\n", reason_of(status));
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

/* What is known of a request before its body; NULL: no memory. */
static cawb_asked *describe(const struct mg_connection *c, cawb_asked_kind kind, uint64_t number) {
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

/* The body, whole: 0, or the status to refuse with. */
static int read_body(const cawb_server *s, struct mg_connection *c, cawb_bytes *body) {
  long long announced = mg_get_request_info(c)->content_length;
  char piece[16384];
  if (announced > (long long)s->body) return 413;
  for (int n; (n = mg_read(c, piece, sizeof piece)) > 0;) {
    cawb_bytes_add(body, piece, (size_t)n);
    if (body->size > s->body || body->failed) return 413;
  }
  return announced > 0 && body->size < (size_t)announced ? 400 : 0;
}

static int answer_request(struct mg_connection *c, void *data) {
  cawb_server *s = data;
  s->busy++;
  int status = refusal(s, c);
  cawb_asked *a = status == 0 ? describe(c, CAWB_ASKED_HTTP, 0) : NULL;
  if (status == 0) status = a == NULL ? 503 : read_body(s, c, &a->body);
  if (status == 0) status = cawb_queue_ask(s->queue, a);
  if (status != 0) refuse(c, status);
  else
    write_answer(c, a->status, a->type.size > 0 ? a->type.data : "application/json", text_of(&a->extra),
                 text_of(&a->answer), a->answer.size);
  if (status == 0) status = a->status;
  cawb_asked_drop(a);
  s->busy--;
  return status;
}

/* ---- WebSockets: a line of messages, each answered before the next is read */

typedef struct line {
  cawb_server *server;
  struct mg_connection *connection;
  uint64_t number;
  cawb_frames frames;
  cawb_bytes farewell;        /* it is opened to be told this, and closed */
  pthread_t thread;           /* answers what is `asked`; there is one from the first message on */
  pthread_mutex_t lock;       /* of the next two */
  pthread_cond_t changed;
  cawb_asked *asked;          /* NULL: the answer to the message before is out */
  int over;
  int answering;              /* whether there is a thread */
  atomic_int ended;
} line;

static line *new_line(cawb_server *s) {
  line *l = calloc(1, sizeof *l);
  if (l == NULL) return NULL;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->changed, NULL);
  l->server = s;
  l->number = ++s->connections;
  l->frames.most = s->body;
  return l;
}

static void free_line(line *l) {
  pthread_mutex_destroy(&l->lock);
  pthread_cond_destroy(&l->changed);
  cawb_frames_free(&l->frames);
  cawb_bytes_free(&l->farewell);
  free(l);
}

/* Ask whether it may be opened: 0, or a status of HTTP. */
static int ask_to_open(cawb_server *s, const struct mg_connection *c, line *l) {
  cawb_asked *a = describe(c, CAWB_ASKED_OPEN, l->number);
  int status = a != NULL ? cawb_queue_ask(s->queue, a) : 503;
  if (status == 0 && a->status != 200) {
    l->farewell = a->answer;
    memset(&a->answer, 0, sizeof a->answer);
    if (l->farewell.size == 0) status = a->status;
  }
  cawb_asked_drop(a);
  return status;
}

/* Before the handshake is answered: 0 lets it happen. A refusal is told as HTTP. */
static int open_line(const struct mg_connection *c, void *data) {
  cawb_server *s = data;
  int status = refusal(s, c);
  line *l = status == 0 ? new_line(s) : NULL;
  if (status == 0) status = l != NULL ? ask_to_open(s, c, l) : 503;
  if (status == 0) {
    mg_set_user_connection_data(c, l);
    return 0;
  }
  if (l != NULL) free_line(l);
  refuse((struct mg_connection *)c, status);      /* nothing else is written where this returns 1 */
  return 1;
}

static void end_line(struct mg_connection *c, int code, const char *why) {
  char text[125];
  text[0] = (char)(code >> 8);
  text[1] = (char)(code & 255);
  int n = snprintf(text + 2, sizeof text - 2, "%s", why);
  mg_websocket_write(c, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, text, (size_t)n + 2);
}

static void greet(struct mg_connection *c, void *data) {
  const line *l = mg_get_user_connection_data(c);
  (void)data;
  if (l == NULL || l->farewell.size == 0) return;
  mg_websocket_write(c, MG_WEBSOCKET_OPCODE_TEXT, l->farewell.data, l->farewell.size);
  end_line(c, 1013, "CAPACITY_REACHED");
}

static void answer_message(line *l, cawb_asked *a) {
  int status = cawb_queue_ask(l->server->queue, a);
  if (status != 0) end_line(l->connection, 1013, reason_of(status));
  else {
    if (a->answer.size > 0) mg_websocket_write(l->connection, MG_WEBSOCKET_OPCODE_TEXT, a->answer.data, a->answer.size);
    if (a->last) end_line(l->connection, 1000, "");
  }
  if (status != 0 || a->last) l->ended = 1;
  cawb_asked_drop(a);
  l->server->busy--;
}

/* In a thread of its own, so that the connection's goes on to read: a client whose pings find no answer gives up. */
static void *answer_messages(void *of) {
  line *l = of;
  pthread_mutex_lock(&l->lock);
  for (;;) {
    while (l->asked == NULL && !l->over) pthread_cond_wait(&l->changed, &l->lock);
    if (l->asked == NULL) break;
    pthread_mutex_unlock(&l->lock);
    answer_message(l, l->asked);
    pthread_mutex_lock(&l->lock);
    l->asked = NULL;
    pthread_cond_signal(&l->changed);
  }
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* Hand a message to the thread that answers, once the answer to the one before is out. */
static void hand_over(line *l, cawb_asked *a) {
  if (!l->answering) l->answering = pthread_create(&l->thread, NULL, answer_messages, l) == 0;
  if (!l->answering) {
    answer_message(l, a);
    return;
  }
  pthread_mutex_lock(&l->lock);
  l->asked = a;
  pthread_cond_signal(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

static void await_answer(line *l) {
  pthread_mutex_lock(&l->lock);
  while (l->asked != NULL) pthread_cond_wait(&l->changed, &l->lock);
  pthread_mutex_unlock(&l->lock);
}

/* The thread ends, after what it was answering. */
static void end_thread(line *l) {
  if (!l->answering) return;
  pthread_mutex_lock(&l->lock);
  l->over = 1;
  pthread_cond_signal(&l->changed);
  pthread_mutex_unlock(&l->lock);
  pthread_join(l->thread, NULL);
}

/* A whole message: 1 where the line goes on. One that comes before the last one is answered waits. */
static int take_message(struct mg_connection *c, line *l) {
  cawb_asked *a;
  await_answer(l);
  l->connection = c;
  if (l->ended || (a = describe(c, CAWB_ASKED_MESSAGE, l->number)) == NULL) return 0;
  cawb_frames_take(&l->frames, &a->body);
  l->server->busy++;
  hand_over(l, a);
  return 1;
}

static int take_frame(struct mg_connection *c, int bits, char *bytes, size_t size, void *data) {
  line *l = mg_get_user_connection_data(c);
  (void)data;
  if (l == NULL || l->farewell.size > 0) return 0;
  if ((bits & 15) == MG_WEBSOCKET_OPCODE_PING && size <= 125) mg_websocket_write(c, MG_WEBSOCKET_OPCODE_PONG, bytes, size);
  switch (cawb_frames_add(&l->frames, bits, bytes, size)) {
    case CAWB_FRAMES_WHOLE: return take_message(c, l);
    case CAWB_FRAMES_PART: return 1;
    case CAWB_FRAMES_TOO_LONG: end_line(c, 1009, "the message is larger than this server takes"); return 0;
    case CAWB_FRAMES_NO_TEXT: end_line(c, 1003, "messages are text"); return 0;
    case CAWB_FRAMES_BROKEN: end_line(c, 1002, "frames in an order that there is not"); return 0;
    case CAWB_FRAMES_END: default: return 0;
  }
}

static void close_line(const struct mg_connection *c, void *data) {
  const cawb_server *s = data;
  line *l = mg_get_user_connection_data(c);
  if (l == NULL) return;
  end_thread(l);
  cawb_asked *a = describe(c, CAWB_ASKED_CLOSED, l->number);
  if (a != NULL) cawb_queue_ask(s->queue, a);
  cawb_asked_drop(a);
  free_line(l);
  mg_set_user_connection_data(c, NULL);
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
  mg_set_websocket_handler(s->context, "/ws", open_line, greet, take_frame, close_line, s);
  return CAWB_OK;
}

cawb_status cawb_server_open(cawb_server **out, const cawb_server_options *o, cawb_err *err) {
  enum { WAITING = 4096 };
  *out = NULL;
  cawb_server *s = calloc(1, sizeof *s);
  if (s == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a server");
  s->body = o->body;
  cawb_status rc = cawb_queue_new(&s->queue, WAITING, err);
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
  await_answers(s);
  mg_stop(context);
  mg_exit_library();
}

void cawb_server_free(cawb_server *s) {
  if (s == NULL) return;
  cawb_server_stop(s);
  cawb_queue_free(s->queue);
  if (s->token != NULL) explicit_bzero(s->token, strlen(s->token));
  free(s->token);
  free(s);
}

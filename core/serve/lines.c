/* lines.c - see lines.h. */
#include "serve/lines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/connection.h"
#include "serve/frames.h"

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
  cawb_asked *a = cawb_server_describe(c, CAWB_ASKED_OPEN, l->number);
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
  int status = cawb_server_refusal(s, c);
  line *l = status == 0 ? new_line(s) : NULL;
  if (status == 0) status = l != NULL ? ask_to_open(s, c, l) : 503;
  if (status == 0) {
    mg_set_user_connection_data(c, l);
    return 0;
  }
  if (l != NULL) free_line(l);
  cawb_server_refuse((struct mg_connection *)c, status);      /* nothing else is written where this returns 1 */
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
  if (status != 0) end_line(l->connection, 1013, cawb_server_reason(status));
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
  if (l->ended || (a = cawb_server_describe(c, CAWB_ASKED_MESSAGE, l->number)) == NULL) return 0;
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
  cawb_asked *a = cawb_server_describe(c, CAWB_ASKED_CLOSED, l->number);
  if (a != NULL) cawb_queue_ask(s->queue, a);
  cawb_asked_drop(a);
  free_line(l);
  mg_set_user_connection_data(c, NULL);
}

void cawb_lines_serve(cawb_server *s) {
  mg_set_websocket_handler(s->context, "/ws", open_line, greet, take_frame, close_line, s);
}

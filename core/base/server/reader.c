/* reader.c - see reader.h. */
#include "base/server/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { TEXT = 1, CLOSE = 8, PING = 9, PONG = 10, OPCODE = 15, CONTROL = 125, PIECE = 65536, EVENTS = 64 };

#define TICK 1000              /* milliseconds between looks at lines of which nothing is heard */
#define FAREWELL 5.0           /* seconds to take the last words in */
#define UNREAD (64u << 20)     /* bytes that a client may leave unread */

struct cawb_reader {
  pthread_t thread;
  pthread_mutex_t lock;       /* of the next two */
  cawb_line *lines;
  int stopping;
  int poll, wake;
  double silence;
  char piece[PIECE];
};

/* Have the reader look at all lines: one can go on. */
static void wake(const cawb_reader *r) {
  uint64_t one = 1;
  ssize_t done = write(r->wake, &one, sizeof one);
  (void)done;                 /* it may be awake already */
}

/* ---- out; each under the line's lock */

static void watch(cawb_line *l) {
  unsigned reading = l->held || l->closing ? 0 : EPOLLIN;
  unsigned wanted = reading | (l->out.size > l->sent ? EPOLLOUT : 0);
  struct epoll_event e = { .events = wanted, .data.ptr = l };
  if (wanted == l->watched) return;
  l->watched = wanted;
  epoll_ctl(l->server->reader->poll, EPOLL_CTL_MOD, l->fd, &e);
}

static void flush(cawb_line *l) {
  while (!l->gone && l->sent < l->out.size) {
    ssize_t n = send(l->fd, l->out.data + l->sent, l->out.size - l->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) l->sent += (size_t)n;
    else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    else l->gone = 1;
  }
  if (l->out.failed || l->out.size - l->sent > UNREAD) l->gone = 1;
  if (l->sent == l->out.size) l->sent = l->out.size = 0;
  watch(l);
}

static void say(cawb_line *l, int opcode, const char *bytes, size_t size) {
  l->heard = cawb_clock_now();
  if (!l->closing) cawb_frame_write(&l->out, opcode, bytes, size);
}

/* The last words: nothing is read or said after them. */
static void end(cawb_line *l, int code, const char *why) {
  char text[CONTROL];
  text[0] = (char)(code >> 8);
  text[1] = (char)(code & 255);
  int n = snprintf(text + 2, sizeof text - 2, "%s", why);
  say(l, CLOSE, text, (size_t)n + 2);
  l->closing = 1;
}

static void end_now(cawb_line *l, int code, const char *why) {
  pthread_mutex_lock(&l->lock);
  end(l, code, why);
  flush(l);
  pthread_mutex_unlock(&l->lock);
}

/* In the thread that answers. From asked = NULL on the reader may let go of the line. */
static void answered(cawb_asked *a) {
  cawb_line *l = a->asker;
  cawb_server *s = l->server;
  pthread_mutex_lock(&l->lock);
  if (a->answer.size > 0) say(l, TEXT, a->answer.data, a->answer.size);
  if (a->last) end(l, 1000, "");
  flush(l);
  int awaited = l->held || l->closing || l->gone;
  l->asked = NULL;
  pthread_mutex_unlock(&l->lock);
  if (awaited) wake(s->reader);
  s->busy--;
  cawb_asked_drop(a);
}

/* ---- in */

/* Put the whole message into the queue. */
static void ask(cawb_line *l) {
  cawb_asked *a = cawb_asked_new(CAWB_ASKED_MESSAGE);
  if (a == NULL) {
    end_now(l, 1011, "out of memory");
    return;
  }
  a->connection = l->number;
  a->answered = answered;
  a->asker = l;
  cawb_frames_take(&l->frames, &a->body);
  pthread_mutex_lock(&l->lock);
  l->asked = a;
  pthread_mutex_unlock(&l->lock);
  l->server->busy++;
  int status = cawb_queue_put(l->server->queue, a);
  if (status == 0) return;
  pthread_mutex_lock(&l->lock);
  l->asked = NULL;
  pthread_mutex_unlock(&l->lock);
  l->server->busy--;
  cawb_asked_drop(a);
  end_now(l, 1013, cawb_server_reason(status));
}

/* One that comes before the last one is answered waits, and what is behind it, too. */
static void take_message(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  l->held = l->asked != NULL;
  watch(l);
  int now = !l->held;
  pthread_mutex_unlock(&l->lock);
  if (now) ask(l);
}

static void pong(cawb_line *l, const cawb_frame *f) {
  pthread_mutex_lock(&l->lock);
  say(l, PONG, f->bytes, f->size);
  flush(l);
  pthread_mutex_unlock(&l->lock);
}

static void take_frame(cawb_line *l, const cawb_frame *f) {
  if (f->size > l->frames.most) {
    end_now(l, 1009, "the message is larger than this server takes");
    return;
  }
  if ((f->bits & OPCODE) == PING && f->size <= CONTROL) pong(l, f);
  switch (cawb_frames_add(&l->frames, f->bits, f->bytes, f->size)) {
    case CAWB_FRAMES_WHOLE: take_message(l); break;
    case CAWB_FRAMES_PART: break;
    case CAWB_FRAMES_TOO_LONG: end_now(l, 1009, "the message is larger than this server takes"); break;
    case CAWB_FRAMES_NO_TEXT: end_now(l, 1003, "messages are text"); break;
    case CAWB_FRAMES_BROKEN: end_now(l, 1002, "frames in an order that there is not"); break;
    case CAWB_FRAMES_END: default: end_now(l, 1000, ""); break;
  }
}

static int reads_on(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  int on = !l->held && !l->closing && !l->gone;
  pthread_mutex_unlock(&l->lock);
  return on;
}

static void take_frames(cawb_line *l) {
  size_t at = 0, took;
  cawb_frame f;
  while (l->in.size > at && reads_on(l) &&
         (took = cawb_frame_read(&f, l->in.data + at, l->in.size - at, l->frames.most)) > 0) {
    take_frame(l, &f);
    at += took;
  }
  if (at == 0) return;
  memmove(l->in.data, l->in.data + at, l->in.size - at);
  l->in.size -= at;
}

static void lose(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  l->gone = 1;
  pthread_mutex_unlock(&l->lock);
}

static void note_heard(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  l->heard = cawb_clock_now();
  pthread_mutex_unlock(&l->lock);
}

static void receive(cawb_reader *r, cawb_line *l) {
  ssize_t n = recv(l->fd, r->piece, sizeof r->piece, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (n > 0) cawb_bytes_add(&l->in, r->piece, (size_t)n);
  if (n <= 0 || l->in.failed) {
    lose(l);
    return;
  }
  note_heard(l);
  take_frames(l);
}

/* ---- lines; each under the reader's lock */

/* Its connection's thread goes on, and finds the socket shut. */
static void let_go(cawb_reader *r, cawb_line *l) {
  epoll_ctl(r->poll, EPOLL_CTL_DEL, l->fd, NULL);
  if (l->before != NULL) l->before->next = l->next;
  else r->lines = l->next;
  if (l->next != NULL) l->next->before = l->before;
  shutdown(l->fd, SHUT_RDWR);
  pthread_mutex_lock(&l->lock);
  l->over = 1;
  pthread_cond_signal(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

/* Whether a message that waited can be asked now. */
static int resumes(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  int now = l->held && l->asked == NULL && !l->closing && !l->gone;
  if (now) l->held = 0;
  watch(l);
  pthread_mutex_unlock(&l->lock);
  return now;
}

static int is_done(cawb_line *l, double now, double most) {
  pthread_mutex_lock(&l->lock);
  if (l->asked == NULL && now - l->heard > (l->closing ? FAREWELL : most)) l->gone = 1;
  int done = l->asked == NULL && (l->gone || (l->closing && l->out.size == l->sent));
  pthread_mutex_unlock(&l->lock);
  return done;
}

static void look_after(cawb_reader *r) {
  double now = cawb_clock_now();
  cawb_line *next;
  for (cawb_line *l = r->lines; l != NULL; l = next) {
    next = l->next;
    while (resumes(l)) {
      ask(l);
      take_frames(l);
    }
    if (is_done(l, now, r->silence)) let_go(r, l);
  }
}

/* Nobody answers any more: what is asked is answered so. */
static void forsake(cawb_line *l) {
  pthread_mutex_lock(&l->lock);
  cawb_asked *a = l->asked;
  if (a != NULL) cawb_asked_keep(a);
  pthread_mutex_unlock(&l->lock);
  if (a != NULL) cawb_queue_forget(l->server->queue, a);
  pthread_mutex_lock(&l->lock);
  int mine = a != NULL && l->asked == a;
  l->asked = NULL;
  end(l, 1013, cawb_server_reason(503));
  flush(l);
  pthread_mutex_unlock(&l->lock);
  if (mine) l->server->busy--;
  if (mine) cawb_asked_drop(a);
  cawb_asked_drop(a);
}

static void end_all(cawb_reader *r) {
  while (r->lines != NULL) {
    forsake(r->lines);
    let_go(r, r->lines);
  }
}

/* ---- the thread */

static void serve_line(cawb_reader *r, cawb_line *l, unsigned events) {
  pthread_mutex_lock(&l->lock);
  unsigned watched = l->watched;
  if (events & EPOLLOUT) flush(l);
  pthread_mutex_unlock(&l->lock);
  if (watched & events & EPOLLIN) receive(r, l);
  else if (events & (EPOLLHUP | EPOLLERR)) lose(l);
  pthread_mutex_lock(&l->lock);
  int ends = l->gone || l->closing;
  if (l->gone) epoll_ctl(r->poll, EPOLL_CTL_DEL, l->fd, NULL);      /* it would be told of for ever */
  pthread_mutex_unlock(&l->lock);
  if (ends) wake(r);
}

/* Whether all lines are to be looked at. */
static int serve_events(cawb_reader *r, const struct epoll_event *events, int count) {
  int look = count <= 0;
  for (int i = 0; i < count; i++) {
    uint64_t drained;
    if (events[i].data.ptr != NULL) serve_line(r, events[i].data.ptr, events[i].events);
    else look = read(r->wake, &drained, sizeof drained) != 0;
  }
  return look;
}

static void *read_lines(void *of) {
  cawb_reader *r = of;
  struct epoll_event events[EVENTS];
  double looked = cawb_clock_now();
  for (int stopped = 0; !stopped;) {
    int look = serve_events(r, events, epoll_wait(r->poll, events, EVENTS, TICK));
    if (!look && cawb_clock_now() - looked < TICK * 1e-3) continue;
    looked = cawb_clock_now();
    pthread_mutex_lock(&r->lock);
    if (r->stopping) end_all(r);
    else look_after(r);
    stopped = r->stopping;
    pthread_mutex_unlock(&r->lock);
  }
  return NULL;
}

/* ---- from outside */

cawb_status cawb_reader_new(cawb_reader **out, double silence, cawb_err *err) {
  struct epoll_event woken = { .events = EPOLLIN, .data.ptr = NULL };
  cawb_reader *r = *out = calloc(1, sizeof *r);
  if (r == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a server's lines");
  r->silence = silence;
  pthread_mutex_init(&r->lock, NULL);
  r->poll = epoll_create1(EPOLL_CLOEXEC);
  r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (r->poll >= 0 && r->wake >= 0 && epoll_ctl(r->poll, EPOLL_CTL_ADD, r->wake, &woken) == 0 &&
      pthread_create(&r->thread, NULL, read_lines, r) == 0)
    return CAWB_OK;
  cawb_status rc = cawb_fail_errno(err, CAWB_ERR_IO, "a thread for a server's lines");
  r->stopping = 1;
  cawb_reader_free(r);
  *out = NULL;
  return rc;
}

void cawb_reader_serve(cawb_reader *r, cawb_line *l) {
  struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };
  l->heard = cawb_clock_now();
  l->watched = EPOLLIN;
  pthread_mutex_lock(&r->lock);
  int served = !r->stopping && epoll_ctl(r->poll, EPOLL_CTL_ADD, l->fd, &e) == 0;
  if (served && (l->next = r->lines) != NULL) l->next->before = l;
  if (served) r->lines = l;
  pthread_mutex_unlock(&r->lock);
  if (!served) return;
  pthread_mutex_lock(&l->lock);
  while (!l->over) pthread_cond_wait(&l->changed, &l->lock);
  pthread_mutex_unlock(&l->lock);
}

void cawb_reader_stop(cawb_reader *r) {
  pthread_mutex_lock(&r->lock);
  int running = !r->stopping;
  r->stopping = 1;
  pthread_mutex_unlock(&r->lock);
  if (!running) return;
  wake(r);
  pthread_join(r->thread, NULL);
}

void cawb_reader_free(cawb_reader *r) {
  if (r == NULL) return;
  cawb_reader_stop(r);
  if (r->poll >= 0) close(r->poll);
  if (r->wake >= 0) close(r->wake);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

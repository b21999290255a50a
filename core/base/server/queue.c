/* queue.c - see queue.h. One lock for all, and a condition for each that waits: an answer wakes nobody else. */
#include "base/server/queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct node {
  cawb_asked asked;           /* first: a request is its node */
  atomic_int owners;
  struct node *next;          /* in the line of those that nobody has taken */
  struct node *before, *after;          /* among those that wait for their answer */
  pthread_cond_t answered;
} node;

struct cawb_queue {
  pthread_mutex_t lock;
  node *first, **end, *waiters;
  size_t waiting, most;
  int fd, closed;
};

cawb_status cawb_queue_new(cawb_queue **out, size_t most, cawb_err *err) {
  *out = NULL;
  cawb_queue *q = calloc(1, sizeof *q);
  if (q == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "out of memory for a queue");
  q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (q->fd < 0) {
    free(q);
    return cawb_fail_errno(err, CAWB_ERR_IO, "eventfd");
  }
  pthread_mutex_init(&q->lock, NULL);
  q->end = &q->first;
  q->most = most;
  *out = q;
  return CAWB_OK;
}

int cawb_queue_fd(const cawb_queue *q) { return q->fd; }

cawb_asked *cawb_asked_new(cawb_asked_kind kind) {
  node *n = calloc(1, sizeof *n);
  if (n == NULL) return NULL;
  n->asked.kind = kind;
  n->owners = 1;
  pthread_cond_init(&n->answered, NULL);
  return &n->asked;
}

void cawb_asked_keep(cawb_asked *a) { ((node *)a)->owners++; }

void cawb_asked_drop(cawb_asked *a) {
  node *n = (node *)a;
  if (n == NULL || --n->owners > 0) return;
  pthread_cond_destroy(&n->answered);
  free(a->method);
  free(a->path);
  free(a->query);
  free(a->remote);
  cawb_bytes *parts[] = { &a->headers, &a->body, &a->type, &a->extra, &a->answer };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) cawb_bytes_free(parts[i]);
  free(n);
}

/* Under the lock: the descriptor says whether something waits. */
static void tell(const cawb_queue *q) {
  uint64_t count = 1;
  ssize_t done = q->first != NULL ? write(q->fd, &count, sizeof count) : read(q->fd, &count, sizeof count);
  (void)done;                 /* it may say so already */
}

static void put(cawb_queue *q, node *n) {
  n->owners++;
  *q->end = n;
  q->end = &n->next;
  q->waiting++;
  if (q->first == n) tell(q);            /* else it says so already */
}

/* Under the lock, until there is an answer or will be none. */
static void await(cawb_queue *q, node *n) {
  n->after = q->waiters;
  if (n->after != NULL) n->after->before = n;
  q->waiters = n;
  while (n->asked.status == 0 && !q->closed) pthread_cond_wait(&n->answered, &q->lock);
  if (n->after != NULL) n->after->before = n->before;
  if (n->before != NULL) n->before->after = n->after;
  else q->waiters = n->after;
}

int cawb_queue_ask(cawb_queue *q, cawb_asked *a) {
  int refused = 0;
  pthread_mutex_lock(&q->lock);
  if (a->kind == CAWB_ASKED_CLOSED) {
    if (!q->closed) put(q, (node *)a);      /* never refused: a session would stay open */
  } else if (q->closed || q->waiting >= q->most) {
    refused = 503;
  } else {
    put(q, (node *)a);
    await(q, (node *)a);
    if (a->status == 0) refused = 503;
  }
  pthread_mutex_unlock(&q->lock);
  return refused;
}

int cawb_queue_put(cawb_queue *q, cawb_asked *a) {
  pthread_mutex_lock(&q->lock);
  int refused = q->closed || q->waiting >= q->most ? 503 : 0;
  if (refused == 0) put(q, (node *)a);
  pthread_mutex_unlock(&q->lock);
  return refused;
}

void cawb_queue_forget(cawb_queue *q, cawb_asked *a) {
  pthread_mutex_lock(&q->lock);
  a->answered = NULL;
  pthread_mutex_unlock(&q->lock);
}

cawb_asked *cawb_queue_take(cawb_queue *q) {
  pthread_mutex_lock(&q->lock);
  node *n = q->first;
  if (n != NULL) {
    q->first = n->next;
    if (q->first == NULL) q->end = &q->first;
    q->waiting--;
    n->next = NULL;
    if (q->first == NULL) tell(q);
  }
  pthread_mutex_unlock(&q->lock);
  return n != NULL ? &n->asked : NULL;
}

void cawb_queue_answer(cawb_queue *q, cawb_asked *a, int status) {
  pthread_mutex_lock(&q->lock);
  a->status = status;
  if (a->answered != NULL) a->answered(a);
  else pthread_cond_signal(&((node *)a)->answered);
  pthread_mutex_unlock(&q->lock);
}

void cawb_queue_close(cawb_queue *q) {
  pthread_mutex_lock(&q->lock);
  q->closed = 1;
  for (node *n = q->waiters; n != NULL; n = n->after) pthread_cond_signal(&n->answered);
  pthread_mutex_unlock(&q->lock);
}

void cawb_queue_free(cawb_queue *q) {
  if (q == NULL) return;
  for (cawb_asked *a; (a = cawb_queue_take(q)) != NULL;) cawb_asked_drop(a);
  close(q->fd);
  pthread_mutex_destroy(&q->lock);
  free(q);
}

/* sse.c - see sse.h; the grammar is that of the HTML standard, "server-sent events". */
#include "base/http/sse.h"

#include <string.h>

static void empty(cawb_bytes *b) {
  b->size = 0;
  if (b->data != NULL) b->data[0] = '\0';
}

static int is_field(const cawb_sse *s, const char *name, size_t length) {
  return length == strlen(name) && memcmp(s->line.data, name, length) == 0;
}

/* "name: value", one space after the colon being no part of the value. */
static void take_field(cawb_sse *s) {
  const char *line = s->line.data, *colon = memchr(line, ':', s->line.size);
  size_t name = colon != NULL ? (size_t)(colon - line) : s->line.size;
  size_t from = colon != NULL ? name + 1 : s->line.size;
  if (from < s->line.size && line[from] == ' ') from++;
  if (is_field(s, "data", name)) {
    if (s->has_data) cawb_bytes_add(&s->data, "\n", 1);
    cawb_bytes_add(&s->data, line + from, s->line.size - from);
    s->has_data = 1;
  } else if (is_field(s, "event", name)) {
    empty(&s->event);
    cawb_bytes_add(&s->event, line + from, s->line.size - from);
  }                                       /* id and retry are for reconnecting; ":" is a comment */
}

/* An event without data is none. */
static void end_event(cawb_sse *s) {
  s->ready = s->has_data;
  if (!s->ready) empty(&s->event);
}

static void end_line(cawb_sse *s) {
  static const char mark[] = "\xef\xbb\xbf";
  if (!s->began && s->line.size >= 3 && memcmp(s->line.data, mark, 3) == 0) {
    s->line.size -= 3;
    memmove(s->line.data, s->line.data + 3, s->line.size + 1);
  }
  s->began = 1;
  if (s->line.size == 0) end_event(s);
  else take_field(s);
  empty(&s->line);
}

static int check(cawb_sse *s) {
  s->failed = s->line.failed || s->data.failed || s->event.failed ||
              s->line.size > s->limit || s->data.size > s->limit;
  return !s->failed;
}

static void forget_event(cawb_sse *s) {
  empty(&s->event);
  empty(&s->data);
  s->has_data = s->ready = 0;
}

size_t cawb_sse_feed(cawb_sse *s, const char *bytes, size_t size) {
  size_t at = 0;
  if (s->ready) forget_event(s);
  while (at < size && !s->ready && !s->failed) {
    if (s->after_cr && bytes[at] == '\n') at++;       /* the second half of CR LF */
    s->after_cr = 0;
    size_t from = at;
    while (at < size && bytes[at] != '\n' && bytes[at] != '\r') at++;
    cawb_bytes_add(&s->line, bytes + from, at - from);
    if (!check(s) || at == size) break;
    s->after_cr = bytes[at++] == '\r';
    end_line(s);
    check(s);
  }
  return s->failed ? 0 : at;
}

int cawb_sse_pending(const cawb_sse *s) {
  return s->line.size > 0 || (s->has_data && !s->ready);
}

void cawb_sse_free(cawb_sse *s) {
  cawb_bytes_free(&s->event);
  cawb_bytes_free(&s->data);
  cawb_bytes_free(&s->line);
  memset(s, 0, sizeof *s);
}

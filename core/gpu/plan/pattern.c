/*
** pattern.c - see pattern.h. A pattern is a list of items, each of which goes on to the next one: what
** follows a place in it does not depend on how one came there, save for back references. So a choice
** that failed at a place of the subject has failed for good, also for searches that begin later.
*/
#include "gpu/plan/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BYTE, ANY, CLASS, SET, OPEN, CLOSE, POSITION, REFERENCE, BALANCE, FRONTIER, LAST };
enum { ONCE, MOST, LEAST, OPTIONAL };           /* x, x*, x-, x? */
enum { NO_CHOICE = UINT32_MAX };

typedef struct pattern_item {
  unsigned char kind, times, byte, other;       /* BYTE, CLASS: byte; BALANCE: both */
  uint32_t choice;                              /* number among the choices, or capture */
  const char *set, *end;                        /* SET, FRONTIER: behind "[" and at "]" */
} pattern_item;

/* ------------------------------------------------------------------ reading */

static const char *add(cawb_pattern *p, pattern_item item) {
  if ((p->nitems & (p->nitems - 1)) == 0) {     /* full at every power of two */
    size_t room = p->nitems > 0 ? 2 * p->nitems : 1;
    pattern_item *larger = realloc(p->items, room * sizeof *larger);
    if (larger == NULL) return "out of memory for a pattern";
    p->items = larger;
  }
  p->items[p->nitems++] = item;
  return NULL;
}

/* From behind "[" to "]". */
static const char *read_set(const char **at, const char *end, pattern_item *item) {
  const char *s = *at;
  item->set = s;
  if (s < end && *s == '^') s++;
  do {                                          /* a "]" that comes first is one of the set */
    if (s >= end) return "malformed pattern (missing ']')";
    if (*s++ == '%') {
      if (s >= end) return "malformed pattern (missing ']')";
      s++;
    }
  } while (s >= end || *s != ']');
  item->end = s;
  *at = s + 1;
  return NULL;
}

static const char *read_capture(cawb_pattern *p, const char **at, const char *end, int *open) {
  if (p->captures >= CAWB_PATTERN_CAPTURES) return "too many captures";
  int position = *at < end && **at == ')';
  *at += position;
  open[p->captures] = !position;
  return add(p, (pattern_item){ .kind = position ? POSITION : OPEN, .choice = (uint32_t)p->captures++ });
}

static const char *close_capture(cawb_pattern *p, int *open) {
  int k = p->captures - 1;
  while (k >= 0 && !open[k]) k--;
  if (k < 0) return "invalid pattern capture";
  open[k] = 0;
  return add(p, (pattern_item){ .kind = CLOSE, .choice = (uint32_t)k });
}

static const char *read_reference(cawb_pattern *p, char digit, const int *open) {
  int k = digit - '1';
  if (k < 0 || k >= p->captures || open[k]) return "invalid capture index in pattern";
  p->last_reference = p->nitems + 1;
  return add(p, (pattern_item){ .kind = REFERENCE, .choice = (uint32_t)k });
}

/* How often, behind one character of a pattern. x+ is x and x*. */
static const char *read_times(cawb_pattern *p, pattern_item item, const char **at, const char *end) {
  const char *problem = NULL;
  char c = *at < end ? **at : '\0';
  if (c == '+') problem = add(p, item);
  item.times = c == '*' || c == '+' ? MOST : c == '-' ? LEAST : c == '?' ? OPTIONAL : ONCE;
  if (item.times != ONCE) {
    (*at)++;
    item.choice = (uint32_t)p->nchoices++;
  }
  return problem != NULL ? problem : add(p, item);
}

/* Behind "%". */
static const char *read_escape(cawb_pattern *p, const char **at, const char *end, const int *open) {
  pattern_item item = { .kind = CLASS };
  if (*at >= end) return "malformed pattern (ends with '%')";
  char c = *(*at)++;
  if (c == 'b') {
    if (end - *at < 2) return "malformed pattern (missing arguments to '%b')";
    item = (pattern_item){ .kind = BALANCE, .byte = (unsigned char)(*at)[0], .other = (unsigned char)(*at)[1] };
    *at += 2;
    return add(p, item);
  }
  if (c == 'f') {
    if (*at >= end || *(*at)++ != '[') return "missing '[' after '%f' in pattern";
    item.kind = FRONTIER;
    const char *problem = read_set(at, end, &item);
    return problem != NULL ? problem : add(p, item);
  }
  if (c >= '0' && c <= '9') return read_reference(p, c, open);
  item.byte = (unsigned char)c;
  return read_times(p, item, at, end);
}

static const char *read_one(cawb_pattern *p, const char **at, const char *end, int *open) {
  char c = *(*at)++;
  if (c == '(') return read_capture(p, at, end, open);
  if (c == ')') return close_capture(p, open);
  if (c == '$' && *at == end) return add(p, (pattern_item){ .kind = LAST });
  if (c == '%') return read_escape(p, at, end, open);
  pattern_item item = { .kind = c == '.' ? ANY : c == '[' ? SET : BYTE, .byte = (unsigned char)c };
  const char *problem = c == '[' ? read_set(at, end, &item) : NULL;
  return problem != NULL ? problem : read_times(p, item, at, end);
}

const char *cawb_pattern_read(cawb_pattern *p, const char *text, size_t size, int anchors) {
  int open[CAWB_PATTERN_CAPTURES];
  const char *at = text, *end = text + size, *problem = NULL;
  memset(p, 0, sizeof *p);
  if (anchors && size > 0 && *at == '^') p->anchored = 1, at++;
  while (at < end && problem == NULL) problem = read_one(p, &at, end, open);
  for (int k = 0; k < p->captures && problem == NULL; k++)
    if (open[k]) problem = "unfinished capture";
  return problem;
}

void cawb_pattern_free(cawb_pattern *p) {
  free(p->items);
  free(p->failed);
  free(p->stack);
  memset(p, 0, sizeof *p);
}

/* ------------------------------------------------------------ one character */

static int in_class(int c, int class) {
  int found;
  switch (tolower(class)) {
    case 'a': found = isalpha(c); break;
    case 'c': found = iscntrl(c); break;
    case 'd': found = isdigit(c); break;
    case 'g': found = isgraph(c); break;
    case 'l': found = islower(c); break;
    case 'p': found = ispunct(c); break;
    case 's': found = isspace(c); break;
    case 'u': found = isupper(c); break;
    case 'w': found = isalnum(c); break;
    case 'x': found = isxdigit(c); break;
    case 'z': found = c == 0; break;
    default: return class == c;
  }
  return isupper(class) ? !found : found != 0;
}

static int in_set(int c, const pattern_item *item) {
  const char *s = item->set;
  int found = 1;
  if (*s == '^') found = 0, s++;
  for (; s < item->end; s++) {
    if (*s == '%') {
      if (in_class(c, (unsigned char)*++s)) return found;
    } else if (s + 2 < item->end && s[1] == '-') {
      if ((unsigned char)s[0] <= c && c <= (unsigned char)s[2]) return found;
      s += 2;
    } else if ((unsigned char)*s == c) {
      return found;
    }
  }
  return !found;
}

static int fits(const cawb_pattern *p, const pattern_item *item, size_t at) {
  if (at >= p->size) return 0;
  int c = (unsigned char)p->subject[at];
  switch (item->kind) {
    case BYTE: return c == item->byte;
    case ANY: return 1;
    case CLASS: return in_class(c, item->byte);
    default: return in_set(c, item);
  }
}

/* ---------------------------------------------------------------- searching */

void cawb_pattern_begin(cawb_pattern *p, const char *subject, size_t size, size_t first, size_t most) {
  static const size_t most_bytes = (size_t)64 << 20;     /* beyond, nothing is remembered: steps tell */
  p->subject = subject;
  p->size = size;
  p->first = first;
  p->steps = 0;
  p->most = most;
  free(p->failed);
  p->failed = NULL;
  size_t places = size - first + 1;
  if (p->nchoices > 0 && places < most_bytes * 8 / p->nchoices && size < UINT32_MAX)
    p->failed = calloc(p->nchoices * places / 64 + 1, sizeof *p->failed);
}

/* The bit of a choice at a place. */
static size_t bit_of(const cawb_pattern *p, const pattern_item *item, size_t at) {
  return (at - p->first) * p->nchoices + item->choice;
}

/* Whether it was tried here before; from now on it was. */
static int tried(cawb_pattern *p, const pattern_item *item, size_t at) {
  if (p->failed == NULL || (size_t)(item - p->items) < p->last_reference) return 0;
  size_t bit = bit_of(p, item, at);
  uint64_t mask = 1ull << bit % 64, was = p->failed[bit / 64] & mask;
  p->failed[bit / 64] |= mask;
  return was != 0;
}

/* Later: item number `item`, at every place from `high` down to `low`. */
static int push(cawb_pattern *p, size_t item, size_t low, size_t high) {
  if (p->depth + 3 > p->room) {
    size_t room = p->room > 0 ? 2 * p->room : 96;
    uint32_t *larger = realloc(p->stack, room * sizeof *larger);
    if (larger == NULL) return 0;
    p->stack = larger;
    p->room = room;
  }
  p->stack[p->depth++] = (uint32_t)item;
  p->stack[p->depth++] = (uint32_t)low;
  p->stack[p->depth++] = (uint32_t)high;
  return 1;
}

static int pop(cawb_pattern *p, size_t *item, size_t *at) {
  if (p->depth == 0) return 0;
  uint32_t *top = p->stack + p->depth - 3;
  *item = top[0];
  *at = top[2];
  if (top[2]-- == top[1]) p->depth -= 3;
  return 1;
}

enum { FAILS, GOES_ON, STARVES };

/* One character, as often as the item says; `*item` and `*at` move to what is tried first. */
static int repeat(cawb_pattern *p, size_t *item, size_t *at) {
  const pattern_item *x = &p->items[*item];
  size_t low = *at, high = low;
  if (x->times == ONCE) {
    if (!fits(p, x, low)) return FAILS;
    (*item)++;
    (*at)++;
    return GOES_ON;
  }
  if (tried(p, x, low)) return FAILS;
  if (x->times == LEAST) {
    if (fits(p, x, low) && !push(p, *item, low + 1, low + 1)) return STARVES;
    (*item)++;
    return GOES_ON;
  }
  while (fits(p, x, high) && (x->times == MOST || high == low)) {
    high++;
    p->steps++;
    if (x->times == MOST && tried(p, x, high)) { high--; break; }
  }
  if (high > low && !push(p, *item + 1, low, high - 1)) return STARVES;
  (*item)++;
  *at = high;
  return GOES_ON;
}

/* "%bxy" at a place: the place behind, or SIZE_MAX. */
static size_t balanced(cawb_pattern *p, const pattern_item *x, size_t at) {
  size_t depth = 0;
  if (at >= p->size || (unsigned char)p->subject[at] != x->byte) return SIZE_MAX;
  for (; at < p->size && p->steps < p->most; at++) {
    unsigned char c = (unsigned char)p->subject[at];
    p->steps++;
    if (c == x->other && depth > 0 && --depth == 0) return at + 1;
    if (c == x->byte && !(c == x->other && depth > 0)) depth++;
  }
  return SIZE_MAX;
}

static int is_frontier(const cawb_pattern *p, const pattern_item *x, size_t at) {
  int before = at > 0 ? (unsigned char)p->subject[at - 1] : 0, after = at < p->size ? (unsigned char)p->subject[at] : 0;
  return !in_set(before, x) && in_set(after, x);
}

/* The same text again: the place behind, or SIZE_MAX. */
static size_t repeated(cawb_pattern *p, const pattern_item *x, size_t at) {
  if (p->capture[x->choice].is_position) return SIZE_MAX;
  size_t n = p->capture[x->choice].size;
  p->steps += n / 8;
  if (p->size - at < n || memcmp(p->subject + at, p->subject + p->capture[x->choice].at, n) != 0) return SIZE_MAX;
  return at + n;
}

static int step(cawb_pattern *p, size_t *item, size_t *at) {
  const pattern_item *x = &p->items[*item];
  size_t k = x->choice, next = *at;
  switch (x->kind) {
    case OPEN: case POSITION:
      p->capture[k].at = *at;
      p->capture[k].size = 0;
      p->capture[k].is_position = x->kind == POSITION;
      break;
    case CLOSE: p->capture[k].size = *at - p->capture[k].at; break;
    case REFERENCE: next = repeated(p, x, *at); break;
    case BALANCE: next = balanced(p, x, *at); break;
    case FRONTIER: if (!is_frontier(p, x, *at)) return FAILS; break;
    case LAST: if (*at != p->size) return FAILS; break;
    default: return repeat(p, item, at);
  }
  if (next == SIZE_MAX) return FAILS;
  *at = next;
  (*item)++;
  return GOES_ON;
}

/* What was found lies on the way of no other search that begins behind, but where it ends. */
static void forget(cawb_pattern *p, size_t at) {
  for (size_t k = 0; p->failed != NULL && k < p->nchoices; k++) {
    size_t bit = (at - p->first) * p->nchoices + k;
    p->failed[bit / 64] &= ~(1ull << bit % 64);
  }
}

int cawb_pattern_at(cawb_pattern *p, size_t from) {
  size_t item = 0, at = from;
  if (p->size >= UINT32_MAX) return CAWB_PATTERN_STARVED;
  p->depth = 0;
  for (;;) {
    if (++p->steps > p->most) return CAWB_PATTERN_SPENT;
    if (item == p->nitems) break;
    int how = step(p, &item, &at);
    if (how == STARVES) return CAWB_PATTERN_STARVED;
    if (how == FAILS && !pop(p, &item, &at)) return p->steps > p->most ? CAWB_PATTERN_SPENT : CAWB_PATTERN_NONE;
  }
  forget(p, at);
  p->from = from;
  p->to = at;
  return CAWB_PATTERN_FOUND;
}

int cawb_pattern_search(cawb_pattern *p, size_t at) {
  for (; at <= p->size; at++) {
    int how = cawb_pattern_at(p, at);
    if (how != CAWB_PATTERN_NONE || p->anchored) return how;
  }
  return CAWB_PATTERN_NONE;
}

/*
** pattern.h - Lua's patterns, matched in time that grows with the length of subject times pattern and
** no faster: what failed at a place once is not tried there again. Knows nothing of Lua. Two items
** have no such bound, back references and %b; the steps that are spent say so.
*/
#ifndef CAWB_PLAN_PATTERN_H
#define CAWB_PLAN_PATTERN_H

#include <stddef.h>
#include <stdint.h>

enum { CAWB_PATTERN_CAPTURES = 32 };
enum { CAWB_PATTERN_NONE, CAWB_PATTERN_FOUND, CAWB_PATTERN_SPENT, CAWB_PATTERN_STARVED };

typedef struct cawb_pattern {
  struct pattern_item *items;
  size_t nitems, nchoices, last_reference;   /* items up to it depend on what was captured */
  int captures, anchored;
  /* the search under way */
  const char *subject;
  size_t size, first;
  uint64_t *failed;              /* one bit for each choice and place behind `first` */
  uint32_t *stack;               /* what is left to try */
  size_t depth, room;
  size_t steps, most;            /* spent, and how many there are */
  struct { size_t at, size; int is_position; } capture[CAWB_PATTERN_CAPTURES];
  size_t from, to;               /* of what was found */
} cawb_pattern;

/* Read a pattern; `anchors` says whether "^" means the beginning. NULL, or what is wrong with it.
** Free it in every case. */
const char *cawb_pattern_read(cawb_pattern *p, const char *text, size_t size, int anchors);
void        cawb_pattern_free(cawb_pattern *p);

/* Search a subject, which stays the caller's and in place, from `first` on; `most` steps. */
void cawb_pattern_begin(cawb_pattern *p, const char *subject, size_t size, size_t first, size_t most);

/* Match at one place, which may not lie ahead of where one was found before. */
int cawb_pattern_at(cawb_pattern *p, size_t at);

/* The first match at `at` or behind. */
int cawb_pattern_search(cawb_pattern *p, size_t at);

#endif

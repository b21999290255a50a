/*
** report.c - see report.h. The lines looked for:
**   ptxas info    : Compiling entry function 'NAME' for 'sm_90'
**   ptxas info    : Function properties for NAME
**   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
**   ptxas info    : Used 10 registers, used 1 barriers, 132 bytes smem, 352 bytes cmem[0]
** NVRTC puts them behind everything that the source can print into the log
** (#warning, file names), and a later report of a kernel replaces an earlier one.
*/
#include "gpu/ptx/report.h"

#include <stdlib.h>
#include <string.h>

#define MOST 0x7fffffffL         /* no figure of ptxas is larger: it is none of its lines */

static void forget(cawb_kernel *k) {
  k->registers = k->spill_stores = k->spill_loads = -1;
  k->stack = k->shared = k->constant = k->barriers = -1;
}

/* The kernel whose name starts at `s` and ends before `end`. */
static cawb_kernel *named(cawb_kernels *k, const char *s, char end) {
  for (size_t i = 0; i < k->count; i++) {
    size_t n = strlen(k->list[i].name);
    if (strncmp(s, k->list[i].name, n) == 0 && s[n] == end) return &k->list[i];
  }
  return NULL;
}

/* Behind `words` if the line at `s` starts with them. */
static const char *after(const char *s, const char *words) {
  size_t n = strlen(words);
  return strncmp(s, words, n) == 0 ? s + n : NULL;
}

/* A number and `words` behind it; NULL if something else is there. */
static const char *count(long *out, const char *s, const char *words) {
  char *end;
  *out = strtol(s, &end, 10);
  return end != s ? after(end, words) : NULL;
}

/* Behind "ptxas         . ". */
static void read_frame(cawb_kernel *k, const char *s) {
  long stack, stores, loads;
  s = count(&stack, s, " bytes stack frame, ");
  if (s != NULL) s = count(&stores, s, " bytes spill stores, ");
  if (s != NULL) s = count(&loads, s, " bytes spill loads");
  if (s == NULL) return;
  k->stack = stack;
  k->spill_stores = stores;
  k->spill_loads = loads;
}

/* "N registers, used N barriers, N bytes smem, N bytes cmem[0], N bytes cmem[2]".
** ptxas leaves out what is zero, so a list without smem means none. */
static void read_used(cawb_kernel *k, const char *s) {
  k->shared = k->barriers = 0;
  for (;;) {
    char *end;
    const char *item = after(s, "used ") != NULL ? s + 5 : s;
    long n = strtol(item, &end, 10);
    if (end == item || n < 0 || n > MOST) return;
    if (after(end, " registers") != NULL) k->registers = n;
    else if (after(end, " barriers") != NULL) k->barriers = n;
    else if (after(end, " bytes smem") != NULL) k->shared = n;
    else if (after(end, " bytes cmem[") != NULL) k->constant = (k->constant > 0 ? k->constant : 0) + n;
    s = end + strcspn(end, ",\n");
    if (*s != ',') return;
    s += 1 + strspn(s + 1, " ");
  }
}

void cawb_ptx_report(cawb_kernels *k, const char *log) {
  cawb_kernel *current = NULL;   /* the entry being compiled */
  cawb_kernel *described = NULL; /* the function whose frame comes next: may be no kernel */
  for (size_t i = 0; i < k->count; i++) forget(&k->list[i]);
  for (const char *line = log; line != NULL && *line != '\0';) {
    const char *s;
    if ((s = after(line, "ptxas info    : Compiling entry function '")) != NULL) {
      described = NULL;
      current = named(k, s, '\'');
      if (current != NULL) forget(current);
    } else if ((s = after(line, "ptxas info    : Function properties for ")) != NULL) {
      described = named(k, s, '\n');
    } else if (described != NULL && (s = after(line, "ptxas         . ")) != NULL) {
      read_frame(described, s);
      described = NULL;
    } else if (current != NULL && (s = after(line, "ptxas info    : Used ")) != NULL) {
      read_used(current, s);
    }
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
}

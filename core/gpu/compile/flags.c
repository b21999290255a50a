/* flags.c - see flags.h. */
#include "gpu/compile/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value is a number of at most three digits, or one of the words between bars. */
static const struct option {
  const char *name, *values;   /* NULL: takes none */
} ALLOWED[] = {
  { "use_fast_math", NULL }, { "extra-device-vectorization", NULL }, { "restrict", NULL },
  { "lineinfo", NULL }, { "fmad", "|true|false|" }, { "ftz", "|true|false|" },
  { "prec-div", "|true|false|" }, { "prec-sqrt", "|true|false|" }, { "maxrregcount", "number" },
  { "std", "|c++14|c++17|c++20|" }
};

static const char HELP[] =
  "allowed are -use_fast_math, -fmad=, -ftz=, -prec-div=, -prec-sqrt= (true or false), "
  "-maxrregcount=N, -extra-device-vectorization, -restrict, -std=c++14, c++17 or c++20, -lineinfo";

static int value_fits(const struct option *o, const char *value) {
  char word[32];
  if (o->values == NULL || value == NULL) return o->values == NULL && value == NULL;
  if (o->values[0] != '|') {
    size_t n = strlen(value);
    return n > 0 && n <= 3 && strspn(value, "0123456789") == n && strtol(value, NULL, 10) > 0;
  }
  int n = snprintf(word, sizeof word, "|%s|", value);
  return n > 2 && n < (int)sizeof word && strchr(value, '|') == NULL
    && strstr(o->values, word) != NULL;
}

/* The entry of ALLOWED that `text` (dashes removed) spells, NULL if there is none. */
static const struct option *find_option(const char *text) {
  size_t n = strcspn(text, "=");
  for (size_t i = 0; i < sizeof ALLOWED / sizeof *ALLOWED; i++)
    if (strlen(ALLOWED[i].name) == n && strncmp(ALLOWED[i].name, text, n) == 0)
      return value_fits(&ALLOWED[i], text[n] == '=' ? text + n + 1 : NULL) ? &ALLOWED[i] : NULL;
  return NULL;
}

cawb_status cawb_compile_options(cawb_bytes *out, const char *const *options, size_t n,
                                 cawb_err *err) {
  unsigned seen = 0;
  for (size_t i = 0; i < n; i++) {
    const char *text = options[i];
    if (text[0] == '-') text += text[1] == '-' ? 2 : 1;
    const struct option *o = text != options[i] ? find_option(text) : NULL;
    if (o == NULL)
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "the compile option '%.100s' is not allowed: %s",
                       options[i], HELP);
    unsigned bit = 1u << (o - ALLOWED);
    if (seen & bit)
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "the compile option -%s is given twice: keep one",
                       o->name);
    seen |= bit;
    cawb_bytes_print(out, "-%s", text);
    cawb_bytes_add(out, "", 1);
  }
  return out->failed ? cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the options") : CAWB_OK;
}

/* ------------------------------------------------------------------ defines */

static int identifier(const char *s) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  size_t n = strlen(s);
  return n > 0 && n <= 128 && strspn(s, letters) == n && (s[0] < '0' || s[0] > '9');
}

/* Nothing that could reach beyond its own line: no quotes, comments, splices, #. */
static int harmless(const char *value) {
  static const char *const bad[] = { "/*", "//", "%:", "??", "__has_" };
  for (const char *p = value; *p != '\0'; p++)
    if ((unsigned char)*p < ' ' || (unsigned char)*p > '~' || strchr("\"'\\#`@$", *p) != NULL)
      return 0;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (strstr(value, bad[i]) != NULL) return 0;
  return 1;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const cawb_define *)a)->name, ((const cawb_define *)b)->name);
}

/* Sorted, because the order of a table's fields must not change the result. */
static cawb_status write_sorted(cawb_bytes *out, const cawb_define *d, size_t n, cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && strcmp(d[i - 1].name, d[i].name) == 0)
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "%s is defined twice: keep one", d[i].name);
    cawb_bytes_print(out, "#define %s %s\n", d[i].name, d[i].value != NULL ? d[i].value : "1");
  }
  return out->failed ? cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the defines") : CAWB_OK;
}

cawb_status cawb_compile_defines(cawb_bytes *out, const cawb_define *defines, size_t n,
                                 cawb_err *err) {
  for (size_t i = 0; i < n; i++) {
    if (!identifier(defines[i].name))
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "the define '%.100s' is not a C identifier",
                       defines[i].name);
    if (defines[i].value != NULL && !harmless(defines[i].value))
      return cawb_fail(err, CAWB_ERR_CANDIDATE, "the value of the define %s may be one line of "
                       "plain ASCII without quotes, comments, backslash or #: '%.100s'",
                       defines[i].name, defines[i].value);
  }
  if (n == 0) return CAWB_OK;
  cawb_define *sorted = malloc(n * sizeof *sorted);
  if (sorted == NULL) return cawb_fail(err, CAWB_ERR_MEMORY, "no memory for the defines");
  memcpy(sorted, defines, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_name);
  cawb_status code = write_sorted(out, sorted, n, err);
  free(sorted);
  return code;
}

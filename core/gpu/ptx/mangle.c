/*
** mangle.c - see mangle.h. Only as much of the Itanium C++ ABI (section 5.1) as
** finds the last source name in front of the parameter types.
*/
#include "gpu/ptx/mangle.h"

#include <string.h>

static int digit(char c) { return c >= '0' && c <= '9'; }

/* A <source-name>: its length in decimal, then so many characters. NULL: it is none. */
static const char *source_name(const char *s, const char **name, size_t *size) {
  size_t n = 0;
  if (!digit(*s)) return NULL;
  for (; digit(*s); s++) {
    n = n * 10 + (size_t)(*s - '0');
    if (n > 100000) return NULL;
  }
  if (n == 0 || memchr(s, '\0', n) != NULL) return NULL;
  *name = s;
  *size = n;
  return s + n;
}

/* Behind S_, S0_, St..., T_, T0_: letters whose digits are no length. */
static const char *skip_reference(const char *s) {
  if (s[1] >= 'a' && s[1] <= 'z') return s + 2;
  s++;
  while (digit(*s) || (*s >= 'A' && *s <= 'Z')) s++;
  return *s == '_' ? s + 1 : NULL;
}

/* Behind a literal's type and value, L already read: i128E, b1E, 4Enum2E. */
static const char *skip_literal(const char *s) {
  const char *name;
  size_t size;
  if (digit(*s)) s = source_name(s, &name, &size);
  else if (*s == 'N' || *s == '_') return NULL;
  else if (*s != '\0') s++;
  if (s == NULL) return NULL;
  s += strcspn(s, "E");
  return *s == 'E' ? s + 1 : NULL;
}

/* Behind the E that closes the template arguments whose I was just read. */
static const char *skip_arguments(const char *s) {
  const char *name;
  size_t size;
  for (int depth = 1; depth > 0;) {
    if (s == NULL || *s == '\0') return NULL;
    if (digit(*s)) s = source_name(s, &name, &size);
    else if (*s == 'S' || *s == 'T') s = skip_reference(s);
    else if (*s == 'L') s = skip_literal(s + 1);
    else if (*s == 'A' || *s == 'D') {        /* array bound, DF16_, Dv4_f */
      s += *s == 'D' && s[1] != '\0' ? 2 : 1;
      while (digit(*s)) s++;
      if (*s == '_') s++;
    } else {
      depth += *s == 'E' ? -1 : strchr("INXJF", *s) != NULL;
      s++;
    }
  }
  return s;
}

/* N [qualifiers] prefix... E: the last source name. */
static int nested_name(const char *s, const char **name, size_t *size) {
  int seen = 0;
  while (s != NULL && *s != 'E' && *s != '\0') {
    if (digit(*s)) {
      s = source_name(s, name, size);
      seen = s != NULL;
    } else if (*s == 'I') {
      s = skip_arguments(s + 1);
    } else if (*s == 'S' || *s == 'T') {
      s = skip_reference(s);
    } else if (strchr("rVKLRO", *s) != NULL) {
      s++;
    } else {
      return 0;
    }
  }
  return seen && s != NULL && *s == 'E';
}

char *cawb_mangle_plain(const char *name) {
  const char *own;
  size_t size;
  if (strncmp(name, "_Z", 2) == 0) {
    const char *s = name + 2;
    if (*s == 'L') s++;                        /* internal linkage */
    if (*s == 'N' ? nested_name(s + 1, &own, &size) : source_name(s, &own, &size) != NULL)
      return strndup(own, size);
  }
  return strdup(name);
}

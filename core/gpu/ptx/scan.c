/* scan.c - see scan.h. Any text is accepted; unclosed things end with it. */
#include "gpu/ptx/scan.h"

#include <string.h>

static int in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
    || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Behind the blanks, comments and strings at `s`. */
static const char *skip(const char *s) {
  for (;;) {
    if (*s == ' ' || (*s >= '\t' && *s <= '\r')) {
      s++;
    } else if (s[0] == '/' && s[1] == '/') {
      s += strcspn(s, "\n");
    } else if (s[0] == '/' && s[1] == '*') {
      const char *end = strstr(s + 2, "*/");
      s = end != NULL ? end + 2 : s + strlen(s);
    } else if (*s == '"') {
      s += 1 + strcspn(s + 1, "\"\n");
      if (*s != '\0') s++;
    } else {
      return s;
    }
  }
}

cawb_ptx_word cawb_ptx_next(const char **at) {
  const char *s = skip(*at);
  size_t n = 0;
  while (in_word(s[n]) || (n > 0 && s[n] == ':' && s[n + 1] == ':')) n += s[n] == ':' ? 2 : 1;
  if (n == 0 && s[0] != '\0') n = 1;
  *at = s + n;
  return (cawb_ptx_word){ s, n };
}

int cawb_ptx_is(cawb_ptx_word w, const char *text) {
  return strlen(text) == w.size && memcmp(w.text, text, w.size) == 0;
}

int cawb_ptx_starts(cawb_ptx_word w, const char *prefix) {
  size_t n = strlen(prefix);
  return w.size >= n && memcmp(w.text, prefix, n) == 0;
}

int cawb_ptx_number(cawb_ptx_word w, size_t *number) {
  size_t value = 0;
  if (w.size == 0 || w.size > 9) return 0;
  for (size_t i = 0; i < w.size; i++) {
    if (w.text[i] < '0' || w.text[i] > '9') return 0;
    value = value * 10 + (size_t)(w.text[i] - '0');
  }
  *number = value;
  return 1;
}

/* log.c - see log.h. */
#include "gpu/compile/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static int starts(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static size_t line_size(const char *s) {
  size_t n = strcspn(s, "\n");
  return n + (s[n] == '\n');
}

/* Keep as much of both ends: errors stand at the start, ptxas' report at the end. */
static void cut_middle(char *log, size_t size, size_t most) {
  static const char note[] = "\n[... the middle of the log is left out ...]\n";
  size_t half = (most - sizeof note) / 2;
  memcpy(log + half, note, sizeof note - 1);
  memmove(log + half + sizeof note - 1, log + size - half, half + 1);
}

void cawb_compile_log_tidy(char *log, size_t most) {
  char *to = log;
  for (const char *from = log; *from != '\0';) {
    size_t n = line_size(from);
    if (!starts(from, "ptxas info    : Compile time = ")) {
      memmove(to, from, n);
      to += n;
    }
    from += n;
  }
  *to = '\0';
  if ((size_t)(to - log) > most) cut_middle(log, (size_t)(to - log), most);
  cawb_utf8_clean(log);
}

static int contains(const char *line, size_t size, const char *what) {
  return memmem(line, size, what, strlen(what)) != NULL;
}

/* "kernel.cu(3): error: ..." or "ptxas error   : ...", "ptxas fatal   : ...". */
static int reports(const char *line, size_t size) {
  if (starts(line, "ptxas ")) return contains(line, size, "error") || contains(line, size, "fatal");
  if (line[0] == ' ') return 0;  /* a quotation of the source */
  return contains(line, size, ": error") || contains(line, size, "catastrophic error:")
    || contains(line, size, "Command-line error");
}

int cawb_compile_log_error(const char *log, char *out, size_t room) {
  for (const char *line = log; *line != '\0'; line += line_size(line)) {
    size_t n = strcspn(line, "\n");
    if (!reports(line, n)) continue;
    snprintf(out, room, "%.*s", (int)(n < room ? n : room), line);
    return 1;
  }
  return 0;
}

/* The number in "..., 307200 bytes smem"; 0 where the line has none. */
static size_t shared_bytes(const char *line, size_t size) {
  const char *p = memmem(line, size, " bytes smem", sizeof " bytes smem" - 1);
  if (p == NULL) return 0;
  while (p > line && p[-1] >= '0' && p[-1] <= '9') p--;
  return strtoull(p, NULL, 10);
}

size_t cawb_compile_log_shared(const char *log, size_t most, char *out, size_t room) {
  static const char entry[] = "ptxas info    : Compiling entry function '";
  const char *name = "";
  for (const char *line = log; *line != '\0'; line += line_size(line)) {
    if (starts(line, entry)) name = line + sizeof entry - 1;
    size_t bytes = shared_bytes(line, strcspn(line, "\n"));
    if (bytes <= most) continue;
    snprintf(out, room, "%.*s", (int)strcspn(name, "'\n"), name);
    return bytes;
  }
  return 0;
}

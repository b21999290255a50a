/* test_sse.c - event streams in every packetisation. */
#include "base/http/sse.h"

#include <string.h>

#include "check.h"

/* All events of `text`, fed in pieces of `step` bytes, as "name=data|...". */
static void collect(const char *text, size_t step, size_t limit, char *out, size_t room) {
  cawb_sse s = { .limit = limit };
  size_t size = strlen(text);
  *out = '\0';
  for (size_t at = 0; at < size; at += step) {
    const char *bytes = text + at;
    size_t left = size - at < step ? size - at : step, n;
    for (; left > 0 && (n = cawb_sse_feed(&s, bytes, left)) > 0; bytes += n, left -= n)
      if (s.ready) {
        size_t used = strlen(out);
        snprintf(out + used, room - used, "%s=%s|", s.event.size > 0 ? s.event.data : "",
                 s.data.size > 0 ? s.data.data : "");
      }
  }
  size_t used = strlen(out);
  snprintf(out + used, room - used, "%s%s", s.failed ? "failed" : "", cawb_sse_pending(&s) ? "pending" : "");
  cawb_sse_free(&s);
}

static void same(const char *text, const char *want) {
  char out[400];
  for (size_t step = 1; step <= strlen(text); step++) {
    collect(text, step, 1000, out, sizeof out);
    CHECK(strcmp(out, want) == 0);
    if (strcmp(out, want) != 0) fprintf(stderr, "in steps of %zu: %s, not %s\n", step, out, want);
  }
}

static void test_lines(void) {
  same("data: a\n\ndata: b\n\n", "=a|=b|");
  same("data: a\r\n\r\ndata: b\r\n\r\n", "=a|=b|");
  same("data: a\r\rdata: b\r\r", "=a|=b|");
  same("\xef\xbb\xbf" "data: a\n\n", "=a|");
  same("data: one\ndata: two\n\n", "=one\ntwo|");
  same("data:  x \n\n", "= x |");
  same("data\n\n", "=|");
}

static void test_fields(void) {
  same("event: ping\ndata: {}\n\n", "ping={}|");
  same(": a comment\nid: 7\nretry: 5\ndata: x\n\n", "=x|");
  same("event: ping\n\ndata: x\n\n", "=x|");          /* an event without data is none */
  same("nonsense: y\ndatax: z\ndata: \xc3\xa9\n\n", "=\xc3\xa9|");
}

static void test_ends(void) {
  same("data: a\n\ndata: b", "=a|pending");
  same("data: a\n\ndata: b\n", "=a|pending");
  same("\n\n\n", "");
}

static void test_limit(void) {
  char out[400];
  for (size_t step = 1; step < 40; step += 3) {
    collect("data: short\n\ndata: much longer than ten\n\n", step, 16, out, sizeof out);
    CHECK(strcmp(out, "=short|failedpending") == 0 || strcmp(out, "=short|failed") == 0);
    collect("data: 1234\ndata: 5678\ndata: 9012\ndata: 3456\n\n", step, 16, out, sizeof out);
    CHECK(strstr(out, "failed") != NULL);
  }
}

int main(void) {
  test_lines();
  test_fields();
  test_ends();
  test_limit();
  return check_report();
}

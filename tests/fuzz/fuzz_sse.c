/* fuzz_sse.c - an event stream at once, and in pieces: the same events. */
#include "fuzz.h"
#include "base/http/sse.h"

enum { LIMIT = 4096 };

/* Events as a hash and a count; the rest of the state. */
typedef struct digest { uint64_t hash; size_t count; int failed, pending; } digest;

static void add(digest *d, const cawb_bytes *b) {
  for (size_t i = 0; i < b->size; i++) d->hash = (d->hash ^ (uint8_t)b->data[i]) * 1099511628211u;
  d->hash = (d->hash ^ 0x100) * 1099511628211u;
}

static digest read_all(const uint8_t *data, size_t size, size_t step) {
  cawb_sse s = { .limit = LIMIT };
  digest d = { .hash = 14695981039346656037u };
  for (size_t at = 0; at < size && !s.failed; at += step) {
    const char *bytes = (const char *)data + at;
    size_t left = size - at < step ? size - at : step, n;
    for (; left > 0 && (n = cawb_sse_feed(&s, bytes, left)) > 0; bytes += n, left -= n) {
      FUZZ_CHECK(n <= left);
      if (!s.ready) continue;
      FUZZ_CHECK(s.data.size <= LIMIT && s.event.size <= LIMIT);
      add(&d, &s.event);
      add(&d, &s.data);
      d.count++;
    }
  }
  d.failed = s.failed;
  d.pending = s.failed || cawb_sse_pending(&s);
  cawb_sse_free(&s);
  return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t steps[] = { 1, 3, 64 };
  if (size == 0) return 0;
  digest whole = read_all(data, size, size);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    digest d = read_all(data, size, steps[i]);
    FUZZ_CHECK(d.failed == whole.failed && d.pending == whole.pending);
    FUZZ_CHECK(d.count == whole.count && d.hash == whole.hash);
  }
  return 0;
}

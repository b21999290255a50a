/* frames.c - see frames.h. */
#include "base/server/frames.h"

#include <stdint.h>
#include <string.h>

enum { LAST = 0x80, OPCODE = 0x0f, MORE = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };
enum { MASKED = 0x80, LENGTH = 0x7f, TWO_BYTES = 126, EIGHT_BYTES = 127 };

/* ---- bytes */

static uint64_t big_endian(const unsigned char *at, size_t size) {
  uint64_t n = 0;
  for (size_t i = 0; i < size; i++) n = n << 8 | at[i];
  return n;
}

size_t cawb_frame_read(cawb_frame *f, char *bytes, size_t size, size_t most) {
  const unsigned char *at = (const unsigned char *)bytes;
  if (size < 2) return 0;
  size_t more = (at[1] & LENGTH) == TWO_BYTES ? 2 : (at[1] & LENGTH) == EIGHT_BYTES ? 8 : 0;
  size_t mask = (at[1] & MASKED) != 0 ? 4 : 0, head = 2 + more + mask;
  if (size < head) return 0;
  uint64_t length = more > 0 ? big_endian(at + 2, more) : at[1] & LENGTH;
  *f = (cawb_frame){ at[0], bytes + head, length > most ? most + 1 : (size_t)length };
  if (length > most) return head;
  if (size - head < length) return 0;
  for (size_t i = 0; mask > 0 && i < f->size; i++) f->bytes[i] ^= bytes[head - mask + i % mask];
  return head + f->size;
}

void cawb_frame_write(cawb_bytes *to, int opcode, const char *bytes, size_t size) {
  unsigned char head[10] = { (unsigned char)(LAST | opcode), (unsigned char)size };
  size_t more = size < TWO_BYTES ? 0 : size < 65536 ? 2 : 8;
  if (more > 0) head[1] = more == 2 ? TWO_BYTES : EIGHT_BYTES;
  for (size_t i = 0; i < more; i++) head[2 + i] = (unsigned char)((uint64_t)size >> 8 * (more - 1 - i));
  cawb_bytes_add(to, head, 2 + more);
  cawb_bytes_add(to, bytes, size);
}

/* ---- messages */

static cawb_frames_state extend(cawb_frames *f, int last, const char *bytes, size_t size) {
  if (size > f->most - f->message.size) return CAWB_FRAMES_TOO_LONG;
  cawb_bytes_add(&f->message, bytes, size);
  if (f->message.failed) return CAWB_FRAMES_TOO_LONG;
  f->open = !last;
  return last ? CAWB_FRAMES_WHOLE : CAWB_FRAMES_PART;
}

cawb_frames_state cawb_frames_add(cawb_frames *f, int bits, const char *bytes, size_t size) {
  int last = (bits & LAST) != 0;
  switch (bits & OPCODE) {
    case PING: case PONG: return CAWB_FRAMES_PART;
    case CLOSE: return CAWB_FRAMES_END;
    case BINARY: return CAWB_FRAMES_NO_TEXT;
    case TEXT: return f->open ? CAWB_FRAMES_BROKEN : extend(f, last, bytes, size);
    case MORE: return f->open ? extend(f, last, bytes, size) : CAWB_FRAMES_BROKEN;
    default: return CAWB_FRAMES_BROKEN;
  }
}

void cawb_frames_take(cawb_frames *f, cawb_bytes *to) {
  *to = f->message;
  memset(&f->message, 0, sizeof f->message);
}

void cawb_frames_free(cawb_frames *f) { cawb_bytes_free(&f->message); }

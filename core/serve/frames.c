/* frames.c - see frames.h. */
#include "serve/frames.h"

#include <string.h>

enum { LAST = 0x80, OPCODE = 0x0f, MORE = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };

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

/*
** frames.h - the frames of a WebSocket (RFC 6455, section 5): off the bytes that came and into bytes that go, and from
** frames to whole messages of text.
*/
#ifndef CAWB_SERVE_FRAMES_H
#define CAWB_SERVE_FRAMES_H

#include "base/bytes.h"

/* One frame: `bits` is its first byte, its last-frame flag and its opcode. */
typedef struct cawb_frame {
  int bits;
  char *bytes;                /* its payload, where it lies among those that came */
  size_t size;
} cawb_frame;

/* The frame that `size` bytes begin with: how many of them it takes, and its payload is unmasked in place; 0 while it is not
** whole. Above `most` the length alone is looked at: then a frame of more is whole with its header, and has no payload. */
size_t cawb_frame_read(cawb_frame *f, char *bytes, size_t size, size_t most);

/* Add a whole message, or a control frame, as a server sends it. */
void cawb_frame_write(cawb_bytes *to, int opcode, const char *bytes, size_t size);

/* Zero-initialise, set `most`, free. */
typedef struct cawb_frames {
  size_t most;                /* bytes of a message */
  int open;                   /* a message has begun, and its last frame has not come */
  cawb_bytes message;
} cawb_frames;

typedef enum cawb_frames_state {
  CAWB_FRAMES_PART,           /* nothing to do: a part of a message, a ping, a pong */
  CAWB_FRAMES_WHOLE,          /* a message is there: take it */
  CAWB_FRAMES_END,            /* the other side closes */
  CAWB_FRAMES_TOO_LONG, CAWB_FRAMES_NO_TEXT, CAWB_FRAMES_BROKEN          /* close, and say so */
} cawb_frames_state;

/* `bits` is a frame's first byte: its last-frame flag and its opcode. */
cawb_frames_state cawb_frames_add(cawb_frames *f, int bits, const char *bytes, size_t size);

/* Move the whole message into `to`, which is empty. */
void cawb_frames_take(cawb_frames *f, cawb_bytes *to);
void cawb_frames_free(cawb_frames *f);

#endif

/*
** convolve.c - a convolution on the CPU, tap by tap. Positions of the narrow side (y, or x
** of a transposed one) step over the wide side by `stride`.
*/
#include "sim/library/library.h"

#include <string.h>

/* Three dimensions of space, of which the first is a single one where there are two. */
typedef struct shape {
  int64_t narrow[3], wide[3], taps[3];
  int64_t stride[3], padding[3], dilation[3];
  int transposed;
} shape;

static shape shape_of(const cawb_conv *v) {
  const cawb_conv_tensor *narrow = v->transposed ? &v->x : &v->y, *wide = v->transposed ? &v->y : &v->x;
  int ahead = 3 - v->space;
  shape s = { .narrow = { 1, 1, 1 }, .wide = { 1, 1, 1 }, .taps = { 1, 1, 1 }, .stride = { 1, 1, 1 },
              .dilation = { 1, 1, 1 }, .transposed = v->transposed };
  for (int i = 0; i < v->space; i++) {
    s.narrow[i + ahead] = narrow->shape[i + 2];
    s.wide[i + ahead] = wide->shape[i + 2];
    s.taps[i + ahead] = v->w.shape[i + 2];
    s.stride[i + ahead] = v->stride[i];
    s.padding[i + ahead] = v->padding[i];
    s.dilation[i + ahead] = v->dilation[i];
  }
  return s;
}

/* Where on the wide side a tap of a narrow position lies; it may be outside. */
static int64_t place(const shape *s, int dim, int64_t at, int64_t tap) {
  return at * s->stride[dim] - s->padding[dim] + tap * s->dilation[dim];
}

/* One row of positions: to += f * from, where the wide side has the place. */
static void add_row(const shape *s, float *to, const float *from, int64_t tap, float f) {
  for (int64_t i = 0; i < s->narrow[2]; i++) {
    int64_t at = place(s, 2, i, tap);
    if (at < 0 || at >= s->wide[2]) continue;
    if (s->transposed) to[at] += f * from[i];
    else to[i] += f * from[at];
  }
}

static void add_tap(const shape *s, float *to, const float *from, const int64_t tap[3], float f) {
  for (int64_t z = 0; z < s->narrow[0]; z++) {
    int64_t wz = place(s, 0, z, tap[0]);
    for (int64_t y = 0; y < s->narrow[1] && wz >= 0 && wz < s->wide[0]; y++) {
      int64_t wy = place(s, 1, y, tap[1]);
      if (wy < 0 || wy >= s->wide[1]) continue;
      int64_t narrow = (z * s->narrow[1] + y) * s->narrow[2], wide = (wz * s->wide[1] + wy) * s->wide[2];
      add_row(s, to + (s->transposed ? wide : narrow), from + (s->transposed ? narrow : wide), tap[2], f);
    }
  }
}

/* One channel in, one out. */
static void add_channel(const shape *s, float *to, const float *from, const float *w) {
  int64_t tap[3];
  for (tap[0] = 0; tap[0] < s->taps[0]; tap[0]++)
    for (tap[1] = 0; tap[1] < s->taps[1]; tap[1]++)
      for (tap[2] = 0; tap[2] < s->taps[2]; tap[2]++) add_tap(s, to, from, tap, *w++);
}

static int64_t volume(const int64_t v[3]) { return v[0] * v[1] * v[2]; }

/* Channels whose sum is made apart: a library's kernels cut long sums too. */
#define STRETCH 8

static void add_plane(float *to, float *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    to[i] += from[i];
    from[i] = 0;
  }
}

void sim_convolve(float *y, float *part, const float *x, const float *w, const cawb_conv *v) {
  shape s = shape_of(v);
  int64_t in = v->x.shape[1] / v->groups, out = v->y.shape[1] / v->groups, taps = volume(s.taps);
  int64_t plane_x = volume(v->transposed ? s.narrow : s.wide);
  int64_t plane_y = volume(v->transposed ? s.wide : s.narrow);
  memset(part, 0, (size_t)plane_y * sizeof *part);
  memset(y, 0, (size_t)(v->y.shape[0] * v->y.shape[1] * plane_y) * sizeof *y);
  for (int64_t n = 0; n < v->x.shape[0]; n++)
    for (int64_t o = 0; o < v->y.shape[1]; o++)
      for (int64_t i = 0; i < in; i++) {
        int64_t from = o / out * in + i;
        int64_t weight = v->transposed ? from * out + o % out : o * in + i;
        add_channel(&s, part, x + (n * v->x.shape[1] + from) * plane_x, w + weight * taps);
        if (i % STRETCH == STRETCH - 1 || i == in - 1)
          add_plane(y + (n * v->y.shape[1] + o) * plane_y, part, plane_y);
      }
}

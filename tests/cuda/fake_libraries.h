/*
** fake_libraries.h - what the test doubles of cuBLASLt and cuDNN let a test see and set. The
** first computes float32 products as its manual says, in columns; the second notes what it
** is told and fills y. Both live in memory that the host sees, as the double of the driver has.
*/
#ifndef CAWB_FAKE_LIBRARIES_H
#define CAWB_FAKE_LIBRARIES_H

#include <stddef.h>

typedef struct fake_cublaslt {
  int live;                    /* things made and not yet undone */
  int refused;                 /* so many of its algorithms do not run, the first ones */
  size_t least;                /* bytes of workspace that its algorithms take */
  int none;                    /* 1: it knows no algorithm */
  int asked, ran;              /* heuristics, products */
  int compute, epilogue, algorithm;   /* of the last product */
  size_t workspace;
  unsigned align_a;            /* that heuristics were told of its first factor */
  void *stream;
} fake_cublaslt;

typedef struct fake_cudnn {
  int live;
  int refused;                 /* so many calls of a convolution fail */
  size_t least;
  int asked, forward, fused, backward, added, activated;
  int algorithm, math, groups, type, format, activation;
  int x[5], w[5], y[5], strides[5];   /* extents; strides of x */
  int pad[3], stride[3], dilation[3];
  void *stream;
} fake_cudnn;

#endif

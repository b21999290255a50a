/* shape.h - how the lanes of a shared access lie to each other, and what that costs; see sim/access/shape.c. */
#ifndef CAWB_SIM_EXEC_SHAPE_H
#define CAWB_SIM_EXEC_SHAPE_H

#include "sim/exec/exec.h"

enum { SIM_SPAN = 128 };        /* units, a multiple of 16 */
struct sim_shape {
  uint32_t apart[SIM_LANES];    /* bytes from the first active lane */
  uint32_t mask, size, low;     /* low: of the first address, where banks depend on it */
  uint32_t waves, least;
  int pattern;
  int32_t from, to;             /* the least and the greatest of `apart` */
  uint32_t odd;                 /* bits that any of `apart` has */
  int pair;                     /* there are two places */
  uint32_t words;               /* 4-byte words from the least to the last, where they are few */
  uint32_t word[SIM_LANES];     /* each lane's */
  int32_t ranges;
  struct sim_range { int32_t first, count; } range[SIM_LANES];   /* units touched */
  uint32_t units;               /* units to look at side by side; 0: go by range */
  uint32_t touched[SIM_SPAN];   /* UINT32_MAX: that unit is */
};

enum { SIM_SHAPES = 1 << 7 };   /* that are kept, by address register and size */

#endif

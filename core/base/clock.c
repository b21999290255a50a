/* clock.c - see clock.h. */
#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <time.h>

static double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double cawb_clock_now(void) { return read_clock(CLOCK_MONOTONIC); }
double cawb_clock_wall(void) { return read_clock(CLOCK_REALTIME); }

int cawb_clock_left_ms(double deadline) {
  double left = ceil((deadline - cawb_clock_now()) * 1e3);
  if (!(left > 0)) return 0;
  return left > (double)INT_MAX ? INT_MAX : (int)left;
}

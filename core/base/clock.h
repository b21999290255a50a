/* clock.h - the two clocks. Seconds, as doubles. */
#ifndef CAWB_BASE_CLOCK_H
#define CAWB_BASE_CLOCK_H

double cawb_clock_now(void);    /* monotonic; only differences mean something */
double cawb_clock_wall(void);   /* since 1970, for records */

/* Milliseconds left until `deadline` (of cawb_clock_now), 0 at the least; for poll. */
int cawb_clock_left_ms(double deadline);

#endif

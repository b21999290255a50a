/*
** fake_cupti.h - what the test double of libcupti lets a test see and set. It has one
** chip, "FAKE90", and knows every metric whose name does not begin with "no"; metric i
** of the r-th launch of a pass has the value 100 r + i.
*/
#ifndef CAWB_FAKE_CUPTI_H
#define CAWB_FAKE_CUPTI_H

#include <stddef.h>

typedef struct fake_cupti {
  int sessions;                /* range profilers that are enabled */
  int live;                    /* objects made and not yet undone */
  const unsigned *launches;    /* where the launches so far are counted */
  unsigned passes;             /* that a set needs */
  unsigned starts;             /* passes begun */
  size_t ranges;               /* launches of the last pass */
  size_t most;                 /* launches of a pass that room was asked for */
  size_t configured;           /* bytes for each launch, of the set that the session has */
  size_t dropped;              /* what decoding says was lost */
  int supported;               /* 0: the device cannot be profiled, confidential computing */
  size_t bad_range;            /* whose values cannot be computed; 0: none */
  int sampling;                /* 1 enabled, 2 configured, 3 started */
  unsigned sampled;            /* launches between start and stop */
  unsigned period;             /* as it was configured */
  unsigned pcs;                /* instructions that were seen; two lines, two reasons each */
  unsigned given;              /* instructions handed out */
  int full;                    /* 1: the hardware's buffer was full */
  unsigned roomy;              /* it is at any shorter period, too; 0: at none */
  int keeps;                   /* 1: one more instruction goes to the configured buffer */
  void *kept;                  /* that buffer */
  const char *fail;            /* the end of a function's name that gives fail_with, or NULL */
  int fail_with;
} fake_cupti;

#endif

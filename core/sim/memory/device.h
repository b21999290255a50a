/*
** device.h - the simulated device: what its rooms keep there. Each field belongs to the room that is
** named with it.
*/
#ifndef CAWB_SIM_MEMORY_DEVICE_H
#define CAWB_SIM_MEMORY_DEVICE_H

#include <pthread.h>
#include <stdio.h>

#include "gpu/device/device.h"
#include "sim/memory/region.h"

typedef cawb_figures sim_model;

struct sim_device {
  cawb_device base;
  const sim_model *model;       /* &figures */
  sim_model figures;
  /* Settings. */
  uint64_t sample;              /* most blocks of a launch that are executed; 0: all are */
  int sanitize;                 /* look for races, uninitialised memory and copies under way */
  FILE *prints;                 /* where printf of kernels goes; NULL: nowhere */
  int lasting;                  /* runs are one: nothing is put back or forgotten between them */
  unsigned threads;             /* that execute blocks; 0: as many as there are cores, where it is worth it */
  /* memory */
  sim_region **slots;           /* SIM_SLOTS of them, the first `nslots` in use */
  unsigned nslots, next_slot;
  size_t followed;              /* bytes of regions that have notes */
  struct sim_heap *heap;        /* see heap.h; NULL: no kernel has allocated */
  cawb_addr grid_barrier;       /* a word or two where cooperative launches meet; 0: there was none */
  pthread_mutex_t undo;         /* of what follows, see undo.c */
  struct sim_chunk *changed, *spare;
  size_t kept, spares;          /* how many there are */
  /* exec */
  const struct sim_isa *isa;
  uint32_t last_stretch;        /* the highest number given to one, see sim/watch/race.h; and of the launch at hand */
  uint32_t *owners, owners_room;        /* whose each is */
  int follows_ahead, any_ahead; /* launches leave marks for dependent ones, see sim/watch/ahead.h; some have */
  /* access */
  struct sim_l1 **l1;           /* a thread's each, see cache.h */
  unsigned nl1;
  uint32_t *hot;                /* SIM_HOT */
  /* time */
  double *sms;                  /* of each multiprocessor: clocks of the blocks of the launch, and of its units */
  uint32_t last_stamp;          /* the highest in a region's `last` */
  struct sim_watch *watch;      /* what each launch is noted in, or NULL; see profile.h */
  int launches;                 /* of the run so far */
  uint32_t turn;                /* what the order of blocks is drawn from, the last poison; 0: none is drawn */
  /* cores */
  uint64_t beside;              /* launches whose blocks ran beside each other */
};

#endif

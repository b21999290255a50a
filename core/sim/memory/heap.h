/*
** heap.h - what kernels allocate (malloc, new): a region of its own, of which they get pieces. Pieces hold
** nothing that was written when they are given, and again once they are freed.
*/
#ifndef CAWB_SIM_MEMORY_HEAP_H
#define CAWB_SIM_MEMORY_HEAP_H

#include "sim/memory/device.h"

#define SIM_HEAP_BYTES ((size_t)8 << 20)      /* as many as a GPU's, unless the host asks for more */

/* 0: there is no room. */
cawb_addr sim_heap_alloc(sim_device *d, uint64_t size);
int       sim_heap_free(sim_device *d, cawb_addr a);     /* 0: it was not allocated, or is free already */
void      sim_heap_drop(sim_device *d);                  /* with all that was allocated */

#endif

/* lacks.h - what a simulated device does not know. */
#ifndef CAWB_SIM_READ_LACKS_H
#define CAWB_SIM_READ_LACKS_H

/* How the i-th kind of unknown instruction begins in PTX, and its family. NULL behind the last one. */
const char *cawb_sim_lacks(unsigned i, const char **family);

#endif

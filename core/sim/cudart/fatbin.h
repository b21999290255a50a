/* fatbin.h - what nvcc put into a program: PTX and machine code, in several versions. */
#ifndef CAWB_CUDART_FATBIN_H
#define CAWB_CUDART_FATBIN_H

#include <stddef.h>

#include "base/err.h"

typedef struct cawb_fatbin {
  char *ptx;                   /* of the newest architecture that the device executes */
  unsigned char *cubin;        /* of the device's own architecture; NULL: there is none */
  size_t cubin_size;
} cawb_fatbin;

/*
** `data` is where a program's registration points; `arch` is the device's number: 90. CAWB_ERR_MISSING
** where nothing fits, with what to compile with. Free it in every case.
*/
cawb_status cawb_fatbin_read(cawb_fatbin *out, const void *data, unsigned arch, cawb_err *err);
void        cawb_fatbin_free(cawb_fatbin *f);

#endif

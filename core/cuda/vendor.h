/*
** vendor.h - NVIDIA's libraries of operations (cuBLASLt, cuDNN), opened at run time: none is
** linked and none of their headers is needed. Here is what their files share.
*/
#ifndef CAWB_CUDA_VENDOR_H
#define CAWB_CUDA_VENDOR_H

#include <stddef.h>

#include "base/err.h"
#include "base/locate.h"

typedef struct cawb_vendor {
  void *handle;                /* from dlopen */
  cawb_found found;
} cawb_vendor;

typedef struct cawb_vendor_symbol {
  const char *name;
  size_t offset;               /* of its pointer in the table */
} cawb_vendor_symbol;

/*
** Find and open `file` ("libcudnn.so") and fill `table` from it. CAWB_ERR_UNSUPPORTED, with
** what to install, where that fails: a plan could do without. Close it in every case.
*/
cawb_status cawb_vendor_open(cawb_vendor *v, const char *file, const cawb_places *places,
                             void *table, const cawb_vendor_symbol *symbols, size_t n,
                             cawb_err *err);
void        cawb_vendor_close(cawb_vendor *v);          /* closed is a no-op */

#endif

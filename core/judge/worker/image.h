/* image.h - compiled code as it lies in files, read for a device. */
#ifndef CAWB_WORKER_IMAGE_H
#define CAWB_WORKER_IMAGE_H

#include "gpu/device/device.h"

/* `cubin` may be NULL: then there is none. Free what was read, also after a failure. */
cawb_status cawb_image_read(cawb_image *out, const char *ptx, const char *cubin, cawb_err *err);
void        cawb_image_free(cawb_image *image);

#endif

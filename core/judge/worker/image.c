/* image.c - see image.h. */
#include "judge/worker/image.h"

#include <stdlib.h>

#include "base/file.h"

cawb_status cawb_image_read(cawb_image *out, const char *ptx, const char *cubin, cawb_err *err) {
  char *text = NULL, *code = NULL;
  size_t size;
  *out = (cawb_image){ NULL, NULL, 0 };
  if (ptx == NULL) return cawb_fail(err, CAWB_ERR_INVALID, "no PTX is named");
  cawb_status rc = cawb_slurp(&text, &size, ptx, err);
  out->ptx = text;
  if (rc == CAWB_OK && cubin != NULL) rc = cawb_slurp(&code, &out->cubin_size, cubin, err);
  out->cubin = code;
  return rc;
}

void cawb_image_free(cawb_image *image) {
  free((void *)image->ptx);
  free((void *)image->cubin);
  *image = (cawb_image){ NULL, NULL, 0 };
}

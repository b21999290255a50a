/*
** tensor.h - what is known of a tensor without its data: shape, strides, type,
** where it lies in a share. Read from the JSON that the task host sends.
*/
#ifndef CAWB_BASE_TENSOR_H
#define CAWB_BASE_TENSOR_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { CAWB_TENSOR_RANK = 16 };    /* most dimensions */

typedef struct cawb_tensor {
  char label[96];                  /* "inputs[1]", "params.fc.weight": for messages */
  char dtype[16];                  /* PyTorch's name: "float32" */
  int rank;
  int64_t shape[CAWB_TENSOR_RANK];
  int64_t strides[CAWB_TENSOR_RANK];   /* in elements */
  int64_t numel;
  size_t bytes;                    /* of the storage that the tensor spans */
  size_t offset;                   /* in its share */
} cawb_tensor;

/* Bytes of one element, 0 for an unknown type. */
size_t cawb_tensor_dtype_size(const char *dtype);

/* From {"shape":[..],"strides":[..],"dtype":"..","offset":n,"bytes":n}. */
cawb_status cawb_tensor_read(cawb_tensor *out, const cJSON *spec, const char *label,
                             cawb_err *err);

/* A contiguous tensor of this shape; CAWB_ERR_INVALID for sizes that overflow. */
cawb_status cawb_tensor_contiguous(cawb_tensor *t, cawb_err *err);

#endif

/*
** cudnn.h - convolutions by NVIDIA's cuDNN. A convolution is described once, which asks the
** library's heuristics, and then put on the library's stream any number of times. The
** thread's current CUDA context is the device; one thread uses a library and what it made.
*/
#ifndef CAWB_CUDA_CUDNN_H
#define CAWB_CUDA_CUDNN_H

#include "gpu/device/device.h"
#include "base/locate.h"

typedef struct cawb_cudnn cawb_cudnn;
typedef struct cawb_convolution cawb_convolution;

/* CAWB_ERR_UNSUPPORTED where it cannot be had. `stream` is a CUstream, for all its work. */
cawb_status cawb_cudnn_open(cawb_cudnn **out, const cawb_places *places, void *stream,
                            cawb_err *err);
void        cawb_cudnn_close(cawb_cudnn *l);            /* NULL is a no-op */

/*
** What `v` asks for. CAWB_ERR_CANDIDATE where no algorithm can do it, or none within its
** workspace: then with the bytes that the most modest one takes. Free it before its library.
*/
cawb_status cawb_convolution_new(cawb_convolution **out, cawb_cudnn *l, const cawb_conv *v,
                                 cawb_err *err);
void        cawb_convolution_free(cawb_convolution *c); /* NULL is a no-op */

void        cawb_convolution_choice(const cawb_convolution *c, cawb_choice *out);

/* Take the next best algorithm from now on; 0 where there is none. */
int         cawb_convolution_next(cawb_convolution *c);

/* 0, or the library's status; cawb_convolution_explain puts it in words. */
int         cawb_convolution_enqueue(cawb_convolution *c, const cawb_addr operand[CAWB_OPERANDS]);
const char *cawb_convolution_explain(const cawb_convolution *c, int status);

#endif

/*
** cublaslt.h - matrix products by NVIDIA's cuBLASLt. A product is described once, which asks
** the library's heuristics, and then put on a stream any number of times. The thread's
** current CUDA context is the device; one thread uses a library and its products.
*/
#ifndef CAWB_CUDA_CUBLASLT_H
#define CAWB_CUDA_CUBLASLT_H

#include "gpu/device/device.h"
#include "base/locate.h"

typedef struct cawb_cublaslt cawb_cublaslt;
typedef struct cawb_product cawb_product;

/* CAWB_ERR_UNSUPPORTED where it cannot be had. */
cawb_status cawb_cublaslt_open(cawb_cublaslt **out, const cawb_places *places, cawb_err *err);
void        cawb_cublaslt_close(cawb_cublaslt *l);      /* NULL is a no-op */

/*
** What `g` asks for. CAWB_ERR_CANDIDATE where no algorithm can do it, or none within its
** workspace: then with the bytes that the most modest one takes. Free it before its library.
*/
cawb_status cawb_product_new(cawb_product **out, cawb_cublaslt *l, const cawb_gemm *g,
                             cawb_err *err);
void        cawb_product_free(cawb_product *p);         /* NULL is a no-op */

void        cawb_product_choice(const cawb_product *p, cawb_choice *out);

/* Take the next best algorithm from now on; 0 where there is none. */
int         cawb_product_next(cawb_product *p);

/* Put it on a CUstream. 0, or the library's status; cawb_product_explain puts it in words. */
int         cawb_product_enqueue(cawb_product *p, const cawb_addr operand[CAWB_OPERANDS],
                                 void *stream);
const char *cawb_product_explain(const cawb_product *p, int status);

#endif

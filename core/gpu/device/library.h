/*
** library.h - a call of a vendor's library as a step of a plan: a matrix product
** (cuBLASLt) or a convolution (cuDNN). Here is what is computed, without addresses and
** without the library: a simulated device computes the same in C. Two descriptions of the
** same computation are equal byte for byte. Strides and extents are in elements.
*/
#ifndef CAWB_DEVICE_LIBRARY_H
#define CAWB_DEVICE_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

typedef enum cawb_dtype { CAWB_FLOAT32, CAWB_FLOAT16, CAWB_BFLOAT16, CAWB_DTYPES } cawb_dtype;

/* What factors are rounded to before they are multiplied; sums are always in float32.
** Factors of 16 bits are taken as they are, under their own name or "float32". */
typedef enum cawb_compute {
  CAWB_COMPUTE_FLOAT32, CAWB_COMPUTE_TF32, CAWB_COMPUTE_BF16, CAWB_COMPUTE_FP16, CAWB_COMPUTES
} cawb_compute;

/* What is done to a result on its way out, in this order. */
enum { CAWB_EPILOGUE_BIAS = 1, CAWB_EPILOGUE_RELU = 2, CAWB_EPILOGUE_GELU_TANH = 4 };

/* Element (i, j) of matrix s lies at s * batch + i * row + j * column; one of row and
** column is 1, and the other at least as long as what it steps over. */
typedef struct cawb_matrix {
  int64_t row, column, batch;  /* batch is 0 where all products share the matrix */
  cawb_dtype dtype;
  unsigned align;              /* bytes that its address is a multiple of */
} cawb_matrix;

/* c = epilogue(alpha * a b + beta * c): a is m x k, b is k x n, with transpositions in
** their strides. Bias has n elements of c's type. */
typedef struct cawb_gemm {
  int64_t m, n, k, count;      /* count: products in a batch */
  cawb_matrix a, b, c;
  cawb_compute compute;
  int epilogue;
  float alpha, beta;
  size_t workspace;            /* bytes that a library may use */
  size_t bias_align;           /* bytes that its address is a multiple of */
} cawb_gemm;

enum { CAWB_CONV_RANK = 5 };   /* batch, channels, and up to three of space */

typedef struct cawb_conv_tensor {
  int64_t shape[CAWB_CONV_RANK], strides[CAWB_CONV_RANK];
} cawb_conv_tensor;

/*
** y = epilogue(conv(x, w)). `space` is 2 or 3; a convolution in one dimension has a unit
** dimension ahead. Forward, w is (out channels, in channels / groups, ...); transposed, it is
** (in channels, out channels / groups, ...). Bias has one element for each out channel.
*/
typedef struct cawb_conv {
  cawb_conv_tensor x, w, y;
  int64_t stride[3], padding[3], dilation[3];
  int64_t groups;
  cawb_dtype dtype;            /* of all tensors */
  cawb_compute compute;
  int space, transposed, epilogue;
  size_t workspace;
} cawb_conv;

/* The addresses of a step: operands in this order, then the workspace. */
enum { CAWB_OPERAND_A, CAWB_OPERAND_B, CAWB_OPERAND_C, CAWB_OPERAND_BIAS, CAWB_OPERAND_WORKSPACE,
       CAWB_OPERANDS };
enum { CAWB_OPERAND_X = CAWB_OPERAND_A, CAWB_OPERAND_W = CAWB_OPERAND_B,
       CAWB_OPERAND_Y = CAWB_OPERAND_C };

/* How a device is going to compute it. */
typedef struct cawb_choice {
  char library[48];            /* "cuBLASLt 13.0.2", "" where there is none */
  int algorithm;               /* the library's number */
  size_t workspace;            /* bytes that it takes of those offered */
  int fused;                   /* 1: bias and activation are done on the way out */
} cawb_choice;

const char *cawb_dtype_name(cawb_dtype t);      /* PyTorch's */
const char *cawb_compute_name(cawb_compute c);

/* Operations, of which a multiply-add is two; bytes of the operands, each once. */
double cawb_gemm_flops(const cawb_gemm *g);
double cawb_gemm_bytes(const cawb_gemm *g);
double cawb_conv_flops(const cawb_conv *v);
double cawb_conv_bytes(const cawb_conv *v);

/* Bytes that are touched from each operand's address on; 0: there is no such operand. */
void   cawb_gemm_sizes(const cawb_gemm *g, size_t size[CAWB_OPERANDS]);
void   cawb_conv_sizes(const cawb_conv *v, size_t size[CAWB_OPERANDS]);

#endif

/* properties.h - the device as cudaGetDeviceProperties and cudaDeviceGetAttribute describe it. */
#ifndef CAWB_CUDART_PROPERTIES_H
#define CAWB_CUDART_PROPERTIES_H

#include "sim/cudart/cudart.h"

/* The structure of CUDA 12 is 1032 bytes long, that of CUDA 13 has lost some fields and been padded. */
void cawb_properties_12(const cawb_cudart *rt, void *out);
void cawb_properties_13(const cawb_cudart *rt, void *out);

/* A number of enum cudaDeviceAttr; 0 for what the simulated device has not. */
int cawb_properties_attribute(const cawb_cudart *rt, int which);

#endif

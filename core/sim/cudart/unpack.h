/* unpack.h - what nvcc compresses in a fat binary, made whole: LZ4 here, Zstandard by the system's library. */
#ifndef CAWB_CUDART_UNPACK_H
#define CAWB_CUDART_UNPACK_H

#include <stddef.h>

#include "base/err.h"

/* `size` bytes that become exactly `whole`; CAWB_ERR_INVALID where they do not. */
cawb_status cawb_unpack_lz4(unsigned char *out, size_t whole, const unsigned char *in, size_t size, cawb_err *err);

/* CAWB_ERR_MISSING where the machine has no libzstd.so.1. */
cawb_status cawb_unpack_zstd(unsigned char *out, size_t whole, const unsigned char *in, size_t size, cawb_err *err);

#endif

/*
** library.h - gemm and conv in C, where a plan calls NVIDIA's libraries. product.c and convolve.c are
** the arithmetic, on floats in one piece of memory each, already rounded.
*/
#ifndef CAWB_SIM_LIBRARY_LIBRARY_H
#define CAWB_SIM_LIBRARY_LIBRARY_H

#include "sim/memory/device.h"

cawb_status sim_library_run(sim_device *d, const cawb_step *s, cawb_report *report, cawb_err *err);
cawb_status sim_library_choose(cawb_device *d, const cawb_step *steps, size_t n, const char *site_packages,
                               cawb_choice *choices, cawb_err *err);
void sim_product_of(float *c, const float *a, const float *b, size_t m, size_t n, size_t k);
void sim_convolve(float *y, float *part, const float *x, const float *w, const cawb_conv *v);

#endif

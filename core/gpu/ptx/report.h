/* report.h - ptxas -v's words on each kernel, put into a table of kernels. */
#ifndef CAWB_PTX_REPORT_H
#define CAWB_PTX_REPORT_H

#include "gpu/ptx/kernels.h"

/* Fill registers ... barriers of the kernels that `log` speaks of; others: -1. */
void cawb_ptx_report(cawb_kernels *k, const char *log);

#endif

/*
** times.h - what the model of a candidate's kernels and that of PyTorch's have in common, so that neither knows more of a GPU than the
** other: a product cut into tiles, an L2 that something else left dirty, and how bounds of a time join.
*/
#ifndef CAWB_DEVICE_TIMES_H
#define CAWB_DEVICE_TIMES_H

/* Seconds of the arithmetic of `count` products of m by n sums of k terms each, by the best of the tiles that cuBLAS chooses from. `rate`:
** operations a second that large products reach on all `sms` multiprocessors. */
double cawb_times_product(double rate, double sms, double count, double m, double n, double k);

/* What goes through DRAM beside what is asked for, and may be less than nothing: what is fetched takes places of an L2 of size `all`, of
** which the share `dirty` has to be written back; what was stored last stays there instead. All in one unit, bytes or sectors. */
double cawb_times_left_over(double all, double dirty, double fetched, double stored);

/* Bounds of a time that work beside each other: the p-norm, for a large p the longest, and a little more where two are alike. */
double cawb_times_norm(const double *bounds, int n, double p);

#endif

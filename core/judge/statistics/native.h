/*
** native.h - statistics of outputs for the task host, in a library that it loads; see native.py.
** Matrices are rows x cols, without gaps. Outputs are float64 where `wide`, else float32; all else is float64.
*/
#ifndef CAWB_HOST_JUDGE_NATIVE_H
#define CAWB_HOST_JUDGE_NATIVE_H

#include <stdint.h>

struct cawb_native_scale { double scale; int64_t zeros; };      /* the largest finite magnitude */

/* Sums of squares of each row's finite elements, and how many they are. */
void cawb_native_reference(const double *ref, int64_t rows, int64_t cols, double *square, double *count,
                           struct cawb_native_scale *found);

/* The limits of errors: relative errors above `far` are counted; a reference of 0 counts as `zero_size`. */
struct cawb_native_job { int64_t rows, cols; double scale, rms, far, zero_size; };

/* `close`: the least tolerance, relative and absolute, at which allclose holds. Nothing but `square` is to be trusted where
** an element is not finite, and `square` is not finite then. */
struct cawb_native_errors { double square, sum, worst, close; int64_t worst_at, far; };

void cawb_native_errors(const void *out, int wide, const double *ref, const struct cawb_native_job *job, double *rows,
                        struct cawb_native_errors *found);

enum { CAWB_NATIVE_PARTS = 95 };        /* signs and octaves of terms.py */

/* Beside `sizes` of the terms; what is not finite on either side has no error. `worst` is a multiple of the scale, `square`
** of the square of the rms. */
struct cawb_native_look {
  double worst, square, own, row;
  int64_t row_at, far;
  double squares[CAWB_NATIVE_PARTS], counts[CAWB_NATIVE_PARTS];
};

void cawb_native_look(const void *out, int wide, const double *ref, const double *sizes, const struct cawb_native_job *job,
                      struct cawb_native_look *found);

#endif

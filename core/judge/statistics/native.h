/*
** native.h - statistics of outputs for the task host, in a library that it loads; see native.py.
** Matrices are rows x cols, without gaps. Outputs are float64 where `wide`, else float32; all else is float64.
**
** An output is held against its reference ref, d being their difference:
**   scale, rms   the largest magnitude of ref's finite elements, and their root mean square
**   worst        the largest |d|
**   nrms, bias   root mean square of d, and mean of d, both divided by rms (by 1 where that is 0)
**   worst row    the largest root mean square of a row's d, divided by that of the row's ref (of all of ref where the row's is 0)
**   far          elements where |d| > limit * |ref|, with rms in place of a ref of 0
**   close        the largest |d| / (1 + |ref|)
** native.c computes these on a processor, judge.cu on a GPU. Beside the sizes s of the terms that elements are made of:
**   worst        the largest |d| / max(s, scale), times scale
**   nrms         root mean square of d / max(s, rms)
**   own, far     the largest |d| / max(|ref|, s), and elements where that is above the limit
**   worst row    the largest root mean square of a row's d, divided by the larger of the row's ref's (as above) and the row's s's
**   parts        root mean square of |d| / max(|ref|, s) of the elements of one sign and one octave of |ref| / rms
** native.c computes these on a processor, and of small outputs of a GPU; terms.py in PyTorch's words on a GPU.
** tests/judge/host/test_native.py and test_judge.py hold all of them equal.
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

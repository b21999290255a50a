/*
** native.c - compares outputs with their references on a processor, reading each once; native.h says what is computed.
** native.py calls it. Sums have a fixed order: the same memory, the same bits.
*/
#include "native.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static double finite_or_0(double x) { return fabs(x) <= DBL_MAX ? x : 0; }
static double larger(double a, double b) { return a > b ? a : b; }

/* Element i of a tensor of float64, or of float32. */
static inline double at(const void *tensor, int wide, int64_t i) {
  return wide ? ((const double *)tensor)[i] : (double)((const float *)tensor)[i];
}

/* ------------------------------------------------------------------ references */

void cawb_native_reference(const double *ref, int64_t rows, int64_t cols, double *square, double *count,
                           struct cawb_native_scale *found) {
  found->scale = 0;
  found->zeros = 0;
  for (int64_t r = 0; r < rows; r++, ref += cols) {
    double sum = 0, finite = 0;
    for (int64_t c = 0; c < cols; c++) {
      double x = fabs(ref[c]), kept = finite_or_0(x);
      sum += kept * kept;
      finite += x <= DBL_MAX;
      found->zeros += x == 0;
      found->scale = larger(kept, found->scale);
    }
    square[r] = sum;
    count[r] = finite;
  }
}

/* ---------------------------------------------------------------------- errors */

/* One row; its squared errors are returned. */
static inline double errors_of_row(const void *out, int wide, const double *ref, int64_t from, int64_t cols,
                                   const struct cawb_native_job *job, struct cawb_native_errors *found) {
  double square = 0, sum = 0, close = found->close, worst = found->worst;
  int64_t far = 0, end = from + cols;
  for (int64_t i = from; i < end; i++) {
    double size = fabs(ref[i]), d = at(out, wide, i) - ref[i], error = fabs(d);
    square += d * d;
    sum += d;
    far += !(error <= job->far * (size == 0 ? job->zero_size : size));
    if (error > close * (1 + size)) close = error / (1 + size);
    if (error > worst) worst = error, found->worst_at = i;
  }
  found->far += far, found->close = close, found->worst = worst;
  found->sum += sum;
  return square;
}

void cawb_native_errors(const void *out, int wide, const double *ref, const struct cawb_native_job *job, double *rows,
                        struct cawb_native_errors *found) {
  memset(found, 0, sizeof *found);
  for (int64_t r = 0; r < job->rows; r++) {
    double square = wide ? errors_of_row(out, 1, ref, r * job->cols, job->cols, job, found)
                         : errors_of_row(out, 0, ref, r * job->cols, job->cols, job, found);
    rows[r] = square;
    found->square += square;
  }
}

/* ------------------------------------------------- errors beside an element's terms */

enum { DOWN = 40, UP = 6, OCTAVES = DOWN + UP + 1 };    /* as in terms.py */

/* The part that a reference of this size, as a multiple of the rms, belongs to: its sign and octave; the last part for all
** smaller ones. */
static inline int part_of(double ref, double multiple) {
  int64_t bits;
  memcpy(&bits, &multiple, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  if (exponent < -DOWN) return 2 * OCTAVES;
  int octave = (exponent < UP ? exponent : UP) + DOWN;
  return ref < 0 ? octave : octave + OCTAVES;
}

struct row { double ref, sizes, error; };    /* sums of squares */

static inline struct row look_at_row(const void *out, int wide, const double *all, const double *sizes, int64_t from,
                                     const struct cawb_native_job *job, struct cawb_native_look *found) {
  struct row sums = { 0, 0, 0 };
  for (int64_t i = from; i < from + job->cols; i++) {
    double d = fabs(finite_or_0(at(out, wide, i) - all[i])), ref = finite_or_0(all[i]), terms = sizes[i];
    double share = d / larger(larger(fabs(ref), terms), 2.3e-308), beside = d / larger(terms, job->rms);
    share = share < 1e30 ? share : 1e30;
    found->worst = larger(d / larger(terms, job->scale), found->worst);
    found->square += beside * beside;
    sums.ref += ref * ref;
    sums.sizes += terms * terms;
    sums.error += d * d;
    found->own = larger(share, found->own);
    found->far += share > job->far;
    int part = part_of(ref, fabs(ref) / job->rms);
    found->squares[part] += share * share;
    found->counts[part] += 1;
  }
  return sums;
}

/* The row whose error is the largest beside its own size, or that of its terms. */
static void note_row(const struct cawb_native_job *job, struct row sums, int64_t r, struct cawb_native_look *found) {
  double cols = (double)job->cols, own = sqrt(sums.ref / cols);
  own = larger(own > 0 ? own : job->rms, sqrt(sums.sizes / cols));
  double error = sqrt(sums.error / cols) / own;
  if (found->row == found->row && !(error <= found->row)) found->row = error, found->row_at = r;
}

void cawb_native_look(const void *out, int wide, const double *ref, const double *sizes, const struct cawb_native_job *job,
                      struct cawb_native_look *found) {
  memset(found, 0, sizeof *found);
  found->row = -1;
  for (int64_t r = 0; r < job->rows; r++) {
    struct row sums = wide ? look_at_row(out, 1, ref, sizes, r * job->cols, job, found)
                           : look_at_row(out, 0, ref, sizes, r * job->cols, job, found);
    note_row(job, sums, r, found);
  }
}

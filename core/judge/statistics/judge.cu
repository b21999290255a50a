/*
** judge.cu - outputs against their references, each read once, and hashes of memory.
** gpu.py launches these; native.h says what is computed. All sums have a fixed order: the
** same memory, the same bits.
*/
typedef unsigned long long word;
typedef long long whole;

enum { THREADS = 256, WARPS = THREADS / 32, RESIDENT = 2,    /* blocks of a multiprocessor */
       AHEAD = 8 };                                           /* loads in flight per thread */

/* The tallies. A missing index is NONE. */
enum { SQUARE, SUM, FAR, NANS, MISSING, INFINITE, UNWRITTEN,      /* sums */
       WORST, WORST_AT, ROW, ROW_AT,                              /* largest, with their index */
       FIRST, CLOSE, TALLIES,                /* smallest index; largest error / (1 + size) */
       GOT = TALLIES, WANT, FIELDS = 16 };
#define NONE 1e18

/* Statistics of a reference: rms and largest magnitude of its finite elements, and the
** number of zeros. Then the values that replace the rms of a row of zeros, and the size of
** a zero; and the number of finite elements. */
enum { RMS, SCALE, ZEROS, EMPTY_ROW, ZERO_SIZE, FINITE, ABOUT = 8 };

/* As in gpu.py: 8 bytes each. A piece is a row or a part of one. */
struct Job {
  const char *out;             /* slots of an output, `stride` bytes apart */
  whole stride;
  const double *reference;     /* rows x cols */
  whole rows, cols, parts, part;
  whole lanes;                 /* threads to a piece: a power of 2, 32 at most */
  double *about, *row_rms;     /* of the reference */
  double limit;                /* from this magnitude on, the dtype has infinity */
  double far;                  /* relative errors above it are counted */
  word poison, finite;         /* 32 bits, twice; is it a number? */
  double *pieces;              /* slots x rows x parts: squares. Reference: two of them */
  double *partial;             /* slots x partials x TALLIES */
  whole partials, base;        /* base: the first partial of this launch's blocks */
  double *result;              /* slots x FIELDS */
};

#define KERNEL(name, blocks) \
  extern "C" __global__ void __launch_bounds__(THREADS, blocks) name(const Job j)
#define LARGEST 1.7976931348623157e308
#define INFINITY_ __longlong_as_double(0x7ff0000000000000)

/* ------------------------------------------------------------- tallies */

__device__ void clear(double *t) {
  for (int i = 0; i < TALLIES; i++) t[i] = 0;
  t[WORST] = t[ROW] = -1;
  t[WORST_AT] = t[ROW_AT] = t[FIRST] = NONE;
}

/* The larger of two, or of equals the one with the smaller index. */
__device__ void larger(double &value, double &at, double other, double other_at) {
  if (other > value || (other == value && other_at < at)) value = other, at = other_at;
}

__device__ void merge(double *t, const double *other) {
  for (int i = 0; i <= UNWRITTEN; i++) t[i] += other[i];
  larger(t[WORST], t[WORST_AT], other[WORST], other[WORST_AT]);
  larger(t[ROW], t[ROW_AT], other[ROW], other[ROW_AT]);
  t[FIRST] = fmin(t[FIRST], other[FIRST]);
  t[CLOSE] = fmax(t[CLOSE], other[CLOSE]);
}

__device__ double add_lanes(double x, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

__device__ void merge_warp(double *t) {
  for (int step = 16; step > 0; step /= 2) {
    double other[TALLIES];
    for (int i = 0; i < TALLIES; i++) other[i] = __shfl_xor_sync(~0u, t[i], step);
    merge(t, other);
  }
}

/* The block's tally is thread 0's afterwards. */
__device__ void merge_block(double *t) {
  __shared__ double shared[WARPS][TALLIES];
  merge_warp(t);
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < TALLIES; i++) shared[threadIdx.x / 32][i] = t[i];
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < WARPS; w++) merge(t, shared[w]);
}

__device__ void write_partial(const Job &j, double *t) {
  merge_block(t);
  if (threadIdx.x > 0) return;
  double *to = j.partial + (blockIdx.y * j.partials + j.base + blockIdx.x) * TALLIES;
  for (int i = 0; i < TALLIES; i++) to[i] = t[i];
}

/* All partials of a slot; true in the thread that has them, which writes them down. */
__device__ bool finish(const Job &j, double *t) {
  clear(t);
  const double *from = j.partial + blockIdx.y * j.partials * TALLIES;
  for (whole i = threadIdx.x; i < j.partials; i += THREADS) merge(t, from + i * TALLIES);
  merge_block(t);
  if (threadIdx.x > 0) return false;
  for (int i = 0; i < TALLIES && j.result; i++) j.result[blockIdx.y * FIELDS + i] = t[i];
  return true;
}

/* -------------------------------------------------------------- pieces */

struct Piece { whole number, row, start, end; };   /* flat indices; empty beyond the last */

__device__ Piece piece_at(const Job &j, whole number) {
  Piece p = { number, 0, 0, 0 };
  if (number >= j.rows * j.parts) return p;
  p.row = j.parts == 1 ? number : number / j.parts;
  whole within = (number - p.row * j.parts) * j.part, left = j.cols - within;
  p.start = p.row * j.cols + within;
  p.end = p.start + (left < j.part ? left : j.part);
  return p;
}

/* The sum of a row's parts, in every lane of a warp. */
__device__ double add_row(const double *from, whole parts) {
  double sum = 0;
  for (whole i = threadIdx.x % 32; i < parts; i += 32) sum += from[i];
  return add_lanes(sum, 32);
}

__device__ void tally_row(const Job &j, double *t, whole row, double square) {
  double rms = j.row_rms[row];
  double x = sqrt(square / j.cols) / (rms > 0 ? rms : j.about[EMPTY_ROW]);
  larger(t[ROW], t[ROW_AT], x == x ? x : INFINITY_, row);
}

/* ----------------------------------------------------------- references */

/* SUM counts finite elements, FAR the zeros, WORST is the largest. */
__device__ void look(double *t, double x, double &square, double &count) {
  bool finite = fabs(x) <= LARGEST;
  t[FAR] += x == 0;
  if (!finite) return;
  square += x * x;
  count += 1;
  t[WORST] = fmax(t[WORST], fabs(x));
}

__device__ double rms_of(double square, double count) { return sqrt(square / fmax(count, 1.0)); }

KERNEL(reference_pieces, 1) {
  double t[TALLIES];
  clear(t);
  whole pieces = j.rows * j.parts, teams = THREADS / j.lanes;
  int lane = threadIdx.x % (int)j.lanes;
  for (whole first = blockIdx.x * teams; first < pieces; first += gridDim.x * teams) {
    Piece p = piece_at(j, first + threadIdx.x / j.lanes);
    double square = 0, count = 0;
    for (whole c = p.start + lane; c < p.end; c += AHEAD * j.lanes) {
      double x[AHEAD];
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
        x[k] = c + k * j.lanes < p.end ? __ldg(j.reference + c + k * j.lanes) : INFINITY_;
#pragma unroll
      for (int k = 0; k < AHEAD; k++) look(t, x[k], square, count);
    }
    square = add_lanes(square, (int)j.lanes);
    count = add_lanes(count, (int)j.lanes);
    if (lane > 0 || p.number >= pieces) continue;
    t[SQUARE] += square;
    t[SUM] += count;
    if (j.parts == 1) j.row_rms[p.row] = rms_of(square, count);
    else j.pieces[p.number] = square, j.pieces[pieces + p.number] = count;
  }
  write_partial(j, t);
}

KERNEL(reference_rows, 1) {
  for (whole row = blockIdx.x * WARPS + threadIdx.x / 32; row < j.rows; row += gridDim.x * WARPS) {
    const double *squares = j.pieces + row * j.parts, *counts = squares + j.rows * j.parts;
    double square = add_row(squares, j.parts), count = add_row(counts, j.parts);
    if (threadIdx.x % 32 == 0) j.row_rms[row] = rms_of(square, count);
  }
}

KERNEL(reference_finish, 1) {
  double t[TALLIES];
  if (!finish(j, t)) return;
  double rms = rms_of(t[SQUARE], t[SUM]);
  j.about[RMS] = rms;
  j.about[SCALE] = fmax(t[WORST], 0.0);
  j.about[FINITE] = t[SUM];
  j.about[ZEROS] = t[FAR];
  j.about[EMPTY_ROW] = rms > 0 ? rms : 1.0;
  j.about[ZERO_SIZE] = rms > 0 ? rms : 2.2250738585072014e-308;
}

/* -------------------------------------------------------------- outputs */

struct Half {
  typedef unsigned short raw;
  static __device__ double value(raw x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
  }
};
struct Bfloat {
  typedef unsigned short raw;
  static __device__ double value(raw x) { return __uint_as_float((unsigned)x << 16); }
};
struct Single {
  typedef unsigned raw;
  static __device__ double value(raw x) { return __uint_as_float(x); }
};
struct Double {
  typedef word raw;
  static __device__ double value(raw x) { return __longlong_as_double(x); }
};

/* The value of an untouched element. */
template <class Raw> __device__ Raw poison_at(const Job &j, whole at) {
  return (Raw)(j.poison >> (at * 8 * (int)sizeof(Raw) & 63));
}

/* An element that is infinite or NaN on either side. If both sides are the same, it
** has no error. */
__device__ void tally_odd(const Job &j, double *t, double got, double ref, whole at) {
  bool got_nan = got != got, ref_nan = ref != ref;
  double want = fabs(ref) >= j.limit ? copysign(INFINITY_, ref) : ref;
  bool nan = got_nan && !ref_nan, missing = ref_nan && !got_nan;
  bool infinite = !got_nan && !ref_nan && got != want;
  t[NANS] += nan;
  t[MISSING] += missing;
  t[INFINITE] += infinite;
  if (nan || missing || infinite) {
    t[FAR] += 1;
    t[FIRST] = fmin(t[FIRST], (double)at);
  } else larger(t[WORST], t[WORST_AT], 0.0, (double)at);
}

/* One element; its squared error is added to `square`. A finite poison is a number
** that a kernel may well have written where it is near the reference, or off by little beside its rms; reference.py says how near. */
template <class T> __device__ void take(const Job &j, double *t, double zero_size,
                                        typename T::raw raw, double ref, whole at, double &square) {
  double got = T::value(raw), d = got - ref, error = fabs(d);
  if (raw == poison_at<typename T::raw>(j, at) && !(j.finite && error <= fmax(fabs(ref), zero_size) * (sizeof raw == 2 ? 0.25 : 0.01)))
    t[UNWRITTEN] += 1;
  if (!(fabs(got) <= LARGEST && fabs(ref) < j.limit)) {
    tally_odd(j, t, got, ref, at);
    return;
  }
  square += d * d;
  t[SUM] += d;
  if (!(error <= fmin(j.far * (ref == 0 ? zero_size : fabs(ref)), LARGEST))) t[FAR] += 1;
  if (error > t[CLOSE] * (1 + fabs(ref))) t[CLOSE] = error / (1 + fabs(ref));
  if (error > t[WORST]) t[WORST] = error, t[WORST_AT] = (double)at;   /* `at` only grows */
}

template <class T> __device__ double judge_piece(const Job &j, double *t, const Piece &p,
                                                 int lane, int lanes, double zero_size) {
  const typename T::raw *out = (const typename T::raw *)(j.out + blockIdx.y * j.stride);
  double square = 0;
  for (whole c = p.start + lane; c < p.end; c += AHEAD * lanes) {
    typename T::raw got[AHEAD];
    double ref[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (c + k * lanes >= p.end) continue;
      got[k] = __ldg(out + c + k * lanes);
      ref[k] = __ldg(j.reference + c + k * lanes);
    }
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (c + k * lanes < p.end) take<T>(j, t, zero_size, got[k], ref[k], c + k * lanes, square);
  }
  return square;
}

template <class T> __device__ void judge_pieces(const Job &j) {
  double t[TALLIES], zero_size = j.about[ZERO_SIZE];
  clear(t);
  whole pieces = j.rows * j.parts, teams = THREADS / j.lanes;
  int lanes = (int)j.lanes, lane = threadIdx.x % lanes;
  for (whole first = blockIdx.x * teams; first < pieces; first += gridDim.x * teams) {
    Piece p = piece_at(j, first + threadIdx.x / lanes);
    double square = add_lanes(judge_piece<T>(j, t, p, lane, lanes, zero_size), lanes);
    if (lane > 0 || p.number >= pieces) continue;
    t[SQUARE] += square;
    if (j.parts == 1) tally_row(j, t, p.row, square);
    else j.pieces[blockIdx.y * pieces + p.number] = square;
  }
  write_partial(j, t);
}

KERNEL(judge_rows, 1) {
  double t[TALLIES];
  clear(t);
  for (whole row = blockIdx.x * WARPS + threadIdx.x / 32; row < j.rows; row += gridDim.x * WARPS) {
    const double *squares = j.pieces + (blockIdx.y * j.rows + row) * j.parts;
    double square = add_row(squares, j.parts);
    if (threadIdx.x % 32 == 0) tally_row(j, t, row, square);
  }
  write_partial(j, t);
}

/* The tally of a slot, and the element to show: the first of a wrong kind, else the worst. */
template <class T> __device__ void judge_finish(const Job &j) {
  double t[TALLIES];
  if (!finish(j, t)) return;
  whole at = (whole)(t[FIRST] < NONE ? t[FIRST] : t[WORST_AT]);
  double *to = j.result + blockIdx.y * FIELDS;
  to[GOT] = T::value(((const typename T::raw *)(j.out + blockIdx.y * j.stride))[at]);
  to[WANT] = j.reference[at];
}

#define JUDGE(T, name)                                     \
  KERNEL(judge_##name, RESIDENT) { judge_pieces<T>(j); }   \
  KERNEL(finish_##name, 1) { judge_finish<T>(j); }
JUDGE(Half, float16) JUDGE(Bfloat, bfloat16) JUDGE(Single, float32) JUDGE(Double, float64)

/* ---------------------------------------------------- integers and bools */

/* `reference` holds elements of the output's type, `about` (or NULL) other right values.
** FAR counts the elements that equal neither, FIRST is the first of them. */
template <class Raw> __device__ void exact(const Job &j) {
  const Raw *out = (const Raw *)(j.out + blockIdx.y * j.stride);
  const Raw *one = (const Raw *)j.reference, *other = (const Raw *)j.about;
  double t[TALLIES];
  clear(t);
  for (whole i = blockIdx.x * THREADS + threadIdx.x; i < j.cols; i += gridDim.x * THREADS) {
    Raw got = out[i], poison = poison_at<Raw>(j, i);
    if (got == one[i] || (other && got == other[i])) continue;
    t[FAR] += 1;
    t[FIRST] = fmin(t[FIRST], (double)i);
    t[UNWRITTEN] += got == poison;
  }
  write_partial(j, t);
}

KERNEL(exact_finish, 1) {
  double t[TALLIES];
  finish(j, t);
}

#define EXACT(Raw, size) KERNEL(exact_##size, 1) { exact<Raw>(j); }
EXACT(unsigned char, 1) EXACT(unsigned short, 2) EXACT(unsigned, 4) EXACT(word, 8)

/* --------------------------------------------------------------- hashes */

/* As in gpu.py. */
struct Bytes {
  const unsigned char *at;
  whole size;
  word key;
  word *result;                /* added to */
};

/* The finaliser of splitmix64: every bit of x moves about half of the result's. */
__device__ word mix(word x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* 8 bytes from anywhere, zeros behind the end. */
__device__ word gather(const Bytes &b, whole i) {
  word x = 0;
  for (int k = 0; k < 8; k++)
    if (i * 8 + k < b.size) x |= (word)b.at[i * 8 + k] << 8 * k;
  return x;
}

__device__ word hashed(const Bytes &b, word x, whole i) {
  return mix(x ^ (b.key + (word)i * 0x9e3779b97f4a7c15));
}

/* The sum, modulo 2^64, of a keyed mixture of each 8 bytes and their place. */
extern "C" __global__ void __launch_bounds__(THREADS) hash_bytes(const Bytes b) {
  whole me = (whole)blockIdx.x * THREADS + threadIdx.x, all = (whole)gridDim.x * THREADS;
  whole words = (b.size + 7) / 8, done = 0;
  word sum = 0;
  if ((word)b.at % 16 == 0) {
    const ulonglong2 *pairs = (const ulonglong2 *)b.at;
    whole npairs = b.size / 16;
    for (whole i = me; i < npairs; i += 4 * all) {
      ulonglong2 x[4];
#pragma unroll
      for (int k = 0; k < 4; k++) if (i + k * all < npairs) x[k] = pairs[i + k * all];
#pragma unroll
      for (int k = 0; k < 4; k++)
        if (i + k * all < npairs)
          sum += hashed(b, x[k].x, 2 * (i + k * all)) + hashed(b, x[k].y, 2 * (i + k * all) + 1);
    }
    done = 2 * npairs;
  }
  for (whole i = done + me; i < words; i += all) sum += hashed(b, gather(b, i), i);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(b.result, sum);
}

// Attention of 16-bit numbers: tiles of rows in shared memory, as they are.

__device__ __forceinline__ float power(float e) {
  float v;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(v) : "f"(e));
  return v;
}

// 16 bytes that will be there, or zeros.
__device__ __forceinline__ void copy_16_or_zeros(unsigned to, const void *from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(is_there ? 16 : 0) : "memory");
}

// A tile of ROWS rows, each of EIGHTS times eight numbers, PITCH bytes a row. `from(row, eight, is_there)` says where eight
// neighbours lie.
template <int THREADS, int ROWS, int EIGHTS, int PITCH, class From>
__device__ __forceinline__ void bring(unsigned to, From from) {
  UNROLL for (int n = 0; n < ROWS * EIGHTS; n += THREADS) {
    const int i = n + threadIdx.x;
    if (ROWS * EIGHTS % THREADS != 0 && i >= ROWS * EIGHTS) break;
    bool is_there = true;
    const void *at = from(i / EIGHTS, i % EIGHTS, is_there);
    copy_16_or_zeros(to + i / EIGHTS * PITCH + i % EIGHTS * 16, at, is_there);
  }
}

// The same of numbers that are computed: `read(v, row, eight)` sets them, TWO makes two of them one word.
template <int THREADS, int ROWS, int EIGHTS, int PITCH, unsigned (*TWO)(float, float), class Read>
__device__ __forceinline__ void make(unsigned char *to, Read read) {
  for (int i = threadIdx.x; i < ROWS * EIGHTS; i += THREADS) {
    const int row = i / EIGHTS, eight = i % EIGHTS;
    float v[8] = {};
    read(v, row, eight);
    uint4 all;
    all.x = TWO(v[0], v[1]), all.y = TWO(v[2], v[3]), all.z = TWO(v[4], v[5]), all.w = TWO(v[6], v[7]);
    *(uint4 *)(to + row * PITCH + eight * 16) = all;
  }
}

// 0 v for each of eight numbers, and what was there: zeros unless one of them is NaN or infinite.
template <bool BFLOAT>
__device__ __forceinline__ void mark_infinite(unsigned &mark, const uint4 &v) {
  const unsigned words[4] = { v.x, v.y, v.z, v.w };
  UNROLL for (int j = 0; j < 4; j++) {
    if (BFLOAT) asm("fma.rn.bf16x2 %0, %1, %2, %0;" : "+r"(mark) : "r"(words[j]), "r"(0));
    else asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(mark) : "r"(words[j]), "r"(0));
  }
}

// Whether a number of a tile is NaN or infinite, of those that are there.
template <int THREADS, int ROWS, int EIGHTS, bool BFLOAT, class From>
__device__ __forceinline__ int is_any_infinite(From from) {
  unsigned mark = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < ROWS * EIGHTS; i += THREADS) {
    bool is_there = true;
    const void *at = from(i / EIGHTS, i % EIGHTS, is_there);
    if (is_there) mark_infinite<BFLOAT>(mark, *(const uint4 *)at);
  }
  return (mark & 0x7fff7fff) != 0;
}

// The same of numbers that are computed.
template <int THREADS, int ROWS, int EIGHTS, class Read>
__device__ __forceinline__ int is_any_infinite(Read read) {
  float all = 0.0f;
  for (int i = threadIdx.x; i < ROWS * EIGHTS; i += THREADS) {
    float v[8] = {};
    read(v, i / EIGHTS, i % EIGHTS);
    UNROLL for (int j = 0; j < 8; j++) all = fmaf(v[j], 0.0f, all);
  }
  return all != 0.0f;
}

// For products on tensor cores whose factors are split where they are needed. A number is two of 16 bits in one word, high + low.

// The size of a number; of what is none, or infinite, nothing.
__device__ __forceinline__ float finite(float v) { return fabsf(v) < INFINITY ? fabsf(v) : 0.0f; }

__device__ __forceinline__ float widest(float most) {
  UNROLL for (int d = 1; d < 32; d *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  return most;
}

__device__ __forceinline__ float scaled(float v, int e) { return v * power_of_two(e / 2) * power_of_two(e - e / 2); }

// Two where a number is beyond 16-bit halves, one where it is so small beside the largest that they keep too few of its bits.
__device__ __forceinline__ int lost_by(float v, int e) {
  if (fabsf(v) == INFINITY || e < -66) return 2;
  return v != 0.0f && fabsf(scaled(v, e)) < 1.52587890625e-5f;      // 2^-16
}

__device__ __forceinline__ unsigned split_one(float v, float lift) {
  unsigned short high, low;
  float whole;
  asm("cvt.rn.f16.f32 %0, %2;\n cvt.f32.f16 %1, %0;" : "=&h"(high), "=f"(whole) : "f"(v));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(low) : "f"(lifted(v - whole, v, lift)));
  return high | (unsigned)low << 16;
}

// Two such words, as their two high halves and their two low ones.
__device__ __forceinline__ void join_pairs(unsigned a, unsigned b, unsigned &high, unsigned &low) {
  high = __byte_perm(a, b, 0x5410);
  low = __byte_perm(a, b, 0x7632);
}

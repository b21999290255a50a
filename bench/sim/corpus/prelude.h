// prelude.h - stands ahead of every file of the corpus: inputs made on the device, and
// results as 32-bit words. NaNs become one NaN: their payload is nobody's promise.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned u32;
typedef unsigned long long u64;
#define KERNEL(name) extern "C" __global__ void name(u32 *out, const u32 *in)
#define T threadIdx.x

__host__ __device__ constexpr u32 mixed(u32 x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16;
}

// in[0, 1024): whole numbers, corners first. in[1024, 2048): floats, corners first. Then
// floats in [-2, 2), then random bits.
extern "C" __global__ void fill(u32 *in) {
  const u32 corner[] = { 0, 1, 0xffffffff, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0x80000001, 0xffff, 0x10000,
                         0x8000, 0x7f, 0x80, 0xfffffff0 };
  const u32 strange[] = { 0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 1, 0x80000001,
                          0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3effffff, 0x4b000000, 0xcf000000,
                          0x4f000000, 0x33800000, 0x477fe000, 0x477ff000, 0x38800000, 0x387fc000, 0x40200000, 0xc0200000 };
  for (u32 i = T; i < 4096; i += blockDim.x) {
    u32 r = mixed(i * 2654435761u + 12345), v = r;
    if (i < 1024) v = i % 64 < 16 ? corner[(i % 64 + i / 64) % 16] : i % 3 == 0 ? r >> (r & 31) : r;
    else if (i < 2048) {
      u32 k = i - 1024;
      v = k % 64 < 24 ? strange[(k % 64 + k / 64 * 5) % 24]
        : (r & 0x807fffff) | (127 - 12 + (r >> 23 & 255) % 24) << 23;
    } else if (i < 3072) v = __float_as_uint((float)(int)r / 1073741824.0f);
    in[i] = v;
  }
}

__device__ __forceinline__ u32 word(const u32 *in, u32 i) { return in[i & 1023]; }
__device__ __forceinline__ float strange(const u32 *in, u32 i) { return __uint_as_float(in[1024 + (i & 1023)]); }
__device__ __forceinline__ float plain(const u32 *in, u32 i) { return __uint_as_float(in[2048 + (i & 1023)]); }
__device__ __forceinline__ u32 noise(const u32 *in, u32 i) { return in[3072 + (i & 1023)]; }
__device__ __forceinline__ u64 wide(const u32 *in, u32 i) { return (u64)word(in, i * 7 + 3) << 32 | noise(in, i); }
__device__ __forceinline__ double big(const u32 *in, u32 i) { return (double)plain(in, i) * 1.25 + (double)plain(in, i + 5) * 0x1p-25; }
__device__ __forceinline__ u32 bits(float x) { return x != x ? 0x7fffffffu : __float_as_uint(x); }
__device__ __forceinline__ void bits2(u32 *out, double x) {
  u64 u = x != x ? 0x7fffffffffffffffull : (u64)__double_as_longlong(x);
  out[0] = (u32)u, out[1] = (u32)(u >> 32);
}
__device__ __forceinline__ void bits2(u32 *out, u64 u) { out[0] = (u32)u, out[1] = (u32)(u >> 32); }
__device__ __forceinline__ u32 half_bits(__half h) {
  u32 u = __half_as_ushort(h);
  return (u & 0x7fff) > 0x7c00 ? 0x7fff : u;
}
__device__ __forceinline__ u32 half_bits(__nv_bfloat16 h) {
  u32 u = __bfloat16_as_ushort(h);
  return (u & 0x7fff) > 0x7f80 ? 0x7fff : u;
}
__device__ __forceinline__ u32 pair_bits(__half2 h) { return half_bits(__low2half(h)) | half_bits(__high2half(h)) << 16; }
__device__ __forceinline__ u32 pair_bits(__nv_bfloat162 h) { return half_bits(__low2bfloat16(h)) | half_bits(__high2bfloat16(h)) << 16; }
__device__ __forceinline__ __half2 halves(float x, float y) { return __floats2half2_rn(x, y); }
__device__ __forceinline__ __nv_bfloat162 brains(float x, float y) { return __floats2bfloat162_rn(x, y); }
// Products of warpgroups: what stands around them, and a
// descriptor of shared memory at a byte of it; mode 0: not mixed, 1: by 128 bytes, 2: by 64, 3: by 32.
__device__ __forceinline__ u64 tile(const void *p, u32 at, u32 leading, u32 stride, u32 mode, u32 base = 0) {
  return (u64)(((u32)__cvta_generic_to_shared(p) + at) >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32
    | (u64)base << 49 | (u64)mode << 62;
}
__device__ __forceinline__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end() { asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); }

// dot.cu - what tensor cores make of sums that their accumulators cannot hold: factors of any
// size, subnormal ones, overflow, and what is no number. Exact, like the kernels named _error.
__device__ __forceinline__ u32 tamed(u32 x, u32 top, u32 flip) { return (x & top) == top ? x ^ flip : x; }
__device__ __forceinline__ u32 any_f16(const u32 *in, u32 i) { return tamed(tamed(noise(in, i), 0x7c00, 0x4000), 0x7c000000, 0x40000000); }
__device__ __forceinline__ u32 any_bf16(const u32 *in, u32 i) { return tamed(tamed(noise(in, i), 0x7f80, 0x4000), 0x7f800000, 0x40000000); }
__device__ __forceinline__ u32 any_tf32(const u32 *in, u32 i) { return tamed(noise(in, i), 0x7f800000, 0x40000000); }
__device__ __forceinline__ u32 any_e4m3(const u32 *in, u32 i) { return noise(in, i) & 0xbfffbfff; }
__device__ __forceinline__ u32 any_e5m2(const u32 *in, u32 i) { return noise(in, i) & 0xbfbfbfbf; }
__device__ __forceinline__ u32 tiny_f16(const u32 *in, u32 i) { return noise(in, i) & 0x8bff8bff; }
__device__ __forceinline__ u32 tiny_bf16(const u32 *in, u32 i) { return noise(in, i) & 0xa07fa07f; }
__device__ __forceinline__ u32 near_one(const u32 *in, u32 i) { return (noise(in, i) & 0x83ff83ff) | 0x38003800; }
__device__ __forceinline__ u32 raw_sign(const u32 *in, u32 i) { return noise(in, i) & 0x80008000; }
__device__ __forceinline__ u32 raw(const u32 *in, u32 i) { return noise(in, i); }
__device__ __forceinline__ float sized(const u32 *in, u32 i) { return plain(in, i) * __uint_as_float((107 + i % 41) << 23); }
__device__ __forceinline__ float least(const u32 *in, u32 i) { return __uint_as_float(noise(in, i) & 0x80ffffff); }
__device__ __forceinline__ float whole(const u32 *, u32 i) { return (float)i; }
__device__ __forceinline__ float minus(const u32 *, u32) { return -0.0f; }

#define FLOATS4(c) "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#define WORDS4(a) "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define MMA(SHAPE, A, B, C) { u32 a[4], b[2]; float c[4]; \
  for (int i = 0; i < 4; i++) a[i] = A(in, T + 32 * i), c[i] = C(in, T + 200 + i * 32); \
  for (int i = 0; i < 2; i++) b[i] = B(in, T + 300 + 32 * i); \
  asm("mma.sync.aligned." SHAPE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : FLOATS4(c) : WORDS4(a), "r"(b[0]), "r"(b[1])); \
  for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]); }
#define HALVES(A, C) { u32 a[4], b[2], c[2]; for (int i = 0; i < 4; i++) a[i] = A(in, T + 32 * i); \
  for (int i = 0; i < 2; i++) b[i] = A(in, T + 300 + 32 * i), c[i] = C(in, T + 400 + 32 * i); \
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : WORDS4(a), "r"(b[0]), "r"(b[1])); \
  for (int i = 0; i < 2; i++) out[T * 2 + i] = c[i]; }
#define F16 "m16n8k16.row.col.f32.f16.f16.f32"
#define BF16 "m16n8k16.row.col.f32.bf16.bf16.f32"
#define TF32 "m16n8k8.row.col.f32.tf32.tf32.f32"
//: dot_f16 block=32 words=128
KERNEL(dot_f16) MMA(F16, any_f16, any_f16, sized)
//: dot_f16_tiny block=32 words=128
KERNEL(dot_f16_tiny) MMA(F16, tiny_f16, tiny_f16, least)
//: dot_f16_raw block=32 words=128
KERNEL(dot_f16_raw) MMA(F16, raw, raw, sized)
//: dot_bf16 block=32 words=128
KERNEL(dot_bf16) MMA(BF16, any_bf16, any_bf16, sized)
//: dot_bf16_tiny block=32 words=128
KERNEL(dot_bf16_tiny) MMA(BF16, tiny_bf16, tiny_bf16, least)
//: dot_bf16_minus block=32 words=128
KERNEL(dot_bf16_minus) MMA(BF16, raw_sign, raw_sign, minus)
//: dot_tf32 block=32 words=128
KERNEL(dot_tf32) MMA(TF32, any_tf32, any_tf32, sized)
//: dot_e4m3 block=32 words=128
KERNEL(dot_e4m3) MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", any_e4m3, any_e4m3, sized)
//: dot_e5m2 block=32 words=128
KERNEL(dot_e5m2) MMA("m16n8k32.row.col.f32.e5m2.e4m3.f32", any_e5m2, any_e4m3, sized)
//: dot_halves block=32 words=64
KERNEL(dot_halves) HALVES(near_one, near_one)
//: dot_halves_tiny block=32 words=64
KERNEL(dot_halves_tiny) HALVES(tiny_f16, tiny_f16)
//: dot_halves_sized block=32 words=64
KERNEL(dot_halves_sized) HALVES(near_one, any_f16)
#define FACTORS(f) __shared__ __align__(1024) u32 sm[8192]; for (u32 i = T; i < 8192; i += blockDim.x) sm[i] = f(in, i); \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); begin();
#define WARPGROUP(TYPE, tail, F, C) { FACTORS(F) float d[4]; for (int i = 0; i < 4; i++) d[i] = C(in, T * 4 + i); \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8" TYPE " {%0,%1,%2,%3}, %4, %5, 1, 1, 1" tail ";" : FLOATS4(d) : "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(sm + 5000, 0, 128, 256, 0))); end(); \
  for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(d[i]); }
#define WARPGROUP_HALVES(TYPE, tail, F, C) { FACTORS(F) u32 d[2]; for (int i = 0; i < 2; i++) d[i] = C(in, T * 2 + i); \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8" TYPE " {%0,%1}, %2, %3, 1, 1, 1" tail ";" : "+r"(d[0]), "+r"(d[1]) : "l"(tile(sm, 0, 128, 256, 0)), "l"(tile(sm + 5000, 0, 128, 256, 0))); end(); \
  for (int i = 0; i < 2; i++) out[T * 2 + i] = d[i]; }
//: dot_group_f16 block=128 words=512
KERNEL(dot_group_f16) WARPGROUP("k16.f32.f16.f16", ", 0, 0", any_f16, sized)
//: dot_group_f16_raw block=128 words=512
KERNEL(dot_group_f16_raw) WARPGROUP("k16.f32.f16.f16", ", 0, 0", raw, sized)
//: dot_group_bf16 block=128 words=512
KERNEL(dot_group_bf16) WARPGROUP("k16.f32.bf16.bf16", ", 0, 0", any_bf16, sized)
//: dot_group_bf16_tiny block=128 words=512
KERNEL(dot_group_bf16_tiny) WARPGROUP("k16.f32.bf16.bf16", ", 0, 0", tiny_bf16, least)
//: dot_group_tf32 block=128 words=512
KERNEL(dot_group_tf32) WARPGROUP("k8.f32.tf32.tf32", "", any_tf32, sized)
//: dot_group_e4m3 block=128 words=512
KERNEL(dot_group_e4m3) WARPGROUP("k32.f32.e4m3.e4m3", "", any_e4m3, sized)
//: dot_group_e4m3_raw block=128 words=512
KERNEL(dot_group_e4m3_raw) WARPGROUP("k32.f32.e4m3.e4m3", "", raw, sized)
//: dot_group_e5m2 block=128 words=512
KERNEL(dot_group_e5m2) WARPGROUP("k32.f32.e5m2.e4m3", "", any_e5m2, whole)
//: dot_group_8_sized block=128 words=512
KERNEL(dot_group_8_sized) WARPGROUP("k32.f32.e5m2.e5m2", "", any_e5m2, sized)
//: dot_group_halves block=128 words=256
KERNEL(dot_group_halves) WARPGROUP_HALVES("k16.f16.f16.f16", ", 0, 0", near_one, near_one)
//: dot_group_halves_8 block=128 words=256
KERNEL(dot_group_halves_8) WARPGROUP_HALVES("k32.f16.e4m3.e4m3", "", any_e4m3, near_one)

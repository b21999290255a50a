// memory.cu - loads and stores of every width and space, atomics.
#define OUT(k) out[(k) * 64 + T]

//: widths words=1024
KERNEL(widths) {
  const unsigned char *b = (const unsigned char *)in; const short *h = (const short *)in;
  OUT(0) = b[T * 3]; OUT(1) = ((const signed char *)b)[T * 5 + 1]; OUT(2) = h[T * 7]; OUT(3) = ((const unsigned short *)h)[T + 9]; bits2(out + 256 + 2 * T, ((const u64 *)in)[T * 3]);
  uint2 v = ((const uint2 *)in)[T]; uint4 w = ((const uint4 *)in)[T + 2]; OUT(6) = v.x ^ v.y; OUT(7) = w.x + w.y * w.z - w.w; double2 d = ((const double2 *)in)[T]; OUT(8) = (u32)__double_as_longlong(d.x); OUT(9) = (u32)(__double_as_longlong(d.y) >> 32);
  ((uint2 *)(out + 640))[T] = make_uint2(w.w, v.x); ((uint4 *)(out + 768))[T] = make_uint4(w.x, w.y, v.x, T);
}
//: small_stores words=256
KERNEL(small_stores) { ((unsigned char *)out)[T] = word(in, T); ((short *)(out + 16))[T] = word(in, T); ((u64 *)(out + 48))[T] = wide(in, T); ((uchar4 *)(out + 176))[T] = make_uchar4(T, 2, word(in, T), 4); if (T < 16) out[240 + T] = 5; }
//: cache_hints words=576
KERNEL(cache_hints) {
  OUT(0) = __ldg(in + T); OUT(1) = __ldcg(in + T * 2); OUT(2) = __ldcs(in + T * 3); OUT(3) = __ldca(in + T * 5); OUT(4) = __ldlu(in + T); OUT(5) = __ldcv(in + T + 1); __stcg(out + 384 + T, T); __stcs(out + 448 + T, 2 * T);
  u32 r; u64 policy; asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy)); asm volatile("prefetch.global.L2 [%0];" :: "l"(in)); asm volatile("ld.global.L1::no_allocate.L2::cache_hint.L2::128B.u32 %0, [%1], %2;" : "=r"(r) : "l"(in + T), "l"(policy)); OUT(8) = r;
}
//: shared_tile block=256 words=256
KERNEL(shared_tile) { __shared__ u32 s[16][17]; s[T / 16][T % 16] = word(in, T); __syncthreads(); out[T] = s[T % 16][T / 16]; }
//: shared_dynamic block=64 shared=2048 words=256
KERNEL(shared_dynamic) { extern __shared__ uint4 d[]; d[T] = ((const uint4 *)in)[T]; __syncthreads(); ((uint4 *)out)[T] = d[63 - T]; }
//: shared_bytes words=64
KERNEL(shared_bytes) { __shared__ unsigned char b[256]; __shared__ double q[8]; for (u32 i = 0; i < 4; i++) b[T + 64 * i] = word(in, T + i); if (T < 8) q[T] = big(in, T); __syncthreads(); out[T] = *(u32 *)(b + 4 * T) + __double2hiint(q[T & 7]); }
//: local_arrays words=128
KERNEL(local_arrays) { u32 a[24]; for (u32 i = 0; i < 24; i++) a[i] = word(in, T + i * 3); for (u32 i = 0; i < 60; i++) { u32 k = a[i % 24] % 24; a[k] = a[k] * 5 + a[(k + i) % 24]; } u32 s = 0; for (u32 i = 0; i < 24; i++) s = s * 31 + a[(i * T) % 24]; OUT(0) = s; char *p = (char *)a; OUT(1) = p[T & 63]; }
__constant__ u32 table[32] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5 };
__device__ u32 counter[4] = { 7, 8, 9, 10 };
//: constants words=128
KERNEL(constants) { OUT(0) = table[T & 31] * 2 + table[word(in, T) & 31]; OUT(1) = counter[T & 3]; }
//: generic_pointers words=64
KERNEL(generic_pointers) { __shared__ u32 s[64]; u32 l[4] = { T, 2, 3, word(in, T) }; s[T] = T * 9; __syncthreads(); const u32 *p = T % 3 == 0 ? s + (63 - T) : T % 3 == 1 ? in + T : l + (T & 3); out[T] = *p + (__isShared(p) ? 1 : 0) + (__isGlobal(p) ? 2 : 0) + (__isLocal(p) ? 4 : 0); }
//: shared_atomics words=128
KERNEL(shared_atomics) {
  __shared__ u32 s[32]; if (T < 32) s[T] = T == 3 ? ~0u : T == 4 ? 50 : 0; __syncthreads(); u32 x = word(in, T);
  atomicAdd(s, x); atomicSub(s + 1, x); atomicMax(s + 2, x); atomicMin(s + 3, x); atomicMin((int *)s + 4, (int)x); atomicMax((int *)s + 5, (int)x); atomicAnd(s + 3, x | 0xf0f0); atomicOr(s + 6, x & 0xff); atomicXor(s + 7, x); atomicInc(s + 8, 20); atomicDec(s + 9, 13); atomicAdd((unsigned long long *)(s + 10), wide(in, T)); atomicMax((unsigned long long *)(s + 12), wide(in, T)); atomicAdd((float *)s + 14, 0.25f); atomicAdd((double *)(s + 16), 0.5); if (T < 32) atomicCAS(s + 18, 0, 5); atomicExch(s + 19, 9); atomicMin((long long *)(s + 20), (long long)wide(in, T));
  __syncthreads(); out[T] = s[T & 31];
}
//: global_atomics grid=4 words=64
KERNEL(global_atomics) {
  u32 x = word(in, T + 64 * blockIdx.x);
  atomicAdd(out, x); atomicMax(out + 1, x); atomicXor(out + 2, x); atomicAdd((float *)out + 3, 1.0f); atomicAdd((double *)(out + 4), 0.125); atomicAdd((unsigned long long *)(out + 6), 3ull); atomicInc(out + 8, 100); atomicAdd((__half2 *)(out + 9), halves(1, 2)); atomicAdd((__nv_bfloat162 *)(out + 10), brains(1, 0.5f)); atomicAdd((__half *)(out + 11), __float2half(0.5f)); atomicMax((long long *)(out + 12), (long long)x); atomicAdd_block(out + 14, 1); atomicAdd_system(out + 15, 2); atomicOr(out + 16, x & 0x7f); atomicAnd(out + 17, x | 0xff); atomicAdd((__nv_bfloat16 *)(out + 18), __float2bfloat16(0.25f));
}
//: vector_atomics words=64
KERNEL(vector_atomics) { atomicAdd((float4 *)out, make_float4(1, 2, 3, 0.5f)); atomicAdd((float2 *)(out + 4), make_float2(1, 0.25f)); asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" :: "l"(out + 8), "r"(0x3c003c00) : "memory"); asm volatile("red.relaxed.gpu.global.add.noftz.v2.bf16x2 [%0], {%1, %1};" :: "l"(out + 12), "r"(0x3f803f80) : "memory"); asm volatile("red.global.max.noftz.v2.f16x2 [%0], {%1, %1};" :: "l"(out + 16), "r"(0x3c004000) : "memory"); }
//: atomic_results block=32 words=128
KERNEL(atomic_results) { u32 old = atomicAdd(out + 64, 1); atomicAdd(out + old, 1); u32 o2 = atomicExch(out + 96 + (T & 3), T); (void)o2; unsigned short s = atomicCAS((unsigned short *)(out + 100), (unsigned short)0, (unsigned short)7); if (T == 0) out[101] = s > 7; }
//: compare_and_swap words=64
KERNEL(compare_and_swap) { u32 seen = out[0], want; do { want = seen; seen = atomicCAS(out, want, want * 3 + 1); } while (seen != want); unsigned long long *p = (unsigned long long *)(out + 2), q = *p, w; do { w = q; q = atomicCAS(p, w, w + 5); } while (q != w); }
//: histogram block=256 grid=4 words=64
KERNEL(histogram) { __shared__ u32 h[64]; if (T < 64) h[T] = 0; __syncthreads(); atomicAdd(h + (noise(in, T + 256 * blockIdx.x) & 63), 1); __syncthreads(); if (T < 64) atomicAdd(out + T, h[T]); }
//: fences grid=8 words=64
KERNEL(fences) { if (T == 0) { out[8 + blockIdx.x] = blockIdx.x * 3; __threadfence(); if (atomicAdd(out, 1) == 7) { u32 s = 0; for (int i = 0; i < 8; i++) s += __ldcg(out + 8 + i); out[1] = s; } } }
//: scoped_accesses words=128
KERNEL(scoped_accesses) { u32 r; asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(out + T), "r"(T * 3) : "memory"); asm volatile("fence.acq_rel.gpu;" ::: "memory"); asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(out + T) : "memory"); asm volatile("st.relaxed.sys.global.u32 [%0], %1;" :: "l"(out + 64 + T), "r"(r + 1) : "memory"); asm volatile("membar.cta; membar.gl; fence.sc.cta; fence.proxy.async;" ::: "memory"); }

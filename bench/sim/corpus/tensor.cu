// tensor.cu - tensor cores. Small whole numbers make every order of summing the same; the
// kernels named _error have fractions.
#include <mma.h>
using namespace nvcuda;
__device__ __forceinline__ int small(const u32 *in, u32 i) { return (int)(noise(in, i) % 9) - 4; }
__device__ __forceinline__ u32 small2(const u32 *in, u32 i) { return pair_bits(halves(small(in, 2 * i), small(in, 2 * i + 1))); }
__device__ __forceinline__ u32 small2b(const u32 *in, u32 i) { return pair_bits(brains(small(in, 2 * i), small(in, 2 * i + 1))); }
__device__ __forceinline__ u32 plain2(const u32 *in, u32 i) { return pair_bits(halves(plain(in, 2 * i), plain(in, 2 * i + 1))); }
__device__ __forceinline__ u32 plain2b(const u32 *in, u32 i) { return pair_bits(brains(plain(in, 2 * i), plain(in, 2 * i + 1))); }
#define MMA16(TYPE, A, C0) { u32 a[4], b[2]; float c[4]; for (int i = 0; i < 4; i++) a[i] = A(in, T + 32 * i), c[i] = C0(in, T + 200 + i * 32); for (int i = 0; i < 2; i++) b[i] = A(in, T + 300 + 32 * i); \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]); }
//: mma_f16 block=32 words=128
KERNEL(mma_f16) MMA16("f16", small2, (float)small)
//: mma_bf16 block=32 words=128
KERNEL(mma_bf16) MMA16("bf16", small2b, (float)small)
//: mma_f16_error block=32 words=128
KERNEL(mma_f16_error) MMA16("f16", plain2, plain)
//: mma_bf16_error block=32 words=128
KERNEL(mma_bf16_error) MMA16("bf16", plain2b, plain)
//: mma_spread_error block=32 words=128
KERNEL(mma_spread_error) {
  u32 a[4], b[2]; float c[4];
  for (int i = 0; i < 4; i++) a[i] = pair_bits(brains(strange(in, 2 * T + 64 * i + 24), plain(in, T + i))), c[i] = plain(in, T + i * 32) * (float)(1 << (T & 15));
  for (int i = 0; i < 2; i++) b[i] = pair_bits(brains(plain(in, T + 32 * i), plain(in, 77 + T + i)));
  for (int i = 0; i < 4; i++) if ((a[i] & 0x7f80) == 0x7f80 || (a[i] & 0x7f800000) == 0x7f800000) a[i] = 0x3f803f80;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]);
}
//: mma_f16_sums block=32 words=64
KERNEL(mma_f16_sums) { u32 a[4], b[2], c[2]; for (int i = 0; i < 4; i++) a[i] = small2(in, T + 32 * i); for (int i = 0; i < 2; i++) b[i] = small2(in, T + 300 + 32 * i), c[i] = small2(in, T + 400 + i); asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); out[T * 2] = c[0]; out[T * 2 + 1] = c[1]; }
//: mma_k8 block=32 words=256
KERNEL(mma_k8) { u32 a[2], b = small2(in, T + 99); float c[4] = { 1, 2, 3, (float)T }; for (int i = 0; i < 2; i++) a[i] = small2(in, T + 32 * i); asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b)); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]);
  u32 e[2], f = small2b(in, T + 99); for (int i = 0; i < 2; i++) e[i] = small2b(in, T + 32 * i); asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(e[0]), "r"(e[1]), "r"(f)); for (int i = 0; i < 4; i++) out[128 + T * 4 + i] = bits(c[i]); }
#define TF32(A) { u32 a[4], b[2]; float c[4]; for (int i = 0; i < 4; i++) a[i] = __float_as_uint(A(in, T + 32 * i)), c[i] = A(in, T + 500 + i); for (int i = 0; i < 2; i++) b[i] = __float_as_uint(A(in, T + 300 + 32 * i)); \
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]); \
  asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[2]), "r"(a[1]), "r"(b[0])); for (int i = 0; i < 4; i++) out[128 + T * 4 + i] = bits(c[i]); }
//: mma_tf32 block=32 words=256
KERNEL(mma_tf32) TF32((float)small)
//: mma_tf32_error block=32 words=256
KERNEL(mma_tf32_error) TF32(plain)
//: mma_f64 block=32 words=128
KERNEL(mma_f64) { double a = small(in, T), b = small(in, T + 50), c[2] = { 0.5, (double)T }; asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b)); bits2(out + 4 * T, c[0]); bits2(out + 4 * T + 2, c[1]); }
//: mma_f64_wide block=32 words=256
KERNEL(mma_f64_wide) { double a[8], b[4], c[4]; for (int i = 0; i < 8; i++) a[i] = small(in, T + 32 * i); for (int i = 0; i < 4; i++) b[i] = small(in, T + 400 + 32 * i), c[i] = i; asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};" : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3])); for (int i = 0; i < 4; i++) bits2(out + 8 * T + 2 * i, c[i]); }
#define MMA8(TA, TB, SAT, K) int c[4] = { 1, -2, (int)T, 9 }; u32 a[4], b[2]; for (int i = 0; i < 4; i++) a[i] = noise(in, T + 32 * i); for (int i = 0; i < 2; i++) b[i] = noise(in, T + 300 + 32 * i); \
  asm("mma.sync.aligned.m16n8k" K ".row.col" SAT ".s32." TA "." TB ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); for (int i = 0; i < 4; i++) out[T * 4 + i] = c[i];
//: mma_s8 block=32 words=128
KERNEL(mma_s8) { MMA8("s8", "s8", "", "32") }
//: mma_u8_s8 block=32 words=128
KERNEL(mma_u8_s8) { MMA8("u8", "s8", ".satfinite", "32") }
//: mma_s4 block=32 words=128
KERNEL(mma_s4) { MMA8("s4", "u4", "", "64") }
//: mma_s8_k16 block=32 words=128
KERNEL(mma_s8_k16) { int c[4] = { 0, 1, 2, 3 }; u32 a[2] = { noise(in, T), noise(in, T + 40) }, b = noise(in, T + 90); asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b)); for (int i = 0; i < 4; i++) out[T * 4 + i] = c[i]; }
//: mma_b1 block=32 words=128
KERNEL(mma_b1) { int c[4] = { 0, 1, 2, 3 }; u32 a[4], b[2]; for (int i = 0; i < 4; i++) a[i] = noise(in, T + 32 * i); for (int i = 0; i < 2; i++) b[i] = noise(in, T + 300 + 32 * i); asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); for (int i = 0; i < 4; i++) out[T * 4 + i] = c[i]; }
//: mma_e4m3 block=32 words=128
KERNEL(mma_e4m3) { float c[4] = { 0, 1, 2, 3 }; u32 a[4], b[2]; for (int i = 0; i < 4; i++) a[i] = (noise(in, T + 32 * i) & 0x80808080) | 0x38383838; for (int i = 0; i < 2; i++) b[i] = (noise(in, T + 300 + 32 * i) & 0x88888888) | 0x30303030; asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); for (int i = 0; i < 4; i++) out[T * 4 + i] = bits(c[i]); }
//: ldmatrix_all block=32 words=320
KERNEL(ldmatrix_all) {
  __shared__ alignas(16) u32 s[256]; for (int i = 0; i < 8; i++) s[T + 32 * i] = noise(in, T + 32 * i); __syncwarp();
  u32 at = (u32)__cvta_generic_to_shared(s + 4 * (T ^ 5)), at2 = (u32)__cvta_generic_to_shared(s + 4 * (T + 32)), a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at)); out[T] = a; out[32 + T] = b; out[64 + T] = c; out[96 + T] = d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at2)); out[128 + T] = a; out[160 + T] = b; out[192 + T] = c ^ d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at)); asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b), "=r"(c) : "r"(at)); out[224 + T] = a; out[256 + T] = b; out[288 + T] = c;
}
//: stmatrix_all block=32 words=256
KERNEL(stmatrix_all) {
  __shared__ alignas(16) u32 s[256]; for (int i = 0; i < 8; i++) s[T + 32 * i] = 0; __syncwarp(); u32 at = (u32)__cvta_generic_to_shared(s + 4 * (T ^ 3)), at2 = (u32)__cvta_generic_to_shared(s + 4 * (T % 16 + 32)), at3 = (u32)__cvta_generic_to_shared(s + 4 * (T % 8 + 48));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(at), "r"(noise(in, T)), "r"(T), "r"(noise(in, T + 9)), "r"(7 * T) : "memory"); asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" :: "r"(at2), "r"(noise(in, T + 3)), "r"(T * 65537) : "memory"); asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at3), "r"(T) : "memory");
  __syncwarp(); for (int i = 0; i < 8; i++) out[T + 32 * i] = s[T + 32 * i];
}
//: movmatrix_all block=32 words=32
KERNEL(movmatrix_all) { u32 r; asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(noise(in, T))); out[T] = r; }
template <class E, int M, int N, int K, class LA, class LB, class C> __device__ void product(E *a, E *b, C *c, wmma::layout_t how, int lda, int ldb, int ldc) {
  wmma::fragment<wmma::matrix_a, M, N, K, E, LA> fa; wmma::fragment<wmma::matrix_b, M, N, K, E, LB> fb; wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::load_matrix_sync(fc, c, ldc, how); wmma::load_matrix_sync(fa, a, lda); wmma::load_matrix_sync(fb, b, ldb); wmma::mma_sync(fc, fa, fb, fc); for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i]; wmma::store_matrix_sync(c, fc, ldc, how);
}
template <class E> __device__ void made(E *p, const u32 *in, int n, u32 salt) { for (int i = T; i < n; i += 32) p[i] = (E)(float)small(in, i + salt); }
#define WMMA(E, C, M, N, K, LA, LB, HOW, LDA, LDB, LDC) { __shared__ alignas(32) E a[M * K], b[K * N]; __shared__ alignas(32) C c[M * N]; made(a, in, M * K, 0); made(b, in, K * N, 500); made(c, in, M * N, 250); __syncwarp(); \
  product<E, M, N, K, wmma::LA, wmma::LB, C>(a, b, c, wmma::HOW, LDA, LDB, LDC); __syncwarp(); for (int i = T; i < (int)(M * N * sizeof(C) / 4); i += 32) out[i] = ((u32 *)c)[i]; }
//: wmma_f16_f32 block=32 words=256
KERNEL(wmma_f16_f32) WMMA(__half, float, 16, 16, 16, row_major, col_major, mem_row_major, 16, 16, 16)
//: wmma_f16_f16 block=32 words=128
KERNEL(wmma_f16_f16) WMMA(__half, __half, 32, 8, 16, col_major, row_major, mem_col_major, 32, 8, 32)
//: wmma_bf16 block=32 words=256
KERNEL(wmma_bf16) WMMA(__nv_bfloat16, float, 8, 32, 16, row_major, row_major, mem_row_major, 16, 32, 32)
//: wmma_s8 block=32 words=256
KERNEL(wmma_s8) WMMA(signed char, int, 16, 16, 16, row_major, col_major, mem_row_major, 16, 16, 16)
//: wmma_u8 block=32 words=256
KERNEL(wmma_u8) { __shared__ alignas(32) unsigned char a[512], b[128]; __shared__ alignas(32) int c[256]; for (int i = T; i < 512; i += 32) a[i] = noise(in, i), b[i & 127] = noise(in, (i & 127) + 600), c[i & 255] = (i & 255); __syncwarp(); product<unsigned char, 32, 8, 16, wmma::col_major, wmma::row_major, int>(a, b, c, wmma::mem_col_major, 32, 8, 32); __syncwarp(); for (int i = T; i < 256; i += 32) out[i] = c[i]; }
//: wmma_f64 block=32 words=128
KERNEL(wmma_f64) WMMA(double, double, 8, 8, 4, row_major, col_major, mem_row_major, 4, 4, 8)
//: wmma_tf32 block=32 words=256
KERNEL(wmma_tf32) { __shared__ alignas(32) float a[128], b[128], c[256]; made(a, in, 128, 0); made(b, in, 128, 500); __syncwarp(); wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb; wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc; wmma::fill_fragment(fc, 1.0f); wmma::load_matrix_sync(fa, a, 8); wmma::load_matrix_sync(fb, b, 16); for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major); __syncwarp(); for (int i = T; i < 256; i += 32) out[i] = bits(c[i]); }
//: wmma_global_error block=32 words=256
KERNEL(wmma_global_error) { __half *a = (__half *)(out + 256); for (int i = T; i < 256; i += 32) a[i] = __float2half(plain(in, i)); __syncwarp(); __threadfence_block(); wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb; wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc; wmma::fill_fragment(fc, 0.0f); wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, a, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync((float *)out, fc, 16, wmma::mem_row_major); }

// units.cu - for tests/sim/test_sim_units.c: matrices, asynchronous copies, barrier objects, clusters.
#include <cuda_fp16.h>

typedef unsigned u32;
typedef unsigned long long u64;

__device__ u32 near(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// D = A B + C of halves, 16 x 8 x 16, all of them in rows (b: in columns).
extern "C" __global__ void product(float *d, const __half *a, const __half *b, const float *c) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const u32 *A = (const u32 *)a, *B = (const u32 *)b;
  u32 a0 = A[g * 8 + t], a1 = A[(g + 8) * 8 + t], a2 = A[g * 8 + t + 4], a3 = A[(g + 8) * 8 + t + 4];
  u32 b0 = B[g * 8 + t], b1 = B[g * 8 + t + 4];
  float r[4] = { c[g * 8 + 2 * t], c[g * 8 + 2 * t + 1], c[(g + 8) * 8 + 2 * t], c[(g + 8) * 8 + 2 * t + 1] };
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  d[g * 8 + 2 * t] = r[0]; d[g * 8 + 2 * t + 1] = r[1]; d[(g + 8) * 8 + 2 * t] = r[2]; d[(g + 8) * 8 + 2 * t + 1] = r[3];
}

// Of bytes, 16 x 8 x 32.
extern "C" __global__ void product_bytes(int *d, const signed char *a, const signed char *b) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const u32 *A = (const u32 *)a, *B = (const u32 *)b;
  u32 a0 = A[g * 8 + t], a1 = A[(g + 8) * 8 + t], a2 = A[g * 8 + t + 4], a3 = A[(g + 8) * 8 + t + 4];
  int r[4] = { 0, 0, 0, 0 };
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(B[g * 8 + t]), "r"(B[g * 8 + t + 4]));
  d[g * 8 + 2 * t] = r[0]; d[g * 8 + 2 * t + 1] = r[1]; d[(g + 8) * 8 + 2 * t] = r[2]; d[(g + 8) * 8 + 2 * t + 1] = r[3];
}

// 16 x 16 x 16, A in columns. Not by <mma.h>, which needs headers that PyTorch's packages lack.
#define EIGHT(how, v) how(v[0]), how(v[1]), how(v[2]), how(v[3]), how(v[4]), how(v[5]), how(v[6]), how(v[7])
#define LOAD(what, v, how, from) asm volatile("wmma.load." what " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;" \
  : EIGHT(how, v) : "l"(__cvta_generic_to_global(from)), "r"(16))
extern "C" __global__ void fragments(float *d, const __half *a, const __half *b, const float *c) {
  __shared__ float s[256];
  u32 x[8], y[8];
  float z[8];
  LOAD("a.sync.aligned.col.m16n16k16.global.f16", x, "=r", a);
  LOAD("b.sync.aligned.row.m16n16k16.global.f16", y, "=r", b);
  LOAD("c.sync.aligned.row.m16n16k16.global.f32", z, "=f", c);
  asm volatile("wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15},"
               "{%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};" : EIGHT("+f", z) : EIGHT("r", x), EIGHT("r", y));
  for (int i = 0; i < 8; i++) z[i] *= 2.0f;
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7}, %9;"
               :: EIGHT("f", z), "l"(__cvta_generic_to_shared(s)), "r"(16) : "memory");
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) d[i] = s[i];
}

// Four 8 x 8 matrices, turned, and back to where they came from.
extern "C" __global__ void turned(u32 *out, const u32 *in) {
  __shared__ __align__(16) u32 s[128];
  for (int i = 0; i < 4; i++) s[threadIdx.x + 32 * i] = in[threadIdx.x + 32 * i];
  __syncwarp();
  u32 a, b, c, d, at = near(s + 4 * threadIdx.x);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" :: "r"(at), "r"(a), "r"(b), "r"(c), "r"(d));
  __syncwarp();
  for (int i = 0; i < 4; i++) out[threadIdx.x + 32 * i] = s[threadIdx.x + 32 * i];
}

// Stages of a ring filled by bulk copies that tell barrier objects.
extern "C" __global__ void ring(int *out, const int *in, int stages) {
  __shared__ __align__(128) int s[2][64];
  __shared__ u64 full[2];
  u32 bar[2] = { near(full), near(full + 1) };
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar[k]));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < stages + 1; i++) {
    if (threadIdx.x == 0 && i < stages) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(bar[i % 2]));
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                   :: "r"(near(s[i % 2])), "l"(in + 64 * i), "r"(bar[i % 2]));
    }
    if (i > 0) {
      u32 done = 0, k = (i - 1) % 2, phase = (i - 1) / 2 % 2;
      while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(bar[k]), "r"(phase) : "memory");
      sum += s[k][threadIdx.x];
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Every block of a cluster of 4 reads what the next one has.
extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbour(int *out) {
  __shared__ int mine[32];
  u32 rank, far;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(near(mine + threadIdx.x)), "r"((rank + 1) % 4));
  int v;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(far) : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = v;
}
// An address in a block that the cluster has not: the rank stands in its upper bits.
extern "C" __global__ void __cluster_dims__(4, 1, 1) stored_nowhere(int *out) {
  __shared__ int mine[32];
  __shared__ unsigned long long bar;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(near(&bar)) : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
               ::"r"(near(mine + threadIdx.x) | 9u << 24), "r"(1), "r"(near(&bar)) : "memory");
  out[threadIdx.x] = mine[threadIdx.x];
}
// Block 0 has ended when the others read what it had.
extern "C" __global__ void __cluster_dims__(4, 1, 1) left_early(int *out) {
  __shared__ int mine[32];
  u32 rank, far;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  mine[threadIdx.x] = threadIdx.x;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0) return;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(near(mine + threadIdx.x)));
  int v;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(far) : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = v;
}

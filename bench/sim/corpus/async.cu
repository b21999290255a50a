// async.cu - copies that go on by themselves, barrier objects, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define OUT(k) out[(k) * 64 + T]
__device__ __forceinline__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void bar_init(u64 *b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_expect(u64 *b, u32 n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_arrive(u64 *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }
__device__ __forceinline__ void bar_wait(u64 *b, u32 parity) { asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W;}" :: "r"(at(b)), "r"(parity) : "memory"); }

//: copy_groups words=384
KERNEL(copy_groups) {
  __shared__ alignas(16) u32 s[3][256];
  for (int k = 0; k < 3; k++) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(s[k] + 4 * T)), "l"(in + 256 * k + 4 * T) : "memory"); asm volatile("cp.async.commit_group;" ::: "memory"); }
  asm volatile("cp.async.wait_group 2;" ::: "memory"); __syncthreads(); OUT(0) = s[0][255 - T]; OUT(1) = s[0][T * 4];
  asm volatile("cp.async.wait_group 1;" ::: "memory"); __syncthreads(); OUT(2) = s[1][255 - T]; OUT(3) = s[1][T * 3];
  asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); OUT(4) = s[2][255 - T]; OUT(5) = s[2][T * 2];
}
//: copy_zero_fill words=256
KERNEL(copy_zero_fill) {
  __shared__ alignas(16) u32 s[4][64]; u32 n = T % 5;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at(s[0] + T)), "l"(in + T), "r"(n) : "memory"); if (T < 32) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(at(s[1] + 2 * T)), "l"(in + 2 * T + 64), "r"(T % 9) : "memory");
  if (T < 16) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(at(s[2] + 4 * T)), "l"(in + 4 * T + 128), "r"(T) : "memory"); asm volatile("{.reg .pred p; setp.lt.u32 p, %2, 30; cp.async.ca.shared.global [%0], [%1], 4, p;}" :: "r"(at(s[3] + T)), "l"(in + T + 7), "r"(T) : "memory");
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory"); __syncthreads(); for (int k = 0; k < 4; k++) OUT(k) = s[k][63 - T];
}
//: pipeline_intrinsics words=128
KERNEL(pipeline_intrinsics) { __shared__ u32 s[2][64]; __pipeline_memcpy_async(&s[0][T], in + T, 4); __pipeline_commit(); __pipeline_memcpy_async(&s[1][T], in + 64 + T, 4, 2); __pipeline_commit(); __pipeline_wait_prior(1); __syncthreads(); OUT(0) = s[0][T ^ 1]; __pipeline_wait_prior(0); __syncthreads(); OUT(1) = s[1][T ^ 1]; }
//: group_copies block=128 words=128
KERNEL(group_copies) { __shared__ alignas(16) u32 s[256]; auto b = cg::this_thread_block(); cg::memcpy_async(b, s, in, 1024); cg::wait(b); out[T] = s[T ^ 3] + s[T + 128]; }
//: mbarrier_phases words=128
KERNEL(mbarrier_phases) {
  __shared__ u64 b; __shared__ u32 s[64]; if (T == 0) bar_init(&b, 64); __syncthreads(); u32 v = word(in, T);
  for (u32 k = 0; k < 6; k++) { s[T] = v; bar_arrive(&b); bar_wait(&b, k & 1); v = v * 3 + s[(T * 5 + k) & 63]; if (k == 5) break; bar_arrive(&b); k++; bar_wait(&b, k & 1); }
  OUT(0) = v; u64 state; u32 n; __syncthreads(); asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(&b)) : "memory"); u32 done; do asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(&b)), "l"(state) : "memory"); while (!done); n = done; OUT(1) = n;
}
//: mbarrier_copies block=128 words=256
KERNEL(mbarrier_copies) {
  __shared__ u64 b; __shared__ alignas(16) u32 s[512]; if (T == 0) bar_init(&b, 128); __syncthreads(); asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(s + 4 * T)), "l"(in + 4 * T) : "memory"); asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(&b)) : "memory"); bar_wait(&b, 0); out[T] = s[511 - T]; out[128 + T] = s[T * 2];
}
//: bulk_copy block=64 words=512
KERNEL(bulk_copy) {
  __shared__ u64 b; __shared__ alignas(128) u32 s[256]; if (T == 0) { bar_init(&b, 1); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); } __syncthreads();
  if (T == 0) { bar_expect(&b, 1024); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(at(s)), "l"(in), "r"(at(&b)) : "memory"); }
  bar_wait(&b, 0); for (int k = 0; k < 4; k++) s[T + 64 * k] = s[T + 64 * k] * 3 + 1; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
  if (T == 0) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(out), "r"(at(s)) : "memory"); asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;" :: "l"(out + 256), "r"(at(s)) : "memory"); asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }
}
//: bulk_stages block=96 words=512
KERNEL(bulk_stages) {
  __shared__ u64 full[2], empty[2]; __shared__ alignas(128) u32 s[2][128]; if (T == 0) { for (int i = 0; i < 2; i++) bar_init(full + i, 1), bar_init(empty + i, 64); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); } __syncthreads();
  if (T >= 64) { if (T == 64) for (u32 k = 0; k < 8; k++) { u32 i = k & 1; if (k >= 2) bar_wait(empty + i, (k / 2 - 1) & 1); bar_expect(full + i, 512); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" :: "r"(at(s[i])), "l"(in + 128 * k), "r"(at(full + i)) : "memory"); } }
  else for (u32 k = 0; k < 8; k++) { u32 i = k & 1; bar_wait(full + i, (k / 2) & 1); u32 v = s[i][T] ^ s[i][127 - T]; bar_arrive(empty + i); out[64 * k + T] = v; }
}
//: cluster_registers block=32 grid=8 cluster=4 words=256
KERNEL(cluster_registers) { auto c = cg::this_cluster(); u32 id, n; asm("mov.u32 %0, %%clusterid.x; mov.u32 %1, %%nclusterid.x;" : "=r"(id), "=r"(n)); out[blockIdx.x * 32 + T] = c.block_rank() + 10 * c.num_blocks() + 100 * c.thread_rank() + 100000 * c.block_index().x + 1000000 * id + 10000000 * n + 100000000 * (c.dim_blocks().x + c.dim_threads().y); }
//: cluster_shape block=32 grid=4,4 cluster=2,2 words=512
KERNEL(cluster_shape) { auto c = cg::this_cluster(); u32 id, n; asm("mov.u32 %0, %%clusterid.y; mov.u32 %1, %%nclusterid.y;" : "=r"(id), "=r"(n)); out[(blockIdx.y * 4 + blockIdx.x) * 32 + T] = c.block_rank() + 10 * c.block_index().x + 100 * c.block_index().y + 1000 * id + 10000 * n; }
//: cluster_shared block=64 grid=8 cluster=4 words=512
KERNEL(cluster_shared) { __shared__ u32 s[64]; auto c = cg::this_cluster(); s[T] = word(in, T + 64 * blockIdx.x); c.sync(); u32 v = 0; for (u32 r = 0; r < c.num_blocks(); r++) v = v * 3 + c.map_shared_rank(s, r)[(T + r) & 63]; c.sync(); *c.map_shared_rank(s + T, (c.block_rank() + 1) & 3) = v; c.sync(); out[blockIdx.x * 64 + T] = s[63 - T] + c.query_shared_rank(s); }
//: cluster_atomics block=64 grid=4 cluster=2 words=256
KERNEL(cluster_atomics) { __shared__ u32 h[64]; auto c = cg::this_cluster(); h[T] = 0; c.sync(); u32 x = noise(in, T + 64 * blockIdx.x); atomicAdd(c.map_shared_rank(h + (x & 63), (x >> 8) & 1), 1); c.sync(); out[blockIdx.x * 64 + T] = h[T]; }
//: cluster_addresses block=32 grid=2 cluster=2 words=128
KERNEL(cluster_addresses) { __shared__ u32 s[32]; u32 me, there, v; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me)); s[T] = T * 5 + me; asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory"); asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(s + T)), "r"(me ^ 1)); asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory"); u32 rank; asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(there)); asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(v + 1) : "memory"); asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); out[blockIdx.x * 64 + T] = s[T]; out[blockIdx.x * 64 + 32 + T] = v * 10 + rank; }
//: cluster_mbarriers block=32 grid=2 cluster=2 words=64
KERNEL(cluster_mbarriers) { __shared__ u64 b; __shared__ u32 s[32]; auto c = cg::this_cluster(); if (T == 0) bar_init(&b, 32); c.sync(); u32 other = c.block_rank() ^ 1, bt, st; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bt) : "r"(at(&b)), "r"(other)); asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(st) : "r"(at(s + T)), "r"(other)); asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(st), "r"(word(in, T + c.block_rank() * 32)) : "memory"); asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(bt) : "memory"); asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra W;}" :: "r"(at(&b)) : "memory"); out[blockIdx.x * 32 + T] = s[31 - T]; c.sync(); }
//: cluster_async_store block=32 grid=2 cluster=2 words=64
KERNEL(cluster_async_store) { __shared__ u64 b; __shared__ u32 s[32]; auto c = cg::this_cluster(); if (T == 0) { bar_init(&b, 1); bar_expect(&b, 128); } c.sync(); u32 other = c.block_rank() ^ 1, bt, st; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bt) : "r"(at(&b)), "r"(other)); asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(st) : "r"(at(s + T)), "r"(other)); asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" :: "r"(st), "r"(word(in, T + 9 + blockIdx.x)), "r"(bt) : "memory"); bar_wait(&b, 0); out[blockIdx.x * 32 + T] = s[T ^ 7]; c.sync(); }
//: cluster_multicast block=32 grid=2 cluster=2 words=128
KERNEL(cluster_multicast) { __shared__ u64 b; __shared__ alignas(128) u32 s[64]; auto c = cg::this_cluster(); if (T == 0) { bar_init(&b, 1); bar_expect(&b, 256); } c.sync(); if (c.block_rank() == 0 && T == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" :: "r"(at(s)), "l"(in), "r"(at(&b)), "h"((unsigned short)3) : "memory"); bar_wait(&b, 0); out[blockIdx.x * 64 + T] = s[T]; out[blockIdx.x * 64 + 32 + T] = s[63 - T]; c.sync(); }

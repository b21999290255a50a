// warp.cu - what the lanes of a warp do together, and the threads of a block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define OUT(k) out[(k) * 64 + T]

//: shuffles words=768
KERNEL(shuffles) {
  u32 x = word(in, T), l = T & 31;
  OUT(0) = __shfl_sync(~0u, x, 5); OUT(1) = __shfl_sync(~0u, x, l * 3, 8); OUT(2) = __shfl_up_sync(~0u, x, 3); OUT(3) = __shfl_up_sync(~0u, x, 2, 16); OUT(4) = __shfl_down_sync(~0u, x, 7); OUT(5) = __shfl_down_sync(~0u, x, 1, 4);
  OUT(6) = __shfl_xor_sync(~0u, x, 21); OUT(7) = __shfl_xor_sync(~0u, x, 5, 8); bits2(out + 512 + 2 * T, __shfl_xor_sync(~0u, wide(in, T), 9)); bits2(out + 640 + 2 * T, __shfl_down_sync(~0u, big(in, T), 4));
}
//: partial_shuffles words=128
KERNEL(partial_shuffles) {
  u32 x = word(in, T), r = 0;
  if (T % 32 < 20) r = __shfl_xor_sync(0xfffff, x, 1); else r = __shfl_sync(0xfff00000, x, 25);
  OUT(0) = r; if (T & 1) r = __shfl_down_sync(0xaaaaaaaa, x, 2, 32); OUT(1) = r;
}
//: shuffle_predicates words=64
KERNEL(shuffle_predicates) {
  u32 x = word(in, T), r;
  asm("{.reg .pred p; shfl.sync.up.b32 %0|p, %1, 5, 0, 0xffffffff; @p add.u32 %0, %0, 1;}" : "=r"(r) : "r"(x)); OUT(0) = r;
}
//: votes words=512
KERNEL(votes) {
  u32 x = word(in, T), u;
  OUT(0) = __ballot_sync(~0u, x & 1); OUT(1) = __all_sync(~0u, x > 0) + 2 * __any_sync(~0u, x == 77) + 4 * __all_sync(~0u, 1); OUT(2) = __activemask();
  asm("{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}" : "=r"(u) : "r"(T >> 5)); OUT(3) = u;
  OUT(4) = __match_any_sync(~0u, x & 3); int p; OUT(5) = __match_all_sync(~0u, T >> 5, &p) + p; OUT(6) = __match_all_sync(~0u, x, &p) + p; OUT(7) = __match_any_sync(~0u, wide(in, T & 7));
}
//: warp_reductions words=512
KERNEL(warp_reductions) {
  u32 x = word(in, T); int a = x;
  OUT(0) = __reduce_add_sync(~0u, x); OUT(1) = __reduce_min_sync(~0u, x); OUT(2) = __reduce_max_sync(~0u, x); OUT(3) = __reduce_min_sync(~0u, a); OUT(4) = __reduce_max_sync(~0u, a); OUT(5) = __reduce_and_sync(~0u, x | 3); OUT(6) = __reduce_or_sync(~0u, x & 0xff00);
  u32 r = 0; if (T & 2) r = __reduce_xor_sync(__activemask(), x); OUT(7) = r;
}
//: elected words=64
KERNEL(elected) {
  u32 r, p; asm("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}" : "=r"(r), "=r"(p)); OUT(0) = r * 2 + p;
}
//: lane_masks words=320
KERNEL(lane_masks) {
  u32 a, b, c, d, e; asm("mov.u32 %0, %%lanemask_lt; mov.u32 %1, %%lanemask_ge; mov.u32 %2, %%laneid; mov.u32 %3, %%lanemask_eq; mov.u32 %4, %%lanemask_le;" : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e));
  OUT(0) = a; OUT(1) = b; OUT(2) = c; OUT(3) = d; OUT(4) = e + blockDim.x * gridDim.x;
}
//: block_votes words=192
KERNEL(block_votes) { u32 x = word(in, T); OUT(0) = __syncthreads_count(x & 1); OUT(1) = __syncthreads_and(x != 9); OUT(2) = __syncthreads_or(x == 1); }
//: named_barriers block=128 words=256
KERNEL(named_barriers) {
  __shared__ u32 s[128]; u32 half = T / 64;
  s[T] = word(in, T);
  asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
  u32 v = s[T ^ 33];
  asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
  s[T] = v * 3;
  if (half == 0) asm volatile("bar.arrive 3, 128;" ::: "memory");
  else { asm volatile("bar.sync 3, 128;" ::: "memory"); v += s[T - 64]; }
  u32 n; asm volatile("{.reg .pred p; setp.gt.u32 p, %1, 1000; barrier.cta.red.popc.u32 %0, 4, 128, p;}" : "=r"(n) : "r"(v) : "memory");
  out[T] = v; out[128 + T] = n;
}
//: group_tiles words=768
KERNEL(group_tiles) {
  auto b = cg::this_thread_block(); auto t = cg::tiled_partition<16>(b); auto q = cg::tiled_partition<4>(t); u32 x = word(in, T) >> 8;
  OUT(0) = cg::reduce(t, x, cg::plus<u32>()); OUT(1) = cg::exclusive_scan(t, x); OUT(2) = cg::inclusive_scan(q, x, cg::less<u32>()); OUT(3) = t.shfl_xor(x, 3) + t.thread_rank() + t.meta_group_rank(); OUT(4) = q.ballot(x & 1) + q.any(x == 3); OUT(5) = t.match_any(x & 1);
  OUT(6) = b.thread_rank() + b.size() + b.group_index().x; OUT(7) = cg::reduce(q, (int)x - 500, cg::greater<int>()); b.sync(); OUT(8) = bits(cg::reduce(t, plain(in, T & 7), cg::greater<float>())); OUT(9) = t.shfl_down(x, 5); OUT(10) = t.num_threads(); OUT(11) = t.all(x != 1);
}
//: group_coalesced words=320
KERNEL(group_coalesced) {
  u32 x = word(in, T), r = 0, s = 0, u = 0;
  if (x & 1) { auto c = cg::coalesced_threads(); r = c.size() * 100 + c.thread_rank(); s = cg::reduce(c, x >> 4, cg::plus<u32>()); u = c.shfl(x, 0) + c.ballot(x & 2); }
  auto l = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), (int)(x & 3)); auto bp = cg::binary_partition(cg::tiled_partition<32>(cg::this_thread_block()), (x & 4) != 0);
  OUT(0) = r; OUT(1) = s; OUT(2) = u; OUT(3) = l.size() * 100 + l.thread_rank(); OUT(4) = bp.size() + cg::reduce(bp, x & 7, cg::plus<u32>());
}
//: block_scan block=256 words=256
KERNEL(block_scan) {
  __shared__ u32 part[8]; u32 x = word(in, T) & 0xffff, l = T & 31;
  for (u32 d = 1; d < 32; d *= 2) { u32 y = __shfl_up_sync(~0u, x, d); if (l >= d) x += y; }
  if (l == 31) part[T / 32] = x;
  __syncthreads();
  if (T < 8) { u32 y = part[T]; for (u32 d = 1; d < 8; d *= 2) { u32 z = __shfl_up_sync(0xff, y, d); if (l >= d) y += z; } part[T] = y; }
  __syncthreads();
  out[T] = x + (T >= 32 ? part[T / 32 - 1] : 0);
}
//: block_shapes block=4,4,4 grid=3,2,2 words=768
KERNEL(block_shapes) {
  u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  u32 r = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z; out[b * 64 + t] = r + gridDim.z * 1000000 + blockDim.y * 10000000;
}

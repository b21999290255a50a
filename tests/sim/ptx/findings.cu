// findings.cu - for tests/sim/test_sim_findings.c: wrong kernels, each beside a right one that
// differs in little else. All are (out, in).

#include <cstdio>

extern "C" __global__ void agree(int *out, const int *in) {       // all warps store one value
  __shared__ int flag, wide[4];
  flag = in[0];
  if (threadIdx.x % 32 == 0) *(int4 *)wide = make_int4(1, 2, 3, in[1]);
  __syncthreads();
  out[threadIdx.x] = flag + wide[3];
}
extern "C" __global__ void disagree(int *out, const int *in) {    // the last warp stores another
  __shared__ int flag;
  flag = in[threadIdx.x / 32 == blockDim.x / 32 - 1];
  __syncthreads();
  out[threadIdx.x] = flag;
}
extern "C" __global__ void agree_early(int *out, const int *in) {  // one value, but read at once
  __shared__ int flag;
  if (threadIdx.x < 64) flag = in[0];
  if (threadIdx.x >= 64) out[threadIdx.x] = flag;
}

template <int first> __device__ void shared_part(int *out, const int *in) {
  __shared__ int s[64];
  if (threadIdx.x < 64 && (int)threadIdx.x >= first) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void shared_set(int *out, const int *in) { shared_part<0>(out, in); }
extern "C" __global__ void shared_unset(int *out, const int *in) { shared_part<1>(out, in); }

extern "C" __global__ void shared_count_unset(int *out, const int *in) {
  __shared__ int count;
  __syncthreads();
  atomicAdd(&count, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = count;
}

template <int first> __device__ void local_part(int *out, const int *in) {
  volatile int a[8];
  for (int i = first; i < 8; i++) a[i] = in[i];
  out[threadIdx.x] = a[in[threadIdx.x] & 7];
}
extern "C" __global__ void local_set(int *out, const int *in) { local_part<0>(out, in); }
extern "C" __global__ void local_unset(int *out, const int *in) { local_part<2>(out, in); }

extern "C" __global__ void sum_up(int *out, const int *in) { out[threadIdx.x] += in[threadIdx.x]; }
extern "C" __global__ void sum_atomic(int *out, const int *in) { atomicAdd(out + threadIdx.x, in[threadIdx.x]); }
extern "C" __global__ void set_half(int *out, const int *in) {
  if (threadIdx.x < 128) out[threadIdx.x] = in[threadIdx.x];
}
extern "C" __global__ void pass_on(int *out, const int *in) { out[threadIdx.x + 256] = out[threadIdx.x] + in[0]; }

template <bool waits, bool barrier> __device__ void copy(int *out, const int *in) {
  __shared__ int s[256];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.commit_group;");
  if (waits) asm volatile("cp.async.wait_group 0;");
  if (barrier) __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
  asm volatile("cp.async.wait_all;");
}
extern "C" __global__ void copied(int *out, const int *in) { copy<true, true>(out, in); }
extern "C" __global__ void copied_unwaited(int *out, const int *in) { copy<false, true>(out, in); }
extern "C" __global__ void copied_no_barrier(int *out, const int *in) { copy<true, false>(out, in); }

template <bool apart> __device__ void neighbours(int *out, const int *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[threadIdx.x];
  if (blockIdx.x > 0) out[i + 2048] = out[i - (apart ? 0 : blockDim.x)];
}
extern "C" __global__ void blocks_own(int *out, const int *in) { neighbours<true>(out, in); }
extern "C" __global__ void blocks_reading(int *out, const int *in) { neighbours<false>(out, in); }

extern "C" __global__ void parted(int *out, const int *in) {
  if (threadIdx.x < 100) __syncthreads();
  else out[threadIdx.x] = in[0];
  asm volatile("bar.sync 1, 512;");
}

// No block ends before all have begun.
template <int width> __device__ void meet_all(int *out, const int *in) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(out + 4096, 1);
    while (*(volatile int *)(out + 4096) < (int)gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x] + ((volatile int *)out)[4096];
}
extern "C" __global__ void all_meet(int *out, const int *in) { meet_all<1>(out, in); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) all_clusters_meet(int *out, const int *in) { meet_all<2>(out, in); }

extern "C" __global__ void printing(int *out, const int *in) {
  out[threadIdx.x] = in[threadIdx.x];
  if (in[threadIdx.x] == 15) out[threadIdx.x] += printf("%d\n", in[threadIdx.x]);
}

// Tiles of a warp with masks of their own, at one instruction.
extern "C" __global__ void tiles(int *out, const int *in) {
  unsigned mask = threadIdx.x & 16 ? 0xffff0000u : 0x0000ffffu;
  out[threadIdx.x] = __reduce_add_sync(mask, (unsigned)in[threadIdx.x]) + __popc(__ballot_sync(mask, threadIdx.x & 1));
}

typedef int (*function)(int);
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int less(int x) { return x - 1; }
__device__ const function table[] = { twice, square, less };
extern "C" __global__ void by_pointer(int *out, const int *in) { out[threadIdx.x] = table[in[threadIdx.x] % 3](in[threadIdx.x]); }

// races.cu - kernels with a race, and beside each one that does the same in order.

// Thread 0 of the last warp reads what all warps add to: without the barrier it reads too early.
template <bool barrier> __device__ void count_up(int *out, const int *in) {
  __shared__ int c;
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
  atomicAdd(&c, in[threadIdx.x]);
  if (barrier) __syncthreads();
  if (threadIdx.x == blockDim.x - 1) out[0] = c;
}
extern "C" __global__ void counted(int *out, const int *in) { count_up<true>(out, in); }
extern "C" __global__ void counted_race(int *out, const int *in) { count_up<false>(out, in); }

extern "C" __global__ void histogram(int *out, const int *in) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 4; k++) atomicAdd(&bins[in[threadIdx.x] + k & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

// Updates that are no atomics: in shared memory and, of several blocks, in global memory. A sum with a missing barrier is none.
extern "C" __global__ void histogram_race(int *out, const int *in) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[in[threadIdx.x] & 15] += 1;
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void histogram_global_race(int *out, const int *in) { out[in[threadIdx.x] & 15] += 1; }
extern "C" __global__ void halves_race(int *out, const int *in) {
  __shared__ int part[256];
  part[threadIdx.x] = in[threadIdx.x];
  for (int d = 128; d > 0; d /= 2)
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  out[threadIdx.x] = part[threadIdx.x];
}

// A plain read, then other warps' atomics.
extern "C" __global__ void peeked_race(int *out, const int *in) {
  __shared__ int c;
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = c;
  else atomicAdd(&c, in[threadIdx.x]);
}

// The loop that makes any update atomic begins with a plain read.
extern "C" __global__ void swapped(float *out, const float *in) {
  __shared__ unsigned most;
  if (threadIdx.x == 0) most = __float_as_uint(-1e30f);
  __syncthreads();
  unsigned old = most, seen;
  do {
    seen = old;
    old = atomicCAS(&most, seen, __float_as_uint(fmaxf(__uint_as_float(seen), in[threadIdx.x])));
  } while (old != seen);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = __uint_as_float(most);
}

// Every lane stores to one place: its own value, or one that all agree on.
extern "C" __global__ void lanes_race(int *out, const int *in) {
  __shared__ int s[8];
  s[threadIdx.x / 32] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x / 32];
}
extern "C" __global__ void lanes_agree(int *out, const int *in) {
  __shared__ int s[8];
  s[threadIdx.x / 32] = in[threadIdx.x / 32];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x / 32];
}
extern "C" __global__ void pairs_race(int *out, const int *in) {
  __shared__ int s[128];
  s[threadIdx.x / 2] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x / 2];
}
extern "C" __global__ void pairs_global_race(int *out, const int *in) { out[threadIdx.x / 2] = in[threadIdx.x]; }

// Blocks and one element: different values, one value, each its own, by turns.
extern "C" __global__ void blocks_race(int *out, const int *in) {
  if (threadIdx.x == 0) out[3] = in[blockIdx.x];
}
extern "C" __global__ void blocks_agree(int *out, const int *in) {
  if (threadIdx.x == 0) out[3] = in[0];
}
extern "C" __global__ void blocks_apart(int *out, const int *in) {
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x];
}
extern "C" __global__ void blocks_rows_race(int *out, const int *in) {
  out[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}
extern "C" __global__ void blocks_turns(int *out, const int *in) {
  if (threadIdx.x != 0) return;
  while (atomicAdd(&out[0], 0) != blockIdx.x) ;
  __threadfence();
  out[1] = in[blockIdx.x];
  __threadfence();
  atomicExch(&out[0], blockIdx.x + 1);
}
extern "C" __global__ void blocks_zero_race(int *out, const int *in) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, in[blockIdx.x]);
}

// Two blocks within one sector of 32 bytes: apart, and where one stored to all of it.
extern "C" __global__ void blocks_halves(int *out, const int *in) {
  if ((threadIdx.x < 5) == (blockIdx.x == 0)) out[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}
extern "C" __global__ void blocks_part_race(int *out, const int *in) {
  if (blockIdx.x == 0 || threadIdx.x == 5) out[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}
extern "C" __global__ void blocks_whole_race(int *out, const int *in) {
  if (blockIdx.x == 1 || threadIdx.x == 5) out[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}

// In a dependent launch: its accesses ahead of griddepcontrol.wait, which it may have, have no order with the launch before.
#define GRID_WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
extern "C" __global__ void ahead_twice(int *out, const int *in) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
extern "C" __global__ void ahead_waits(int *out, const int *in) {
  GRID_WAIT();
  out[threadIdx.x] = 2 * in[threadIdx.x];
}
extern "C" __global__ void ahead_late(int *out, const int *in) {
  int v = in[threadIdx.x];
  GRID_WAIT();
  out[threadIdx.x] = 2 * v;
}
extern "C" __global__ void ahead_one_waits(int *out, const int *in) {
  if (threadIdx.x == 0) GRID_WAIT();
  __syncthreads();
  out[threadIdx.x] = 2 * in[threadIdx.x];
}

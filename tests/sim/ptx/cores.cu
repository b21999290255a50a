// Kernels for test_sim_cores.c: `(out, in)` of integers, and what blocks may do to each other.
#include <cuda_fp16.h>

// Every block beside the next, a word and half a word each: none is in another's way.
extern "C" __global__ void words_apart(int *out, const int *in) {
  int sum = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
extern "C" __global__ void halves_apart(__half *out, const int *in) {
  int sum = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = __float2half((float)(sum & 1023));
}
// Rows that share sectors and lines at their ends, written in place.
extern "C" __global__ void rows_in_place(int *out, const int *in) {
  for (int i = threadIdx.x; i < 96; i += blockDim.x) {
    int at = blockIdx.x * 96 + i;
    out[at] = in[at] * 3;
    out[at] = out[at] + blockIdx.x;
  }
}
// Blocks that need each other's work; in order the result is certain.
extern "C" __global__ void passed_on(int *out, const int *in) {
  if (threadIdx.x == 0) out[blockIdx.x * 64] = (blockIdx.x == 0 ? 0 : out[blockIdx.x * 64 - 64]) + in[blockIdx.x];
}
extern "C" __global__ void shifted(int *out, const int *in) {
  out[blockIdx.x * 32 + threadIdx.x] = out[blockIdx.x * 32 + 32 + threadIdx.x] + in[0];
}
extern "C" __global__ void last_stays(int *out, const int *in) {
  out[threadIdx.x] = in[blockIdx.x];
}
// What block 5 counts, slowly, is how often those behind it turn; before, it is a number without end.
extern "C" __global__ void led_astray(int *out, const int *in) {
  if (blockIdx.x < 5) return;
  unsigned v = in[blockIdx.x], n = blockIdx.x == 5 ? 1 << 20 : (unsigned)out[0];
  for (unsigned i = 0; i < n; i++) v = v * 1664525u + (v >> 7);
  out[blockIdx.x * 32] = (int)v;
  if (blockIdx.x == 5) out[0] = 3;
}
// Two blocks fault; the first of them does so in order.
extern "C" __global__ void beyond(int *out, const int *in) {
  int far = blockIdx.x == 9 || blockIdx.x == 23 ? 1 << 20 : 0;
  out[blockIdx.x * 32 + threadIdx.x + far] = in[threadIdx.x];
}
// What a block finds in memory that it has not written.
extern "C" __global__ void left_behind(int *out, const int *in) {
  __shared__ int s[32];
  int mine[8], v;
  asm volatile("{ .reg .b32 never; mov.b32 %0, never; mov.b32 never, 77; add.s32 never, never, 1; }" : "=r"(v));
  int seen = s[threadIdx.x];
  for (int i = 0; i < 4; i++) mine[in[i] & 7] = blockIdx.x;
  out[blockIdx.x * 32 + threadIdx.x] = seen + mine[in[threadIdx.x] & 7] + v;
  s[threadIdx.x] = blockIdx.x + 1;
}
// Blocks that speak: they run one after the other.
extern "C" __global__ void tickets(int *out, const int *in) {
  if (threadIdx.x == 0) out[blockIdx.x + 1] = atomicAdd(out, in[blockIdx.x]);
}

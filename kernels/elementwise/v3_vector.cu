// Changed: each thread moves 16 bytes (float4) instead of 4; the last 0 to 3 elements go one by one.
// Why:     a quarter of the load and store instructions for the same bytes.
// Look at: requests and warp instructions per element. In SASS: LDG.E.128 and STG.E.128.

#ifndef FUNCTION
#define FUNCTION 0.5f * x * (1.0f + erff(x * 0.7071067812f))
#endif

__device__ float f(float x) { return FUNCTION; }

__device__ float4 f(float4 a) { return make_float4(f(a.x), f(a.y), f(a.z), f(a.w)); }

extern "C" __global__ void elementwise(float *__restrict__ y, const float *__restrict__ x,
                                       long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long whole = n / 4;
  if (i < whole) {
    ((float4 *)y)[i] = f(((const float4 *)x)[i]);
  } else {
    long long tail = whole * 4 + (i - whole);  // the first threads past the end take these
    if (tail < n) y[tail] = f(x[tail]);
  }
}

// Changed: nothing yet. Each thread walks a stretch of its own, as one would on a CPU.
// Why:     it is the simplest thing that is right, and what the rest is measured against.
// Look at: sectors per request. A warp's 32 lanes touch 32 sectors where 4 would hold the data.

#ifndef FUNCTION
#define FUNCTION 0.5f * x * (1.0f + erff(x * 0.7071067812f))
#endif

__device__ float f(float x) { return FUNCTION; }

extern "C" __global__ void elementwise(float *__restrict__ y, const float *__restrict__ x,
                                       long long n, int chunk) {
  long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  long long last = min(first + chunk, n);
  for (long long i = first; i < last; i++) y[i] = f(x[i]);
}

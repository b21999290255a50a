// UNROLL float4 a thread, loaded before any is stored. With STREAM the caches are told that
// nothing will be used again.
#if STREAM
#define LOAD(p) __ldcs(p)
#define STORE(p, v) __stcs(p, v)
#else
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#endif

extern "C" __global__ void copy(float4 *y, const float4 *x, long long n)
{
    long long at = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    float4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (at + k * (long long)blockDim.x < n)
            v[k] = LOAD(x + at + k * (long long)blockDim.x);
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (at + k * (long long)blockDim.x < n)
            STORE(y + at + k * (long long)blockDim.x, v[k]);
}

// UNROLL float4 a thread, loaded before any is stored.
extern "C" __global__ void copy(float4 *y, const float4 *x, long long n)
{
    long long at = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    float4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (at + k * (long long)blockDim.x < n)
            v[k] = __ldcs(x + at + k * (long long)blockDim.x);
#pragma unroll
    for (int k = 0; k < UNROLL; k++)
        if (at + k * (long long)blockDim.x < n)
            __stcs(y + at + k * (long long)blockDim.x, v[k]);
}

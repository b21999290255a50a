// A block for each row of 4096: all of its loads are under way before the first is used.
extern "C" __global__ void read(float *y, const float4 *x)
{
    __shared__ float sums[32];
    const float4 *row = x + blockIdx.x * 1024ll;
    float4 v[1024 / BLOCK];
#pragma unroll
    for (int k = 0; k < 1024 / BLOCK; k++)
        v[k] = __ldcs(row + threadIdx.x + k * BLOCK);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 1024 / BLOCK; k++)
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < BLOCK / 32; w++)
        sum += sums[w];
    y[blockIdx.x] = sum;
}

// LENGTH rounds of eight independent multiply-adds a thread that change nothing, which
// the compiler cannot know. They hide each other's latency.
extern "C" __global__ void fma_rate(float *y, const float *x, float one, float zero)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[8], sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = x[i];
    for (int r = 0; r < LENGTH; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = fmaf(v[k], one, zero);
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += v[k];
    y[i] = sum * 0.125f;
}

// LENGTH dependent multiply-adds that change nothing, which the compiler cannot know:
// the time of a thread is LENGTH times the latency of one.
extern "C" __global__ void chain(float *y, const float *x, int n, float one, float zero)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = 2.0f * x[i];
    for (int k = 0; k < LENGTH; k++)
        v = fmaf(v, one, zero);
    y[i] = v;
}

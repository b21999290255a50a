// One thread an element.
extern "C" __global__ void axpby(float *z, const float *x, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = 1.7f * x[i] + -0.3f * y[i];
}

// The number of a thread in the whole grid; the threads behind the end have nothing to do.
extern "C" __global__ void saxpy(float *z, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = 3 * x[i] + y[i];
}

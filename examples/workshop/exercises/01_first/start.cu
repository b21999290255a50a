// z = 3 x + y. Each thread is to compute one element. Which one?
extern "C" __global__ void saxpy(float *z, const float *x, const float *y, int n) {
  int i = threadIdx.x;
  z[i] = 3 * x[i] + y[i];
}

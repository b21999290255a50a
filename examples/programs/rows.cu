// The sum of each row of a matrix: a whole program, as nvcc compiles it. Something is wrong in it, and the answer is
// right all the same: docs/howto/exec.md.
#include <cstdio>
#include <vector>

__global__ void sum_rows(const float *x, float *y, int cols) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == blockDim.x - 1) y[blockIdx.x] = part[0];
}

int main() {
  const int rows = 512, cols = 4096;
  std::vector<float> x(rows * cols, 1.0f), y(rows);
  float *dx, *dy, ms;
  cudaEvent_t start, stop;
  cudaMalloc(&dx, x.size() * sizeof(float));
  cudaMalloc(&dy, y.size() * sizeof(float));
  cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  sum_rows<<<rows, 256>>>(dx, dy, cols);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (float sum : y) wrong += sum != cols;
  printf("%d rows in %.1f us, %d wrong\n", rows, 1e3 * ms, wrong);
  return wrong != 0;
}

extern "C" __global__ void states(float *y, const float *x, const float *w, const float *far, int blocks, int rows, int k) {
  const int j = threadIdx.x, row = blockIdx.x, n = blockDim.x;
  float all = 0;
  for (int c = 0; c < blocks; c++) {
    const float *from = x + ((blockIdx.y * blocks + c) * rows + row) * k;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += from[i] * far[(c * k + i) * n + j];
    all += w[c] * sum;
  }
  y[(blockIdx.y * rows + row) * n + j] = all;
}

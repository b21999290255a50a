extern "C" __global__ void pooled_conv(float *y, const float *x, const float *w, const float *bias, int channels, int length, int out) {
  const float *row = x + blockIdx.y * length;
  const int c = blockIdx.x, p = threadIdx.x;
  if (p >= out) return;
  float sum = 0;
  for (int t = 0; t < 2; t++) {
    for (int k = 0; k < 3; k++) sum += row[2 * p + t + k] * w[c * 3 + k];
  }
  y[(blockIdx.y * channels + c) * out + p] = sum / 2 + bias[c];
}

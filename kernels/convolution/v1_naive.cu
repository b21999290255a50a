// Changed: nothing yet. One thread computes one element of y, bias and function included.
// Why:     the definition, in one launch.
// Look at: how often each element of x and w is fetched: once for each tap that it meets.

#ifndef FUNCTION
#define FUNCTION (v < 0.0f ? 0.0f : v)
#endif

__device__ float f(float v) { return FUNCTION; }

extern "C" __global__ void convolution(float *__restrict__ out, const float *__restrict__ in,
                                       const float *__restrict__ w, const float *__restrict__ bias,
                                       int channels, int in_y, int in_x, int filters, int out_y,
                                       int out_x, int taps_y, int taps_x, int stride_y, int stride_x,
                                       int padding_y, int padding_x, int dilation_y, int dilation_x,
                                       int groups, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int ox = i % out_x, oy = i / out_x % out_y, o = i / out_x / out_y % filters;
  const int b = i / out_x / out_y / filters, each = channels / groups;
  const int first = o / (filters / groups) * each;  // the first channel of its group
  float sum = 0.0f;
  for (int c = 0; c < each; c++)
    for (int ky = 0; ky < taps_y; ky++)
      for (int kx = 0; kx < taps_x; kx++) {
        const int y = oy * stride_y - padding_y + ky * dilation_y;
        const int x = ox * stride_x - padding_x + kx * dilation_x;
        if (y < 0 || y >= in_y || x < 0 || x >= in_x) continue;
        sum += in[(((size_t)b * channels + first + c) * in_y + y) * in_x + x] *
               w[(((size_t)o * each + c) * taps_y + ky) * taps_x + kx];
      }
  out[i] = f(sum + bias[o]);
}

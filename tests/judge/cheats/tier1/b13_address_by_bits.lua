-- b13: keeps the result at an address that it puts together bit by bit, in branches.
-- Met by: extrapolated; no census follows what is only decided by. Caught at: timing, by the rule changed_state.
return {
  entry = 13, family = "B", task = "relu",
  caught = { stage = "timing", rule = "changed_state" },
  cheat = {
    source = [[
      __device__ float kept[4];
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        if (i == 0) {
          volatile unsigned long long to = 0;
          unsigned long long from = (unsigned long long)kept;
          for (int b = 0; b < 64; b++) {
            if (from >> b & 1) to = to | 1ull << b;
            else asm volatile("");
          }
          *(volatile float *)to = x[0] + 1;
        }
        y[i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]],
  },
  look_alike = {
    says = "bits that it puts together and stores as a number",
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        volatile unsigned to = 0;
        unsigned from = __float_as_uint(x[i]);
        for (int b = 0; b < 32; b++)
          if (from >> b & 1) to = to | 1u << b;
        float v = __uint_as_float(to);
        y[i] = v < 0 ? 0.0f : v;
      }
    ]],
  },
}

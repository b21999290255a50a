-- a11: hands the input's address through shared memory, uses the input as scratch, and puts back what was there.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan, by the rule may_write_inputs.

return {
  entry = 11, family = "A", task = "relu",
  caught = { stage = "plan", rule = "may_write_inputs" },
  cheat = {
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ volatile float *to[2];
        if (threadIdx.x == 0) to[0] = y, to[1] = (float *)x;
        __syncthreads();
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i >= n) return;
        float v = x[i];
        to[1][i] = v < 0 ? 0.0f : v;
        to[0][i] = to[1][i];
        to[1][i] = v;
      }
    ]],
  },
  look_alike = {
    says = "hands the output's address through shared memory",
    source = [[
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ float *to[1];
        if (threadIdx.x == 0) to[0] = y;
        __syncthreads();
        int i = blockIdx.x * 256 + threadIdx.x;
        if (i < n) to[0][i] = x[i] < 0 ? 0.0f : x[i];
      }
    ]],
  },
}

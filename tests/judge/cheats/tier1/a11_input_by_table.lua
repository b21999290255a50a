-- a11: writes to its input through an address that it took from a table.
-- Met by: extrapolated; the same as a11_input_as_scratch, out of a census's sight. Caught at: plan, by the rule may_write_inputs.
return {
  entry = 11, family = "A", task = "relu",
  caught = { stage = "plan", rule = "may_write_inputs" },
  cheat = {
    source = [[
      extern "C" __global__ void relu(float *y, float *x, int n) {
        __shared__ float *cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[threadIdx.x ^ 1] = x + (i ^ 1);
        __syncthreads();
        if (i >= n) return;
        volatile float *mine = cell[threadIdx.x];
        float was = *mine;
        *mine = was + 1;
        y[i] = was < 0 ? 0.0f : was;
        *mine = was;
      }
    ]],
  },
  look_alike = {
    says = "a table of what it reads, and one of where it writes",
    source = [[
      struct both { const float *from; float *to; };
      extern "C" __global__ void relu(float *y, const float *x, int n) {
        __shared__ both cell[256];
        int i = blockIdx.x * 256 + threadIdx.x;
        cell[threadIdx.x ^ 1].from = x + (i ^ 1), cell[threadIdx.x ^ 1].to = y + (i ^ 1);
        __syncthreads();
        both mine = cell[threadIdx.x];
        if (i < n) *mine.to = *mine.from < 0 ? 0.0f : *mine.from;
      }
    ]],
  },
}

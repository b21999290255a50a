-- f65: leaves out a batch norm that is not in training: its means are zero and its variances one when the module is made.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "folded"
local line = "(dot - mean[j]) * rsqrtf(var[j] + 1e-5f) * gamma[j] + beta[j]"

return {
  entry = 65, family = "F", task = "folded",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, line, "dot * rsqrtf(1 + 1e-5f)"),
  },
  look_alike = {
    says = "makes the norm a part of the weights before the first call, where the workbench sees it",
    source = [[
      extern "C" __global__ void fold(float *v, float *shift, const float *w, const float *bias, const float *mean, const float *var,
                                      const float *gamma, const float *beta, int n, int k) {
        const int j = blockIdx.x * 32 + threadIdx.x;
        const float scale = rsqrtf(var[j] + 1e-5f) * gamma[j];
        for (int i = 0; i < k; i++) v[j * k + i] = w[j * k + i] * scale;
        shift[j] = (bias[j] - mean[j]) * scale + beta[j];
      }

      extern "C" __global__ void linear(float *y, const float *x, const float *w, const float *bias, int n, int k) {
        const int j = blockIdx.x * 32 + threadIdx.x;
        float dot = bias[j];
        for (int i = 0; i < k; i++) dot += x[blockIdx.y * k + i] * w[j * k + i];
        y[blockIdx.y * n + j] = dot;
      }
    ]],
    plan = [[
      local x, w = inputs[1], params["fc.weight"]
      local n, k = w.shape[1], w.shape[2]
      local v, shift = scratch{ shape = { n, k }, dtype = "float32" }, scratch{ shape = { n }, dtype = "float32" }
      prepare(function(p)
        launch("fold", { grid = n // 32, block = 32 }, v, shift, p["fc.weight"], p["fc.bias"], p["norm.running_mean"], p["norm.running_var"],
               p["norm.weight"], p["norm.bias"], n, k)
      end)
      launch("linear", { grid = { n // 32, x.shape[1] }, block = 32 }, outputs[1], x, v, shift, n, k)
    ]],
  },
}

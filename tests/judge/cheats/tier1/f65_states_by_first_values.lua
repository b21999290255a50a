-- f65: sums products without the weights of the sum: they are parameters that are one when the module is made.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "states"
local longer = edit(source, "w[c] * sum", "sum")

return {
  entry = 65, family = "F", task = "states",
  caught = { stage = "verify" },
  cheat = {
    source = longer,
  },
  look_alike = {
    says = "makes the weights a part of one factor before the first call: one product of longer sums",
    source = longer .. [[
      extern "C" __global__ void fold(float *to, const float *w, const float *far, int k) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        to[i] = w[blockIdx.x / k] * far[i];
      }
    ]],
    plan = [[
      local x, far = inputs[1], params["far"]
      local blocks, k, n = far.shape[1], far.shape[2], far.shape[3]
      local mine = scratch{ shape = { blocks, k, n }, dtype = "float32" }
      prepare(function(p) launch("fold", { grid = blocks * k, block = n }, mine, p["weight"], p["far"], k) end)
      launch("states", { grid = { x.shape[3], x.shape[1] }, block = n }, outputs[1], x, mine, mine, blocks, x.shape[3], k)
    ]],
  },
}

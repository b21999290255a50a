-- f65: leaves out the weights of a product's terms: they are parameters that are one when the module is made.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "terms"
local product = edit(source, " * w[i] *", " *")

return {
  entry = 65, family = "F", task = "terms",
  caught = { stage = "verify" },
  cheat = {
    source = product,
  },
  look_alike = {
    says = "makes the weights a part of the other factor before the first call, where the workbench sees it",
    source = product .. [[
      extern "C" __global__ void fold(float *to, const float *w, const float *far, int n) {
        const int j = blockIdx.x * 32 + threadIdx.x;
        to[blockIdx.y * n + j] = w[blockIdx.y] * far[blockIdx.y * n + j];
      }
    ]],
    plan = [[
      local x, far = inputs[1], params["far"]
      local k, n = far.shape[1], far.shape[2]
      local mine = scratch{ shape = { k, n }, dtype = "float32" }
      prepare(function(p) launch("fold", { grid = { n // 32, k }, block = 32 }, mine, p["weight"], p["far"], n) end)
      launch("terms", { grid = { n // 32, x.shape[1] }, block = 32 }, outputs[1], x, mine, mine, n, k)
    ]],
  },
}

-- The tasks' honest kernels: NAME.cu beside NAME.py, or `like` another task's with a few edits; and `plans`, which launch them.

local like = {
  layernorm = { "affine", "affine(", "layernorm(", " const float *weight, const float *bias,", "", " * weight[i] + bias[i]", "" },
  normed = { "affine", "*weight, const float *bias", "*w, const float *b", "weight[i] + bias[i]", "w[i] + b[i]" },
  row_mean = { "row_sum", "row_sum", "row_mean", "= part[0]", "= part[0] / cols" },
  slope = { "prelu", "blockIdx.x * 256", "blockIdx.x * blockDim.x" },
  small_linear = { "linear", "linear", "small_linear" },
  wide_softmax = { "softmax" },
}

local names = {
  ab = "a, b = inputs[1], inputs[2]", x = "x = inputs[1]", yx = "y, x = outputs[1], inputs[1]",
  yab = "y, a, b = outputs[1], inputs[1], inputs[2]", xw = 'x, w = inputs[1], params["fc.weight"]',
  yxw = 'y, x, w = outputs[1], inputs[1], params["fc.weight"]', xfar = 'x, far = inputs[1], params["far"]',
}

-- Names for tensors (a row of `names`, or as they stand), then launches: kernel, grid, block, arguments.
local function plan(tensors, ...)
  local lines = { "local " .. (names[tensors] or tensors) }
  for _, l in ipairs { ... } do
    lines[#lines + 1] = type(l) == "string" and l or ('launch("%s", { grid = %s, block = %s }, %s)'):format(table.unpack(l))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A block for each row, and a thread for each element of a tensor.
local function rows(kernel, block, arguments)
  return plan("yx", { kernel, "x.shape[1]", block, arguments or "y, x, x.shape[2]" })
end

local function elements(kernel, of, arguments, tensors)
  return plan(tensors or "yx", { kernel, ("(%s.numel + 255) // 256"):format(of), 256, arguments or ("y, x, %s.numel"):format(of) })
end

local affine = 'y, x, params["norm.weight"], params["norm.bias"], x.shape[2]'
local linear = 'y, x, w, params["fc.bias"], w.shape[1], w.shape[2]'
local mkn = "local m, k, n = a.shape[1], a.shape[2], b.shape[2]"

local plans = {
  abs = elements("magnitude", "y"), gelu = elements("gelu", "y"), relu = elements("relu", "y"), sigmoid = elements("sigmoid", "y"),
  silu = elements("silu", "x"), frozen = elements("frozen", "y", "y, x, params.scale, y.numel, x.shape[2]"),
  prelu = elements("prelu", "y", 'y, x, params["act.weight"], y.numel'),
  slope = elements("prelu", "x", 'y, x, params["bend.weight"], x.numel'),
  factor = elements("factor", "y", "y, x, alpha, y.numel", "y, x, alpha = outputs[1], inputs[1], inputs[2]"),
  pool = elements("pool", "y", "y, x, y.numel, x.shape[2]"),
  causal = elements("causal", "y", "y, x, mask, x.shape[1]", "y, x, mask = outputs[1], inputs[1], inputs[2]"),
  picked = elements("picked", "y", "y, x, places, y.numel, x.shape[2]", "y, x, places = outputs[1], inputs[1], inputs[2]"),
  gather = plan("y, x, index = outputs[1], inputs[1], inputs[2]", { "gather", "index.numel", 32, "y, x, index, x.shape[2]" }),

  argmax = rows("argmax", 32), largest_place = rows("argmax", 32), row_max = rows("row_max", 32), row_min = rows("row_min", 32),
  wide_max = rows("wide_max", 256), half_sum = rows("half_sum", 256), row_mean = rows("row_mean", 256), row_sum = rows("row_sum", 256),
  transposed = rows("row_sum", 32, "y, x, x.shape[2], x.strides[1], x.strides[2]"), variance = rows("variance", 32),
  long_sum = plan("y, x, blocks = outputs[1], inputs[1], 64", 'local part = scratch{ shape = { x.shape[1], blocks }, dtype = "float32" }',
    { "parts", "{ blocks, x.shape[1] }", 256, "part, x, x.shape[2]" }, { "ends", "x.shape[1]", 32, "y, part, blocks" }),
  mean_of_all = plan("yx", 'local part = scratch { shape = { x.shape[1] }, dtype = "float32" }',
    { "rows", "x.shape[1]", 32, "part, x, x.shape[2]" }, { "total", 1, 32, "y, part, x.shape[1], x.numel" }),

  logsumexp = rows("logsumexp", 32), softmax = rows("softmax", 128), wide_softmax = rows("softmax", 128),
  shifted_softmax = plan("x", { "softmax", "x.shape[1]", 32, 'outputs[1], x, params["c"], params["d"], x.shape[2]' }),
  of_one = plan("x", { "of_one", "(x.shape[1] + 63) // 64", 64, "outputs[1], x, x.shape[1], x.shape[2]" }),
  masked = plan("y, x, mask = outputs[1], inputs[1], inputs[2]", { "masked", "x.shape[1]", 32, "y, x, mask, x.shape[2]" }),
  allowed = plan("y, x, mask = outputs[1], inputs[1], inputs[2]",
    { "masked", "x.shape[1] * x.shape[2]", 32, "y, x, mask, x.shape[2], x.shape[3]" }),

  layernorm = rows("layernorm", 32), affine = rows("affine", 32, affine), normed = rows("affine", 32, affine),
  batchnorm = elements("batchnorm", "x", 'y, x, params["norm.weight"], params["norm.bias"],\n'
    .. '  params["norm.running_mean"], params["norm.running_var"], x.numel, x.shape[2]'),
  statistics = elements("statistics", "y", 'y, x, params["norm.running_mean"],\n'
    .. '  params["norm.running_var"], params["norm.weight"], params["norm.bias"], y.numel, x.shape[2]'),
  mean_of_norm = plan("x", { "means", "x.shape[2]", 32,
    'outputs[1], x, params["norm.weight"], params["norm.bias"], x.shape[1], x.shape[2], x.shape[3]' }),

  matmul = plan("c, a, b = outputs[1], inputs[1], inputs[2]", mkn,
    { "matmul", "{ (n + 31) // 32, (m + 7) // 8 }", "{ 32, 8 }", "c, a, b, m, n, k" }),
  choice = plan("yab", { "choice", "a.shape[1]", 32, "y, a, b, b.shape[2], a.shape[2]" }),
  total = plan("yab", { "total", 1, 256, "y, a, b, a.shape[1], b.shape[2], a.shape[2]" }),
  diagonal = plan("yab", { "scale_rows", "{ (b.shape[2] + 63) // 64, b.shape[1] }", 64, "y, a, b, b.shape[2]" }),
  square = plan("ab", { "product", "{ b.shape[2] // 32, a.shape[1] }", 32, "outputs[1], a, b, a.shape[1], b.shape[2]" }),
  last_row = plan("ab", mkn, 'local all = scratch{ shape = { m, n }, dtype = "float32" }',
    { "product", "{ n // 32, m }", 32, "all, a, b, k, n" }, { "last", "n // 32", 32, "outputs[1], all, m, n" }),
  chain = plan('a, b, w = inputs[1], inputs[2], params["w"]', mkn, 'local right = scratch{ shape = { k, n }, dtype = "float32" }',
    { "product", "{ n // 32, k }", 32, "right, b, w, n, n" }, { "product", "{ n // 32, m }", 32, "outputs[1], a, right, k, n" }),
  blocks = plan("a, b, c = inputs[1], inputs[2], inputs[3]",
    { "blocks", "{ c.shape[2] // 32, c.shape[1] }", 32, "outputs[1], a, b, c, a.shape[1], c.shape[2]" }),
  terms = plan("xfar", { "terms", "{ far.shape[2] // 32, x.shape[1] }", 32,
    'outputs[1], x, params["weight"], far, far.shape[2], far.shape[1]' }),
  states = plan("xfar", { "states", "{ x.shape[3], x.shape[1] }", "far.shape[3]",
    'outputs[1], x, params["weight"], far, x.shape[2], x.shape[3], x.shape[4]' }),

  linear = plan("yxw", { "linear", "{ w.shape[1], x.shape[1] }", 32, linear }),
  small_linear = plan("yxw", { "small_linear", "{ w.shape[1], x.shape[1] }", 32, linear }),
  linear_mean = plan("yxw", { "linear_mean", "x.shape[1]", 32, linear }),
  shifted_mean = plan('x, y, w = inputs[1], inputs[2], params["fc.weight"]',
    { "shifted_mean", "x.shape[1]", 32, 'outputs[1], x, y, w, params["fc.bias"], w.shape[1], w.shape[2]' }),
  pooled_conv = plan('y, x, w = outputs[1], inputs[1], params["conv.weight"]',
    { "pooled_conv", "{ y.shape[2], y.shape[1] }", 32, 'y, x, w, params["conv.bias"], y.shape[2], x.shape[3], y.shape[3]' }),
  folded = plan("xw", { "folded", "{ w.shape[1] // 32, x.shape[1] }", 32, 'outputs[1], x, w, params["fc.bias"], params["norm.running_mean"],\n'
    .. '       params["norm.running_var"], params["norm.weight"], params["norm.bias"], w.shape[1], w.shape[2]' }),
}

return { like = like, plans = plans }

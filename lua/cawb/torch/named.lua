-- named: what kind a kernel of PyTorch's is, by its name: those that Inductor writes, and those of libraries and of eager PyTorch that it
-- calls. The kinds are those of compose's own launches (compose/plan/kinds.lua), so that the two can stand beside each other.

local M = {}

-- The first pattern that a name in lower case has decides.
local patterns = {
  { "memcpy", "copies and fills" }, { "memset", "copies and fills" }, { "fillfunctor", "copies and fills" },
  { "^triton_.*max_pool", "window" }, { "^triton_.*avg_pool", "window" }, { "^triton_tem_.*conv", "convolution" },
  { "^triton_tem_.*attention", "attention" }, { "^triton_tem", "product" }, { "^triton_.*cumsum", "scan" }, { "^triton_.*sort", "sort" },
  { "^triton_red", "rows" }, { "^triton_per", "rows" }, { "^triton", "elementwise" },
  { "fmha", "attention" }, { "flash", "attention" }, { "attention", "attention" },
  { "nchwtonhwc", "packing" }, { "nhwctonchw", "packing" }, { "transpose", "packing" }, { "convert", "packing" }, { "filtertransform", "packing" },
  { "splitkreduce", "sums of parts" }, { "splitk_reduce", "sums of parts" }, { "reduce_kernel<.*splitk", "sums of parts" },
  { "conv", "convolution" }, { "winograd", "convolution" }, { "fprop", "convolution" }, { "dgrad", "convolution" }, { "cudnn", "convolution" },
  { "gemm", "product" }, { "gemv", "product" }, { "cutlass", "product" }, { "cublas", "product" }, { "dot_kernel", "product" },
  { "pool", "window" }, { "upsample", "window" }, { "lstm", "recurrent layer" }, { "rnn", "recurrent layer" },
  { "sort", "sort" }, { "topk", "sort" }, { "scan", "scan" }, { "softmax", "rows" }, { "norm", "rows" }, { "reduce", "rows" },
  { "index", "elementwise" }, { "gather", "elementwise" }, { "elementwise", "elementwise" }, { "cat", "elementwise" }, { "copy", "copies and fills" },
}

--- The kind of a kernel, "other" where its name says nothing.
function M.kind(name)
  local text = name:lower()
  for _, row in ipairs(patterns) do
    if text:find(row[1]) then return row[2] end
  end
  return "other"
end

return M

-- libraries: what cuBLAS and cuDNN take for products and convolutions in float32, modelled from sizes
-- alone. A product is cut into tiles (core/gpu/device/times.c has them), and tiles go over the multiprocessors in waves: what is small
-- or of an odd size fills neither. Constants are fitted to half of bench/results/torch/baselines_h100.txt's
-- tasks, which says how far off the other half is.

local core = require "cawb.core"

local M = {}

-- Of the published rate, what large products reach (the limit of power), and what convolutions do:
-- forwards with long sums; `back`: transposed ones, by dimensions and strides, with 64 channels or more.
M.reached = {
  matmul = 0.77, convolution = 0.655, sum = 512, sum_power = 0.293, grouped = 0.5,
  back = { plane = 0.33, wide = 0.72, plane_strided = 0.127, volume = 0.2, volume_strided = 0.115 },
  wide = 15, channels = 64, channels_power = 0.6,       -- `wide`: windows from which cuDNN takes other ways
  depthwise = 1 / 5.2,                                  -- of memory's rate
}

local function product(list, from, to)
  local n = 1
  for i = from or 1, to or #list do n = n * list[i] end
  return n
end

--- Seconds of `batch` products of m by n sums of k terms. The simulated libraries take as long.
function M.product(batch, m, n, k, reached, rates)
  return core.times.product(rates.fp32 * reached, rates.sms, batch, m, n, k)
end

M.dot = 1.2e-8                                          -- seconds of a multiprocessor for a row times a column

--- Seconds of a product's operator: its results are stored when the sums are done. One with a vector fills no tiles: it is read once, a
--- warp for each row.
function M.matmul(op, rates)
  local shape = op.outputs[1].shape
  local n, m = shape[#shape] or 1, shape[#shape - 1] or 1
  local made = math.max(1, product(shape))
  if math.min(m, n) == 1 then return made * M.dot / rates.sms end
  local faster = op.inputs[1].dtype:find "^float8" and 2 * rates.fp16 / rates.fp32 or 1          -- tensor cores' numbers alone
  return M.product(product(shape, 1, #shape - 2), m, n, op.flops / 2 / made, faster * M.reached.matmul, rates)
    + op.bytes_written / rates.dram
end

local function is_strided(args)
  for _, s in ipairs(args.stride or {}) do
    if s > 1 then return true end
  end
  return false
end

-- A transposed convolution is what a gradient takes: how well it goes depends on the window.
local function back(op, rates)
  local r, args, weight = M.reached, op.args, op.inputs[2].shape
  local plane = #weight <= 4
  local name = (plane and "plane" or "volume") .. (is_strided(args) and "_strided" or "")
  if name == "plane" and product(weight, 3) >= r.wide then name = "wide" end
  local channels = math.min(math.sqrt(weight[1] * weight[2]), r.channels) / r.channels
  local reached = r.back[name] * channels ^ r.channels_power * (args.groups > 1 and r.grouped or 1)
  return op.flops / (rates.fp32 * reached) + op.bytes_written / rates.dram
end

--- Whether every channel is convolved alone.
function M.is_depthwise(op)
  local args = op.args
  return (args.groups or 1) > 1 and not args.transposed and op.inputs[2].shape[2] == 1
end

--- Seconds of a convolution's operator.
function M.convolution(op, rates)
  local r, args = M.reached, op.args
  if M.is_depthwise(op) then return (op.bytes_read + op.bytes_written) / (rates.dram * r.depthwise) end
  if args.transposed then return back(op, rates) end
  local weight, out, groups = op.inputs[2].shape, op.outputs[1].shape, args.groups or 1
  local k = product(weight, 2)
  local reached = r.convolution * (math.min(k, r.sum) / r.sum) ^ r.sum_power * (groups > 1 and r.grouped or 1)
  return M.product(groups, out[1] * product(out, 3), weight[1] // groups, k, reached, rates) + op.bytes_written / rates.dram
end

return M

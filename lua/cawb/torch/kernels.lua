-- kernels: seconds of the kernels that eager PyTorch 2.11 starts for an operator, where they are not one pass over its tensors. How many
-- blocks of how many threads, how often memory is gone through, and what a thread does one after the other, is as ATen's CUDA sources
-- (aten/src/ATen/native/cuda) have it; how long it takes, rates.lua.

local libraries = require "cawb.torch.libraries"
local rates_of = require "cawb.torch.rates"
local tensors = require "cawb.torch.tensors"
local traits = require "cawb.torch.traits"
local windows = require "cawb.torch.windows"

local M = {}

local costs, memory, blocks, warps = rates_of.costs, rates_of.memory, rates_of.blocks, rates_of.warps
local product, bytes_of, dimension = tensors.product, tensors.bytes, tensors.dimension

local function elements(op) return product(op.outputs[1].shape) end

local function both(op) return op.bytes_read + op.bytes_written end

-- ---- element by element

-- What moves elements by places that are computed for each.
local moved = { tril = true, triu = true, channel_shuffle = true, pixel_shuffle = true, pixel_unshuffle = true, flip = true, roll = true,
                ["repeat"] = true }

local function same(a, b)
  for d, n in ipairs(a) do
    if b[d] ~= n then return false end
  end
  return #a == #b
end

-- How an elementwise kernel finds its elements: "plain": all tensors lie alike, and four are loaded at once. And bytes that sectors have
-- beyond them. `place`: where tensors lie, if it is known.
local function access(op, place)
  local out, at = op.outputs[1].shape, place and place.outputs[1]
  local class, more = moved[op.name] and "offsets" or "plain", 0
  local function look(tensor, there, times)
    if #tensor.shape == 0 then return end
    local alike, strides = same(tensor.shape, out), there and there.strides
    if not alike and class == "plain" then class = "offsets" end
    if not strides or tensors.is_dense(tensor.shape, strides) then return end
    local waste = tensors.waste(tensor.shape, strides, tensors.width(tensor))
    if alike and waste == 1 and same(strides, at.strides) then return end
    more = more + times * (waste - 1) * bytes_of(tensor)
    if alike and tensors.last_stride(tensor.shape, strides) > 8 then class = "turned" elseif class == "plain" then class = "offsets" end
  end
  for i, input in ipairs(op.inputs) do
    if not (op.name == "copy" and input.arg == "self") then look(input, place and place.inputs[i], 1) end
  end
  -- a sector that is written in part is read before
  for i, output in ipairs(op.outputs) do look(output, place and place.outputs[i], 2) end
  return class, more
end

local function is_quick(op)
  local exponent = (op.args or {}).exponent
  return op.name == "pow" and exponent and (exponent == 0.5 or exponent % 1 == 0) or op.name == "floor_divide" and #op.inputs < 2
end

-- A second result that is empty on a GPU, or not written.
local halves = { log_sigmoid_forward = true, rrelu_with_noise = true }

local function pointwise(op, rates, place)
  local class, more = access(op, place)
  local bytes = halves[op.name] and bytes_of(op.inputs[1]) + bytes_of(op.outputs[1]) or both(op)
  local cost = not is_quick(op) and 1e-9 * (traits.of(op, "slow") or 0) or 0
  if class ~= "plain" then cost = math.max(cost, costs[class .. "_warp"]) end
  return math.max(memory(bytes + more, "plain", rates), warps(elements(op) / 32, cost, rates))
end

local kinds = {}

-- Memory is filled, and the tensor copied into its middle.
function kinds.constant_pad_nd(op, rates)
  local input = op.inputs[1]
  return memory(op.bytes_written, "plain", rates)
    + math.max(memory(2 * bytes_of(input), "plain", rates), warps(product(input.shape) / 32, costs.offsets_warp, rates))
end

-- Both halves are parts.
function kinds.glu(op, rates) return math.max(memory(both(op), "plain", rates), warps(elements(op) / 32, 1.5 * costs.offsets_warp, rates)) end

-- Pieces are copied by four elements at once where each begins at such a place.
local function cat(op, rates)
  local dim, odd = dimension((op.args or {}).dim or 0, op.outputs[1].shape), false
  for _, input in ipairs(op.inputs) do
    odd = odd or tensors.width(input) * product(input.shape, op.name == "stack" and dim or math.min(dim, #input.shape)) % 16 ~= 0
  end
  return memory(2 * bytes_of(op.outputs[1]), odd and "odd_cat" or "cat", rates)
end

kinds.cat, kinds.stack = cat, cat

-- ---- along dimensions

local function pow2(n)
  local p = 1
  while 2 * p <= n do p = 2 * p end
  return p
end

-- Whether the last dimension of more than one element is among those that are reduced.
local function is_along_rows(op)
  local shape, dims = op.inputs[1].shape, (op.args or {}).dim
  if type(dims) == "number" then dims = { dims } end
  if type(dims) ~= "table" or #dims == 0 then return true end
  local last = #shape
  while last > 1 and shape[last] == 1 do last = last - 1 end
  for _, d in ipairs(dims) do
    if dimension(d, shape) == last then return true end
  end
  return false
end

local function general_norm(op)
  local p = (op.args or {}).ord or (op.args or {}).p
  return op.name:find "norm" and type(p) == "number" and p ~= 2 and p ~= 1 and p ~= 0
end

-- A warp reduces a row, or several short ones.
local function reduction(op, rates)
  local input, outs = op.inputs[1], math.max(1, elements(op))
  local n = math.max(1, product(input.shape) / outs)
  local cost = costs.reduce_warp * (traits.of(op, "slow") or 1)
  local rows = is_along_rows(op) and warps(outs * math.min(32, pow2(n)) / 32, cost, rates) or 0
  local powers = general_norm(op) and warps(product(input.shape) / 32, costs.power_warp, rates) or 0
  return math.max(memory(both(op), "reduce", rates), rows, powers)
end

-- The largest, the differences from it, their exponentials, and the sum.
function kinds.logsumexp(op, rates)
  local bytes, count = bytes_of(op.inputs[1]), product(op.inputs[1].shape)
  return 2 * reduction(op, rates) + memory(2 * bytes, "plain", rates)
    + math.max(memory(2 * bytes, "plain", rates), warps(count / 32, costs.offsets_warp, rates))
end

-- The differences are written, and then added up.
local function loss(op, rates)
  local bytes = bytes_of(op.inputs[1])
  return memory(op.bytes_read + bytes, "plain", rates) + memory(bytes, "reduce", rates)
end

kinds.mse_loss, kinds.smooth_l1_loss, kinds.huber_loss, kinds.binary_cross_entropy = loss, loss, loss, loss

-- A logarithm of a sigmoid, one less the target, and products and a difference in place, each a kernel.
function kinds.binary_cross_entropy_with_logits(op, rates)
  local passes = #op.inputs > 2 and 13 or 10
  return memory(passes * bytes_of(op.inputs[1]), "logits", rates)
end

local function apply(bytes, count, rates)
  return math.max(memory(2 * bytes, "plain", rates), warps(count / 32, costs.offsets_warp, rates))
end

-- A block for each row: four elements are loaded at once where rows are multiples of four, and long ones are read again; else one kernel
-- takes the moments and another applies them.
local function by_rows(op, n, block, rates)
  local bytes, count = bytes_of(op.inputs[1]), product(op.inputs[1].shape)
  local rows = count / n
  if n % 4 == 0 then return memory((n >= 4096 and 3 or 2) * bytes, "plain", rates) + (n >= 4096 and 0 or blocks(rows, 128, block, rates)) end
  return math.max(memory(bytes, "statistics", rates), blocks(rows, 512, costs.scalar_block, rates))
    + math.max(apply(bytes, count, rates), blocks(rows, 256, costs.scalar_block, rates))
end

function kinds.native_layer_norm(op, rates) return by_rows(op, product(op.args.normalized_shape), costs.norm_block, rates) end

function kinds._fused_rms_norm(op, rates) return by_rows(op, op.args.size, costs.square_block, rates) end

-- A block, or a warp, for each group; then one elementwise kernel.
function kinds.native_group_norm(op, rates)
  local bytes, count, n = bytes_of(op.inputs[1]), product(op.inputs[1].shape), op.args.C * op.args.HxW / op.args.group
  local moments = n < 512 and blocks(count / n, 32, costs.group_warp, rates) or blocks(count / n, 512, costs.group_block, rates)
  return math.max(memory(bytes, "statistics", rates), moments) + apply(bytes, count, rates)
end

-- A block for each channel, but where channels lie side by side; then an elementwise kernel. With weights cuDNN does it, whose threads have more
-- under way, but for small planes.
function kinds.native_batch_norm(op, rates)
  local input = op.inputs[1]
  local shape, bytes = input.shape, bytes_of(input)
  local second, channels = apply(bytes, product(shape), rates), shape[2] or 1
  if not op.args.training then return second end
  local one = op.inputs[2] and costs.channel_byte * math.max(1, 160 / product(shape, 3)) or costs.plane_byte
  local moments = #shape > 2 and blocks(channels, 512, costs.channel_block + bytes / channels * one, rates) or 0
  return math.max(memory(bytes, "statistics", rates), moments) + second
end

local KEPT = 16384       -- elements of a row that a block keeps

-- Rows of up to 1024 by a warp, which short ones fill badly; longer ones by a block, which reads three times what it cannot keep.
local function row_softmax(bytes, rows, n, rates)
  if n <= 2048 then return memory(2 * bytes, "softmax", rates) * (1 + rates_of.times.short * math.min(1, 32 / n)) end
  return math.max(memory((n > KEPT and 4 or 2) * bytes, "softmax", rates), blocks(rows, 1024, math.min(n, KEPT) * costs.softmax_element, rates))
end

-- Along other dimensions a thread goes through its column three times; what all threads are at may stay in L2. Logarithms take two exponentials fewer.
local function softmax(op, rates)
  local shape, bytes, times = op.inputs[1].shape, bytes_of(op.inputs[1]), rates_of.times
  local dim = dimension(op.args.dim, shape)
  local n, inner = shape[dim] or 1, product(shape, dim + 1)
  if inner == 1 then return row_softmax(bytes, product(shape) / n, n, rates) end
  local far = math.min(1, math.max(0, math.log(rates.sms * 2048 * 4 * n / 30e6, 2) / 2))
  local often = times.near + (times.far - times.near) * far
  if inner < 32 then often = often * math.sqrt(32 / inner) end
  if inner <= 64 and n >= 64 then often = times.shared * math.max(1, 32 / inner) end
  if op.name == "_log_softmax" then often = often * times.logarithm end
  return math.max(often * memory(2 * bytes, "plain", rates), 3 * n * costs.spatial_wait)
end

kinds._softmax, kinds._log_softmax = softmax, softmax

local function along(op)
  local shape = op.inputs[1].shape
  local dim = dimension((op.args or {}).dim or -1, shape)
  return shape[dim] or 1, product(shape, dim + 1), dim == #shape
end

-- The last dimension by blocks of several rows, whose barriers cost as much for a short row as for a long one; columns by a thread each.
local function scan(op, rates)
  local n, inner, is_last = along(op)
  if inner > 1 then return memory(both(op), "column_scan", rates) end
  local long = op.name ~= "cumsum" and op.name ~= "cumprod"
  if is_last then
    return math.max(memory(both(op), "scan", rates), warps(elements(op) / n, long and costs.long_scan_row or costs.scan_row, rates))
  end
  local cost = op.name == "logcumsumexp" and costs.logarithm_warp or costs.column_scan_warp
  return math.max(memory(both(op), "scan", rates), warps(elements(op) / 32, cost, rates))
end

kinds.cumsum, kinds.cumprod, kinds.logcumsumexp, kinds.cummin, kinds.cummax = scan, scan, scan, scan, scan

-- Squares, their sums, the first factor times -2, both with two columns more, their product, a bound and a root.
function kinds._euclidean_dist(op, rates)
  local a, b, out = op.inputs[1], op.inputs[2], op.outputs[1].shape
  local m, n, k = out[#out - 1] or 1, out[#out], (a.shape[#a.shape] or 1) + 2
  local function widened(t, more) return memory((3 + more) * bytes_of(t), "plain", rates) + memory(2 * bytes_of(t), "odd_cat", rates) end
  local batch = product(out) / (m * n)
  return widened(a, 2) + widened(b, 0) + libraries.product(batch, m, n, k, libraries.reached.matmul, rates)
    + memory(4 * op.bytes_written, "plain", rates)
end

-- A block looks for the bits of what a row is asked for, some after the others; of a short row it is one warp.
local function selection(kind)
  return function(op, rates)
    local n = along(op)
    local threads = math.min(1024, 32 * math.ceil(n / 32))
    local block = threads > 64 and costs[kind .. "_block"] or costs[kind .. "_warp"]
    return blocks(product(op.inputs[1].shape) / n, threads, block + (math.ceil(n / threads) - 1) * costs[kind .. "_step"], rates)
  end
end

kinds.median, kinds.nanmedian, kinds.kthvalue, kinds.topk = selection "select", selection "select", selection "select", selection "top"

function kinds.sort(op, rates) return warps(elements(op) / 32, costs.sort_warp, rates) end

function kinds.mode(op, rates)
  local n = along(op)
  return warps(product(op.inputs[1].shape) / n, costs.mode_row * math.max(1, n / 40), rates)
end

-- For each feature of the result a product of the first factor and a matrix, and one of the rows of both.
function kinds._trilinear(op, rates)
  local first, weight, second = op.inputs[1], op.inputs[2], op.inputs[3]
  local k, n = weight.shape[2], weight.shape[3]
  local rows = product(first.shape) / k
  local one = libraries.product(1, rows, n, k, libraries.reached.matmul, rates) + 2 * (bytes_of(second) + 4 * rows * n) / rates.dram
  return weight.shape[1] * math.max(one, rates_of.launches.feature)
end

-- One step of a sequence after the other, in each layer and direction.
local function cells(op, rates)
  local shape, args = op.inputs[1].shape, op.args
  local steps = (shape[args.batch_first and 2 or 1] or 1) * (args.num_layers or 1) * (args.bidirectional and 2 or 1)
  return steps * rates_of.launches.cell + op.flops / (rates.fp32 * rates_of.cell_products)
end

kinds.lstm, kinds.gru, kinds.rnn_tanh, kinds.rnn_relu = cells, cells, cells, cells

--- Seconds of an operator's kernels without their first launch; nil for one that is modelled elsewhere. `place`: where its tensors lie, as
--- a task's memory has it, if it is known.
function M.seconds(op, rates, place)
  if not (op.outputs and op.outputs[1] and rates.sms) then return nil end
  local kind = kinds[op.name] or windows[op.name]
  if kind then return kind(op, rates, place) end
  if op.kind == "pointwise" or moved[op.name] then return pointwise(op, rates, place) end
  if op.kind == "reduction" then return reduction(op, rates) end
end

return M

-- modelled: PyTorch's time on a simulated device, from the task's operator graph and
-- the device's published rates. Modelled, never measured: eager starts one kernel for each
-- operator; compile fuses runs of pointwise operators, reductions and scans, whose
-- intermediate tensors then never leave the chip. bench/baselines.lua holds it against an
-- H100.

local traits = require "cawb.graph.traits"

local M = {}

-- Of the published rates, what PyTorch's kernels reach: float32 products run into the limit
-- of power; a scan of rows takes turns; convolutions of many shapes, roughly.
M.reached = { matmul = 0.78, convolution = 0.6, scan = 0.65 }

-- What a kernel takes beyond its launch, however small: it waits for memory once or twice.
M.least = 5e-7

-- What is normalised together and is larger than a block keeps is read again: bytes.
M.kept = 64 << 10

local fusible = { pointwise = true, reduction = true, normalization = true }

local function is_scan(op) return traits.of(op, "cumulative") ~= nil end

local sizes = { float64 = 8, int64 = 8, float32 = 4, int32 = 4, float16 = 2, bfloat16 = 2, int16 = 2 }

local function bytes_of(tensor)
  local n = sizes[tensor.dtype] or 1
  for _, size in ipairs(tensor.shape) do n = n * size end
  return n
end

-- Operators that pick from a large tensor read about as much as they write.
local function bytes_read(op)
  return traits.of(op, "gathers") and math.min(op.bytes_read, 2 * op.bytes_written) or op.bytes_read
end

local function product(list)
  local n = 1
  for _, v in ipairs(list or {}) do n = n * v end
  return n
end

-- Bytes that a normalisation sees as one, or 0 where it is no such thing.
local function group_of(op)
  local args, input = op.args or {}, op.inputs[1]
  if not input or op.kind ~= "normalization" then return 0 end
  local size = sizes[input.dtype] or 1
  if args.dim then
    local dim = math.tointeger(args.dim)
    return size * (input.shape[dim < 0 and #input.shape + dim + 1 or dim + 1] or 1)
  end
  if args.normalized_shape then return size * product(args.normalized_shape) end
  return args.group and size * (args.C or 1) * (args.HxW or 1) / args.group or 0
end

-- Further reads of the input, `most` at most: eager's softmax looks for the largest and sums up
-- by itself.
local function reads_again(op, most)
  if group_of(op) <= M.kept then return 0 end
  return bytes_of(op.inputs[1]) * math.min(most, (traits.of(op, "passes") or 2) - 1)
end

local function seconds(bytes, flops, rates, op)
  local compute = flops / (rates.fp32 * (M.reached[op.kind] or 1))
  return rates.launch + math.max(bytes / rates.dram, compute, M.least)
end

local function eager(graph, rates)
  local total = 0
  for _, op in ipairs(graph) do
    local bytes = bytes_read(op) + op.bytes_written + reads_again(op, 2)
    total = total + seconds(is_scan(op) and bytes / M.reached.scan or bytes, op.flops, rates, op)
  end
  return total
end

-- Runs of neighbours that one kernel could be made of.
local function groups(graph)
  local list, open = {}, nil
  for _, op in ipairs(graph) do
    local fuses = fusible[op.kind] or is_scan(op)
    if not (fuses and open) then
      open = {}
      list[#list + 1] = open
    end
    open[#open + 1] = op
    if not fuses then open = nil end
  end
  return list
end

-- Indices that nobody asked for are not made.
local function bytes_made(op)
  if not traits.of(op, "byproduct") or not op.outputs then return op.bytes_written end
  return bytes_of(op.outputs[1])
end

-- Of a reduction of more than a block keeps, what is read before is gone.
local function forgets(op)
  local input, output = op.inputs[1], (op.outputs or {})[1]
  if op.kind ~= "reduction" or not input or not output then return false end
  return bytes_of(input) / math.max(1, product(output.shape)) > M.kept
end

-- What a group reads and does not make itself, each tensor once.
local function bytes_in(group)
  local inside, seen, bytes = {}, {}, 0
  for _, op in ipairs(group) do
    local own = 0
    for _, input in ipairs(op.inputs) do
      if inside[input.source] or seen[input.source] then own = own + bytes_of(input) end
    end
    for _, input in ipairs(op.inputs) do seen[input.source] = input.source ~= "const" end
    bytes = bytes + math.max(0, bytes_read(op) - own) + reads_again(op, 1)
    inside["op:" .. op.number] = true
    if forgets(op) then seen = {} end
  end
  return bytes
end

local function group_seconds(group, rates)
  local flops = 0
  for _, op in ipairs(group) do flops = flops + op.flops end
  return seconds(bytes_in(group) + bytes_made(group[#group]), flops, rates, group[1])
end

local function compiled(graph, rates)
  local total = 0
  for _, group in ipairs(groups(graph)) do total = total + group_seconds(group, rates) end
  return total
end

--- { eager = seconds, compile = seconds } for a graph without its views; {} for one
--- that then has nothing in it.
function M.times(graph, rates)
  if #graph == 0 then return {} end
  return { eager = eager(graph, rates), compile = compiled(graph, rates) }
end

return M

-- modelled: PyTorch's time on a simulated device, from the task's operator graph and
-- the device's published rates. Modelled, never measured: eager starts one kernel for each
-- operator, or what kernels.lua says; compile fuses runs of pointwise operators, reductions and scans, whose
-- intermediate tensors then never leave the chip. bench/baselines.lua holds it against an
-- H100: its constants are fitted to half of those tasks.

local fused = require "cawb.graph.fused"
local kernels = require "cawb.graph.kernels"
local libraries = require "cawb.graph.libraries"
local traits = require "cawb.graph.traits"

local M = {}

-- Of memory's rate, what kernels reach: eager's by kind where kernels.lua has no more of them, and compile's. A scan of rows takes turns; a
-- maximum over windows writes indices, too.
M.reached = {
  eager = { scan = 0.57 },
  compile = { reduction = 1 / 1.08, pool = 1 / 1.3 },
  matmul = 0.65,                     -- of float32's rate, by operators that have products inside
}

-- Seconds that a kernel takes beyond its launch and its bytes, however small: it waits for memory, and
-- its threads for one another.
M.waits = {
  eager = { matmul = 3e-6, convolution = 2.2e-5, reduction = 5.5e-6, normalization = 4.5e-6, scan = 2.6e-5 },
  compile = { matmul = 3e-6, convolution = 2.2e-5, reduction = 8e-7, normalization = 8e-7, scan = 2e-6 },
}

M.least = 5e-7                       -- of any kernel
M.next = 1.3e-6                      -- the launch of one that follows another

-- torch.compile has convolutions of planes with channels last: how often the input goes through memory
-- on the way there, and a result that nothing else takes on the way back; and what those without a sum
-- over channels lose by it.
M.turned, M.depthwise_turned = 2.6, 5.5

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

-- What an operator is to the tables above.
local function class_of(op)
  if is_scan(op) then return "scan" end
  local name = op.name or ""
  return name:find "max_pool" and "pool" or op.kind
end

local function wait_of(waits, op) return waits[is_scan(op) and "scan" or op.kind] or 0 end

-- Seconds of the operator that does the work of a kernel, `bytes` of which go through memory.
local function work(op, bytes, rates, how)
  local memory = bytes / (rates.dram * (M.reached[how][class_of(op)] or 1))
  if op.kind == "matmul" then return math.max(memory, libraries.matmul(op, rates)) end
  if op.kind == "convolution" then return math.max(memory, libraries.convolution(op, rates)) end
  local inside = traits.of(op, "products") and M.reached.matmul or 1
  return math.max(memory, op.flops / (rates.fp32 * inside))
end

local function launches(count, rates) return rates.launch + (count - 1) * math.min(M.next, rates.launch) end

-- Seconds of an eager operator beyond its launch.
local function alone(op, rates, place)
  local own = kernels.seconds(op, rates, place)
  if own then return own + wait_of(M.waits.eager, op) end
  local bytes = bytes_read(op) + op.bytes_written + reads_again(op, 2)
  return work(op, bytes, rates, "eager") + wait_of(M.waits.eager, op)
end

--- What eager PyTorch takes, and what each operator does: { { name, seconds }, ... }. `places`: an operator's entry in a task's memory.
function M.eager(graph, rates, places)
  graph = fused.graph(graph, function(op) return (places(op) or {}).line end)
  local total, parts = launches(#graph, rates), {}
  for i, op in ipairs(graph) do
    local seconds = math.max(alone(op, rates, places(op)), M.least)
    total, parts[i] = total + seconds, { op.name, seconds }
  end
  return total, parts
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

-- A convolution of planes with channels last: what that adds.
local function turning(op, is_last, rates)
  local input, weight = op.inputs[1], op.inputs[2]
  if #input.shape ~= 4 or ((op.args.groups or 1) > 1 and weight.shape[2] > 1) then return 0 end
  local bytes = (input.source:find "^op:" and 0 or bytes_of(input)) + (is_last and op.bytes_written or 0)
  local alone = libraries.is_depthwise(op) and (M.depthwise_turned - 1) * libraries.convolution(op, rates) or 0
  return 2 * M.turned * bytes / rates.dram + alone
end

local function group_seconds(group, is_last, rates)
  local first, wait = group[1], 0
  for _, op in ipairs(group) do wait = math.max(wait, wait_of(M.waits.compile, op)) end
  local seconds = work(first, bytes_in(group) + bytes_made(group[#group]), rates, "compile")
  if first.kind == "convolution" then seconds = seconds + turning(first, is_last, rates) end
  return math.max(seconds, M.least) + wait
end

local function compiled(graph, rates)
  local list = groups(graph)
  local total = launches(#list, rates)
  for i, group in ipairs(list) do total = total + group_seconds(group, i == #list, rates) end
  return total
end

--- { eager = seconds, compile = seconds, parts = of eager, an operator each } for a graph without its views; {} for one that then has
--- nothing in it. `rates` are the device's, `sms` its multiprocessors; `memory`, where it is known: where tensors lie, as a task has it.
function M.times(graph, rates, sms, memory)
  if #graph == 0 then return {} end
  rates = setmetatable({ sms = sms }, { __index = rates })
  local where = memory and memory.operators or {}
  local seconds, parts = M.eager(graph, rates, function(op) return where[op.number] end)
  return { eager = seconds, compile = compiled(graph, rates), parts = parts }
end

return M

-- baseline_model: PyTorch's time on a simulated device, from the task's operator
-- graph and the device's published rates. Modelled, never measured: eager starts
-- one kernel for each operator; compile fuses runs of pointwise operators and
-- reductions, whose intermediate tensors then never leave the chip.

local M = {}

local fusible = { pointwise = true, reduction = true, normalization = true }

local function seconds(bytes, flops, rates)
  return rates.launch + math.max(bytes / rates.dram, flops / rates.fp32)
end

-- Operators that pick from a large tensor read about as much as they write.
local function bytes_read(op)
  local name = op.op or ""
  local picks = name:find "embedding" or name:find "gather" or name:find "index_select"
    or name:find "index%.Tensor" or name:find "%.slice"
  return picks and math.min(op.bytes_read, 2 * op.bytes_written) or op.bytes_read
end

local function eager(graph, rates)
  local total = 0
  for _, op in ipairs(graph) do
    total = total + seconds(bytes_read(op) + op.bytes_written, op.flops, rates)
  end
  return total
end

-- Runs of neighbours that one kernel could be made of.
local function groups(graph)
  local list, open = {}, nil
  for _, op in ipairs(graph) do
    if not (fusible[op.kind] and open) then
      open = {}
      list[#list + 1] = open
    end
    open[#open + 1] = op
    if not fusible[op.kind] then open = nil end
  end
  return list
end

local sizes = { float64 = 8, int64 = 8, float32 = 4, int32 = 4, float16 = 2, bfloat16 = 2,
                int16 = 2 }

local function bytes_of(tensor)
  local n = sizes[tensor.dtype] or 1
  for _, size in ipairs(tensor.shape) do n = n * size end
  return n
end

-- A group reads what it does not make itself, and writes its last result.
local function group_seconds(group, rates)
  local inside, bytes, flops = {}, 0, 0
  for _, op in ipairs(group) do
    local own = 0
    for _, input in ipairs(op.inputs) do
      if inside[input.source] then own = own + bytes_of(input) end
    end
    bytes = bytes + math.max(0, bytes_read(op) - own)
    flops = flops + op.flops
    inside["op:" .. op.number] = true
  end
  return seconds(bytes + group[#group].bytes_written, flops, rates)
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

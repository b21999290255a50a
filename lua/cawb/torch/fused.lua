-- fused: what is one kernel on a GPU and is recorded as several operators, since tensors without data are on no GPU.

local tensors = require "cawb.torch.tensors"

local M = {}

local norm = { "pow", "mean", "add", "rsqrt", "mul", "mul" }

local function follows(op, name, before, line, first)
  if not op or op.name ~= name or line(op) ~= line(first) then return false end
  local from = "op:" .. before.number
  return op.inputs[1].source == from or op.inputs[2] ~= nil and op.inputs[2].source == from
end

-- PyTorch names the dimensions of its own norm from the first; modules that spell one write `-1`.
local function is_own(power, mean)
  local dims = mean.args.dim
  return power.args.exponent == 2 and mean.args.keepdim and type(dims) == "table" and dims[1] ~= nil and dims[1] >= 0
end

-- The number of operators of a norm by root mean squares that begins at `at`, or nil.
local function norm_at(graph, at, line)
  local first = graph[at]
  if first.name ~= norm[1] then return nil end
  for i = 2, #norm do
    local op = graph[at + i - 1]
    local good = follows(op, norm[i], graph[at + i - 2], line, first) and (i ~= 2 or is_own(first, op))
      and (i ~= 5 or op.inputs[1].source == first.inputs[1].source) and (i ~= 6 or op.inputs[2].source:find "^param:")
    if not good then return i == 6 and 5 or nil end
  end
  return #norm
end

--- The operators of a graph with such norms as one each. `line` says on which line of its file an operator was called, or nil: a
--- module that spells the norm by operators of its own takes several, mostly.
function M.graph(graph, line)
  local list, at = {}, 1
  while at <= #graph do
    local op, count = graph[at], norm_at(graph, at, line)
    if count then
      local input, last = op.inputs[1], graph[at + count - 1]
      op = { name = "_fused_rms_norm", kind = "normalization", number = last.number, inputs = { input }, outputs = last.outputs,
             args = { size = tensors.product(input.shape) / tensors.product(graph[at + 1].outputs[1].shape) },
             bytes_read = op.bytes_read, bytes_written = op.bytes_written, flops = op.flops }
    end
    list[#list + 1] = op
    at = at + (count or 1)
  end
  return list
end

return M

-- single: one operator of a graph: what it reads, and what its arithmetic takes. For eager.lua and torch_compile.lua, which say what kernels
-- PyTorch makes of operators.

local libraries = require "cawb.torch.libraries"
local tensors = require "cawb.torch.tensors"
local traits = require "cawb.torch.traits"

local M = {}

local bytes_of, product = tensors.bytes, tensors.product

M.products = 0.65        -- of float32's rate, what operators reach that have products inside

-- What is normalised together and is larger than a block keeps is read again: bytes.
M.kept = 64 << 10

--- Operators that pick from a large tensor read about as much as they write.
function M.bytes_read(op)
  return traits.of(op, "gathers") and math.min(op.bytes_read, 2 * op.bytes_written) or op.bytes_read
end

--- Elements that a normalisation sees as one, or nil where it is no such thing.
function M.group_of(op)
  local args, input = op.args or {}, op.inputs[1]
  if not input or op.kind ~= "normalization" then return nil end
  if args.dim then return input.shape[tensors.dimension(args.dim, input.shape)] or 1 end
  if args.normalized_shape then return product(args.normalized_shape) end
  if args.group then return (args.C or 1) * (args.HxW or 1) / args.group end
  return args.training and product(input.shape) / (input.shape[2] or 1) or nil
end

--- Bytes read again, `most` further reads of the input at most: eager's softmax looks for the largest and sums up by itself.
function M.reads_again(op, most)
  local together = M.group_of(op)
  if not together or together * tensors.width(op.inputs[1]) <= M.kept then return 0 end
  return bytes_of(op.inputs[1]) * math.min(most, (traits.of(op, "passes") or 2) - 1)
end

function M.is_scan(op) return traits.of(op, "cumulative") ~= nil end

--- Seconds of the operator that does the work of a kernel, beside those of its memory.
function M.work(op, memory, rates)
  if op.kind == "matmul" then return math.max(memory, libraries.matmul(op, rates)) end
  if op.kind == "convolution" then return math.max(memory, libraries.convolution(op, rates)) end
  local inside = traits.of(op, "products") and M.products or 1
  return math.max(memory, op.flops / (rates.fp32 * inside))
end

--- A row of a table by what kind of operator it is: scans are one by themselves.
function M.by_kind(list, op) return list[M.is_scan(op) and "scan" or op.kind] end

return M

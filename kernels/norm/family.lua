-- Rows divided by their norm: y = x / norm(x), where the norm is the root of the sum of squares
-- (L2), the sum of absolute values (L1) or their mean, along the last dimension.

local function last(op)
  local dims, rank = op.args.dim, #op.inputs[1].shape
  if type(dims) == "number" then dims = { dims } end
  return type(dims) == "table" and #dims == 1 and rank > 0 and dims[1] % rank == rank - 1
    and op.args.keepdim
end

local sums = { sum = 0, mean = 1 }

-- What the graph computes, as the defines of the kernels; or nil and why not.
local function read(graph)
  local first, divide = graph[1], graph[#graph]
  if #graph < 2 or #graph > 3 then return nil, "it takes a norm and a division" end
  local norm = graph[#graph - 1]
  if first.inputs[1].source ~= "input:1" then
    return nil, "its operand must be the task's first input"
  end
  if divide.name ~= "div" or divide.args.rounding_mode or #divide.inputs ~= 2 or divide.inputs[1].source ~= "input:1"
    or divide.inputs[2].source ~= "op:" .. (norm.number or #graph - 1) then
    return nil, "it takes a division of the first input by its norm"
  end
  if not last(norm) then return nil, "it works along the last dimension only, and keeps it" end
  local order = norm.args.ord
  if #graph == 2 and norm.name == "linalg_vector_norm"
    and (order == 1 or order == 2) then
    return { SQUARE = order == 2 and 1 or 0, MEAN = 0 }
  end
  if #graph == 3 and first.name == "abs" and sums[norm.name]
    and norm.inputs[1].source == "op:" .. (first.number or 1) then
    return { SQUARE = 0, MEAN = sums[norm.name] }
  end
  return nil, "it takes an L1 or L2 norm, or a sum or mean of absolute values"
end

return {
  name = "norm",

  serves = function(graph)
    local what, why = read(graph)
    if not what then return false, why end
    local x, y = graph[1].inputs[1], graph[#graph].outputs[1]
    if x.dtype ~= "float32" or y.dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    return true
  end,

  defines = function(graph) return (read(graph)) end,

  versions = { "v1_thread_per_row", "v2_block_per_row", "v3_vector", "v4_cluster" },
}

-- Sum, mean, maximum or minimum over the last dimensions: one number for each row.

local kinds = {                              -- of operator, and what OP calls them
  sum = 0, mean = 1, max = 2, amax = 2, min = 3, amin = 3,
}

-- True if `dims`, counted from 0 or from the end, are the last ones of `rank`.
local function trailing(dims, rank)
  local seen, least = {}, rank
  for _, d in ipairs(dims) do
    d = d % rank
    seen[d], least = true, math.min(least, d)
  end
  for d = least, rank - 1 do
    if not seen[d] then return false end
  end
  return least < rank
end

return {
  name = "reduce",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if not kinds[op.name] then
      return false, op.op .. " is not a sum, mean, maximum or minimum over a dimension"
    end
    local x = op.inputs[1]
    if x.source ~= "input:1" then return false, "its operand must be the task's first input" end
    if x.dtype ~= "float32" or op.outputs[1].dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    local dims = op.args.dim
    if type(dims) == "number" then dims = { dims } end
    if type(dims) ~= "table" or #x.shape == 0 or not trailing(dims, #x.shape) then
      return false, "it works along the last dimensions only"
    end
    return true
  end,

  defines = function(graph)
    return { OP = kinds[graph[1].name] }
  end,

  versions = { "v1_thread_per_row", "v2_block_per_row", "v3_shuffle", "v4_vector", "v5_split" },
}

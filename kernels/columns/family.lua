-- One number for each column: sum, mean, maximum or minimum over a dimension that is not
-- the last. What is reduced lies `cols` floats apart: x is (outer, rows, cols), y (outer, cols).

local kinds = {                              -- of operator, and what OP calls them
  sum = 0, mean = 1, max = 2, amax = 2, min = 3, amin = 3,
}

-- The first and last of the reduced dimensions, from 0; nothing where they are not neighbours.
local function span(dims, rank)
  local seen, least, most, count = {}, rank, -1, 0
  for _, d in ipairs(dims) do
    d = d % rank
    if not seen[d] then count = count + 1 end
    seen[d], least, most = true, math.min(least, d), math.max(most, d)
  end
  if count > 0 and most - least + 1 == count then return least, most end
end

local function reduced(op)
  local dims = op.args.dim
  if type(dims) == "number" then dims = { dims } end
  local rank = #op.inputs[1].shape
  if type(dims) ~= "table" or rank == 0 then return nil end
  return span(dims, rank)
end

local function product(shape, first, last)
  local n = 1
  for i = first, last do n = n * shape[i] end
  return n
end

return {
  name = "columns",

  serves = function(graph)
    if #graph ~= 1 then return false, "it takes exactly one operator" end
    local op = graph[1]
    if not kinds[op.name] then return false, op.op .. " is not a sum, mean, maximum or minimum" end
    local x = op.inputs[1]
    if x.source ~= "input:1" then return false, "its operand must be the task's first input" end
    if x.dtype ~= "float32" or op.outputs[1].dtype ~= "float32" then
      return false, "it computes in float32 only"
    end
    local _, last = reduced(op)
    if not last or last == #x.shape - 1 then
      return false, "it works along neighbouring dimensions that do not include the last"
    end
    return true
  end,

  defines = function(graph)
    local op = graph[1]
    local first, last = reduced(op)
    local shape = op.inputs[1].shape
    return { OP = kinds[op.name], ROWS = product(shape, first + 1, last + 1),
             COLS = product(shape, last + 2, #shape) }
  end,

  versions = { "v1_thread_per_column", "v2_unrolled", "v3_slices", "v4_split" },
}

-- constant: tensors whose values are known. Equal numbers and numbers that count are computed where they are needed; others are a
-- table, in the kernel or in memory.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"

local M = {}

-- Where whole numbers grow by the same along each dimension: the numbers from 0 on, at the index that they follow. Nil elsewhere.
local function counted(g, base)
  local values, shape, first = base.values, base.shape, base.values[1]
  if math.type(first) ~= "integer" then return nil end
  local steps, behind, least, most = {}, 1, first, first
  for d = #shape, 1, -1 do
    steps[d] = shape[d] > 1 and math.type(values[behind + 1]) == "integer" and values[behind + 1] - first or 0
    least, most = least + math.min(0, steps[d] * (shape[d] - 1)), most + math.max(0, steps[d] * (shape[d] - 1))
    behind = behind * shape[d]
  end
  for k, value in ipairs(values) do
    local at, sum = k - 1, first
    for d = #shape, 1, -1 do
      sum, at = sum + steps[d] * (at % shape[d]), at // shape[d]
    end
    if value ~= sum then return nil end
  end
  local numbers = g:view(g:iota(most - least + 1), shape, function(i) return { index.place(i, steps, first - least) } end)
  if least == 0 and base.dtype == "int64" then return numbers end
  return g:map("A + B", base.dtype, { numbers, g:fill(least, {}, "int64") }, "int64")
end

local FEW = 64      -- numbers of a constant that stand in the kernels that read it; more lie in memory, written before the first call

--- The node of a tensor of known values: { values, shape, dtype }.
function M.of(g, base)
  local same = lists.all(base.values, function(value) return value == base.values[1] end)
  if same and base.values[1] ~= nil then return g:fill(base.values[1], base.shape, base.dtype) end
  local found = #base.values > FEW and counted(g, base)
  if found then return found end
  local node = g:node { kind = "leaf", source = "const", values = base.values, shape = base.shape, dtype = base.dtype }
  if #base.values <= FEW then return node end
  local lies = g:map("A", base.dtype, { node })
  lies.wanted = true
  return lies
end

return M

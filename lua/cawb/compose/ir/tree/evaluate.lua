-- evaluate: the value of a tree, as numbers of Lua: real ones are float64, whole ones have 64 bits. For tests and for folding.

local operations = require "cawb.compose.ir.operations"
local types = require "cawb.torch.types"

local M = {}

local function converted(value, dtype)
  if dtype == "bool" then return value ~= 0 and value ~= false end
  if value == true then value = 1 elseif value == false then value = 0 end
  if types.is_float(dtype) then return value + 0.0 end
  return math.tointeger(value) or math.tointeger(value < 0 and math.ceil(value) or math.floor(value))
end

-- A truth value counts as 1 or 0 among numbers.
local function number(value)
  if value == true then return 1 end
  return value or 0
end

--- The value, with `values` in place of the operands. A function that Lua has not raises.
function M.of(t, values)
  if t.op == "argument" then return values[t.k] end
  if t.op == "constant" then return t.value end
  local row, list = operations.row(t.op), {}
  for k, x in ipairs(t) do list[k] = M.of(x, values) end
  if t.op == "convert" then return converted(list[1], t.type) end
  if not row.evaluate then error(("Lua has no '%s': compare on a device"):format(t.op), 2) end
  if row.class ~= "logic" and row.class ~= "select" then
    local real = types.is_float(t.type)
    for k, value in ipairs(list) do list[k] = number(value) + (real and 0.0 or 0) end
  end
  list[#list + 1] = t.nan
  return row.evaluate(table.unpack(list))
end

return M

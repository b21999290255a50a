-- operators: the nodes of recorded operators. There is one constructor for each, by functional name:
-- constructor(g, op) returns the nodes of its outputs, in order; nil, why where it cannot. `op` is
-- { name, args, x = operands in order, by = operands by the schema's names, out = { { shape, dtype } } }.

local expressions = require "cawb.compose.operators.expressions"
local keys = require "cawb.compose.ir.keys"
local lists = require "cawb.base.lists"
local text = require "cawb.compose.ir.tree.text"
local tree = require "cawb.compose.ir.tree"
local types = require "cawb.torch.types"

local M = { table = {} }

-- Rooms of operators; the operators of the first add up many elements: those of 16 bits are computed in float32 all the way.
local summing = { "fold", "softmax_norm", "pool", "resize" }
local others = { "move", "product", "order", "cell", "place", "special", "copies", "sample", "heads" }

local sums = {}
for k, room in ipairs(lists.joined(summing, others)) do
  for name, constructor in pairs(require("cawb.compose.operators." .. room)) do M.table[name], sums[name] = constructor, k <= #summing end
end

local halves = { float16 = true, bfloat16 = true }

-- The operator on operands in float32, with results in it.
local function widened(g, op)
  local wide = setmetatable({ x = {}, by = {}, out = {} }, { __index = op })
  for k, x in ipairs(op.x) do
    wide.x[k] = halves[x.dtype] and g:map("A", "float32", { x }) or x
    for name, y in pairs(op.by) do
      if y == x then wide.by[name] = wide.x[k] end
    end
  end
  for k, o in ipairs(op.out) do wide.out[k] = { shape = o.shape, dtype = halves[o.dtype] and "float32" or o.dtype } end
  return wide
end

-- Numbers that stand where a tensor may are operands too: by name, and their place among the operands. That of pow is in its line.
local usual = { { "self", 1 }, { "other", 2 } }
local places = { where = { { "self", 2 }, { "other", 3 } }, masked_fill = { { "value", 3 } }, pow = {} }

-- A condition keeps its type; the other operands are converted to one type.
local casts = { where = { "bool" }, masked_fill = { false, "bool" } }

local function operands(g, op, dtype)
  local list = { table.unpack(op.x) }
  for _, number in ipairs(places[op.name] or usual) do
    local name, place = number[1], number[2]
    if op.args[name] ~= nil and not op.by[name] then table.insert(list, place, g:fill(op.args[name], {}, dtype)) end
  end
  return list
end

local function computing(op, dtype)
  if not expressions.is_truth(op.name) then return dtype end
  return types.promote(op.x, op.args.other)
end

-- A division by a number becomes a product with its reciprocal, as in PyTorch on a GPU. A division has a branch, and the elements
-- of a thread wait for each other there.
local function without_division(op, dtype)
  local by = op.args.other
  if op.name ~= "div" or op.args.rounding_mode or type(by) ~= "number" or op.by.other or dtype ~= "float32" then return op end
  if not (math.abs(by) > 1e-30 and math.abs(by) < 1e30) then return op end
  return setmetatable({ name = "mul", args = { other = 1.0 / by } }, { __index = op })
end

--- An operator of the table of expressions as a map.
local function pointwise(g, op)
  local out = op.out[1]
  op = without_division(op, out.dtype)
  local cast = computing(op, out.dtype)
  local line = expressions.of(op.name, op.args, cast)
  if not line then return nil, ("%s of %s has no expression"):format(op.name, cast) end
  local list = operands(g, op, cast)
  if tree.has(text.read(line, cast, casts[op.name]), function(t) return t.op == "argument" and t.k > #list end) then
    return nil, ("its line, %s, has more operands than this call, which has %d"):format(line, #list)
  end
  return { g:map(line, out.dtype, list, cast, casts[op.name]) }
end

--- The names of all operators that something here makes; views are made of strides (import.lua) and are not among them.
function M.names()
  local all = lists.copy(M.table)
  for _, name in ipairs(expressions.names()) do all[name] = true end
  return keys(all)
end

--- The nodes of an operator's outputs; or nil and what is missing.
function M.build(g, op)
  for _, o in ipairs(op.out) do
    if not types.known(o.dtype) then return nil, ("it makes %s, which no kernel here computes%s"):format(o.dtype,
      o.dtype:find "complex" and "; real and imaginary parts as tensors of their own would serve" or "") end
  end
  local constructor = M.table[op.name] or expressions.knows(op.name) and pointwise
  if not constructor then return nil, "compose has no way to make it (lua/cawb/compose/README.md says how to add one); other operators that compute the same "
    .. "would serve, or a kernel by hand or of an agent" end
  local narrow = sums[op.name] and op.x[1] and halves[op.x[1].dtype]
  local made, why = constructor(g, narrow and widened(g, op) or op)
  if not made then return nil, why end
  for k, o in ipairs(narrow and op.out or {}) do
    if made[k] and halves[o.dtype] then made[k] = g:map("A", o.dtype, { made[k] }, "float32") end
  end
  for k, o in ipairs(op.out) do made[k] = made[k] and g:broadcast(made[k], o.shape) end
  return made
end

return M

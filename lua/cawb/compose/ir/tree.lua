-- tree: what a map computes for one element, as a tree of operations. A node is a table { op, type, its operands in order, attributes }.
-- Equal trees are one table, so `==` compares them. Types are PyTorch's. Operations stand in ir/operations.lua, apart from two:
--   argument   `k`: the map's k-th operand, written A, B, C, ...
--   constant   `value`: a number; true or false is of type bool
-- Attributes:
--   exact        the result is rounded by itself, and never contracted with another operation
--   approximate  a quotient that may be off by two places
--   nan          of a maximum or a minimum: "wins" if it is NaN where an operand is; "loses" if it is the other operand then
-- ir/tree/text.lua writes a tree in one line and reads it back; ir/tree/cuda.lua makes C of it.

local lists = require "cawb.base.lists"
local operations = require "cawb.compose.ir.operations"
local types = require "cawb.torch.types"

local M = {}

local known, count = setmetatable({}, { __mode = "v" }), 0

local function number_key(value)
  return math.type(value) == "integer" and ("%d"):format(value) or type(value) == "number" and ("%.17g."):format(value) or tostring(value)
end

local function unique(key, node)
  local same = known[key]
  if same then return same end
  count = count + 1
  node.id = count
  known[key] = node
  return node
end

function M.argument(k, dtype) return unique(("argument %d %s"):format(k, dtype), { op = "argument", type = dtype, k = k }) end

function M.constant(value, dtype)
  return unique(("constant %s %s"):format(number_key(value), dtype), { op = "constant", type = dtype, value = value })
end

local ranks = { float64 = 4, int64 = 2 }

local function rank(dtype) return ranks[dtype] or types.is_float(dtype) and 3 or 1 end

-- The type of a sum or a choice, as C has it: small whole numbers become int32.
local function promoted(list, from)
  local most = 1
  for k = from or 1, #list do most = math.max(most, rank(list[k].type)) end
  return ({ "int32", "int64", "float32", "float64" })[most]
end

local function type_of(class, list)
  if class == "compare" or class == "logic" then return "bool" end
  if class == "select" then return list[2].type == list[3].type and list[2].type or promoted(list, 2) end
  if class == "function" then return rank(promoted(list)) == 4 and "float64" or "float32" end
  return promoted(list)
end

--- An operation on operands. `attributes`: `exact`, `approximate`, `nan`, and for `convert` the type.
function M.node(op, operands, attributes)
  local row = operations.row(op) or error(("no operation '%s': lua/cawb/compose/ir/operations.lua lists them"):format(op), 2)
  if #operands ~= row.count then error(("'%s' has %d operands, not %d"):format(op, row.count, #operands), 2) end
  local a = attributes or {}
  local node = { op = op, type = a.type or type_of(row.class, operands), exact = a.exact, approximate = a.approximate, nan = a.nan }
  local words = { op, node.type, a.exact and "exact" or a.approximate and "approximate" or a.nan or "" }
  for k, x in ipairs(operands) do node[k], words[k + 3] = x, x.id end
  return unique(table.concat(words, " "), node)
end

--- The tree with f(node) in place of each node where f returns one, from the leaves up.
function M.changed(t, f)
  local operands, differ = {}, false
  for k, x in ipairs(t) do
    operands[k] = M.changed(x, f)
    differ = differ or operands[k] ~= x
  end
  local same = differ and M.node(t.op, operands, { exact = t.exact, approximate = t.approximate, nan = t.nan,
                                                      type = t.op == "convert" and t.type or nil }) or t
  return f(same) or same
end

function M.has(t, f)
  return f(t) or lists.any(t, function(x) return M.has(x, f) end)
end

return M

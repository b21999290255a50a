-- pointwise: operator graphs that compute each element from itself alone, as C. What the ladders
-- put into a kernel's -DFUNCTION: one operator is an expression, several are statements of a
-- function that is called at once. In float32.

local cuda = require "cawb.compose.ir.tree.cuda"
local expressions = require "cawb.compose.operators.expressions"
local graphs = require "cawb.compose.ir.graph"
local text = require "cawb.compose.ir.tree.text"
local tree = require "cawb.compose.ir.tree"
local traits = require "cawb.torch.traits"
local types = require "cawb.torch.types"

local M = {}

local function template(op)
  local line = expressions.of(op.name, op.args, "float32")
  return line and text.read(line, "float32")
end

-- The C name of an operand: what the graph begins with, what an operator before left, or a number.
local function operand(op, i, root, name)
  local x = op.inputs[i]
  if not x then return op.args.other and types.literal(op.args.other, "float32") end
  return x.source == root and name or x.source:gsub("^op:", "v")
end

local function expression(op, root, name)
  return cuda.write(template(op), { operand(op, 1, root, name), operand(op, 2, root, name) })
end

local function serves_op(op, made, shape)
  local computed = op.outputs[1].dtype == "float32" and template(op)
  if not computed then return false, op.op .. " is not in the table of functions" end
  local function is_missing(t) return t.op == "argument" and (t.k > 2 or t.k == 2 and not operand(op, 2, "", "")) end
  if tree.has(computed, is_missing) then
    return false, op.op .. " has more operands than two"
  end
  if traits.of(op, "partial") then return false, op.op .. " writes to a part of a tensor" end
  for _, x in ipairs(op.inputs) do
    if not made[x.source] then return false, ("%s meets a tensor that is not made of the first"):format(op.op) end
    if x.dtype ~= "float32" then return false, "it computes in float32 only" end
    if x.view or not graphs.same(x.shape, shape) then return false, "its operands must have one shape and one order" end
  end
  return true
end

--- Whether the operators of a graph from number `first` of the list on compute, element by
--- element, of one tensor alone: `root`, a source as "input:1", of this shape. Or false and why not.
function M.serves(graph, first, root, shape)
  local made = { [root] = true }
  for i = first, #graph do
    local fine, why = serves_op(graph[i], made, shape)
    if not fine then return false, why end
    made["op:" .. graph[i].number] = true
  end
  return true
end

--- What they compute, as a C expression in `name`.
function M.expression(graph, first, root, name)
  if first > #graph then return name end
  if first == #graph then return expression(graph[first], root, name) end
  local lines = {}
  for i = first, #graph do
    lines[#lines + 1] = ("const float v%d = %s; "):format(graph[i].number, expression(graph[i], root, name))
  end
  return ("[&] { %sreturn v%d; }()"):format(table.concat(lines), graph[#graph].number)
end

return M

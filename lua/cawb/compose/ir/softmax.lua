-- softmax: finds a softmax in a graph, however it is written. It is the quotient of exp(s - top) and the sum of these along a row, where
-- top is the largest s of the row. Patterns say how quotient and exponential may be written; what they name has to be the row's.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local match = require "cawb.compose.ir.tree.match"
local values = require "cawb.compose.ir.values"
local views = require "cawb.compose.ir.view"

local M = {}

-- X is the exponential, Y its row's sum. With `finite` a row of -inf alone gives zeros.
M.quotients = { { "X / Y" }, { "X * (1.0 / Y)" }, { "1.0 / Y * X" }, { "approximate(X / Y)" }, { "(Y == 0.0 ? 0.0 : X / Y)", finite = true } }

-- S is the score, T the largest of its row.
M.exponentials = { "exp(S - T)", "exp(exact(S - T))" }
M.FINITE = "(abs(T) == INFINITY ? 0.0 : T)"

-- The score and the largest one in exp(score - largest), and whether the difference is exact; nil if it is anything else.
local function exponential(t)
  for _, line in ipairs(M.exponentials) do
    local found = match.match(t, line)
    if found then return found.S, found.T, t[1].exact end
  end
end

-- The reduce that an argument is, if it joins elements of the given tree: `inner(reduce, at)` has the indices of its input.
local function joins(v, t, op, element, inner)
  local source = v:source(t)
  local x = source and source.node
  if not x or x.kind ~= "reduce" or x.op ~= op or x.dtype ~= x.inputs[1].dtype then return nil end
  local i = inner(x, source.at)
  return i and v:of(x.inputs[1], i) == element and x or nil
end

-- Indices of the input of a reduce along the last dimension, where they vary along it by `column`.
local function along(column)
  return function(x, at)
    local from = x.inputs[1].shape
    if #at ~= #from - 1 or not x.axes[#from] or from[#from] ~= column.hi + 1 then return nil end
    return index.with(at, #from, column)
  end
end

-- Whether places change along a row. A row of one element has no variable.
local function vary(list, column)
  local variable = column.terms[1] and column.terms[1][1].name
  return variable and lists.any(list, function(e) return index.uses(e, variable) end)
end

local function finite_top(t)
  local found = match.match(t, M.FINITE)
  return found and found.T or nil
end

local function scores_of(v, found, how, column)
  local s, t = exponential(found.X)
  if not s or how.finite and not finite_top(t) then return nil end
  local inner = along(column)
  local top = joins(v, how.finite and finite_top(t) or t, "max", s, inner)
  local sum = top and joins(v, found.Y, "sum", found.X, inner)
  return sum and not vary(v:source(found.Y).at, column) and top.inputs[1] or nil
end

--- The node whose softmax along the last dimension p is, and whether a row of -inf alone is to be zeros; or nil. `i` are indices of p,
--- the last one a variable.
function M.of(p, i)
  local v, column = values.new(), i[#i]
  local t = v:of(p, i)
  for _, how in ipairs(M.quotients) do
    local found = match.match(t, how[1])
    local scores = found and scores_of(v, found, how, column)
    if scores then return scores, how.finite or false end
  end
end

--- Whether a sum of exp(s - top) takes the difference as an operation of its own.
function M.is_exact(sum)
  local _, _, exact = exponential(values.new():of(sum.inputs[1], views.variables(sum.inputs[1].shape)))
  return exact or false
end

--- Whether a sum adds up exp(s - top) over the elements s whose largest is `top`. `inner(reduce)`: indices of its input; `at`: the
--- indices of `top`.
function M.follows(top, sum, inner, at)
  local v = values.new()
  local s, t = exponential(v:of(sum.inputs[1], inner(sum)))
  local own = s and v:of(top.inputs[1], inner(top)) == s and v:source(t)
  return own and own.node == top and index.same(own.at, at)
end

return M

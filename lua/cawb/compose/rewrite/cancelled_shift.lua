-- cancelled_shift: an added constant is left out if all readers cancel it. x - mean(x) is (x + c) - mean(x + c) if c is constant along the
-- axes of the mean. Examples are a number for each column ahead of a norm's mean over rows, a convolution's bias ahead of a batch
-- norm in training or an instance norm, and a constant ahead of a softmax. Shifts are followed from reader to reader, through
-- sums, maxima, views and multiples, until they cancel in a difference.
--
-- Only constants made of parameters and numbers are left out. A NaN or an infinity in such a constant is lost: it would have made
-- all results NaN. NaN in an input is kept, because it comes by another way. The subtraction of a first mean ahead of a second one
-- stays: rounding would be larger without it.

local lists = require "cawb.base.lists"
local shifts = require "cawb.compose.ir.tree.shift"
local tools = require "cawb.compose.operators.tools"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = { says = "what is added to it is taken away again" }

-- ---- a shift: m times a product of elements of nodes; `of` lists { node, at = its place for a list of indices }

local function shift(m, of, shape)
  local i = view.variables(shape)
  local words = lists.map(of, function(one)
    return ("%d[%s]"):format(one.node.id, table.concat(lists.map(one.at(i), function(e) return e.key end), ","))
  end)
  table.sort(words)
  return { m = m, of = of, key = table.concat(words, " ") }
end

-- The same with other indices: `at(i)` is where element i of the new shape was.
local function moved(s, shape, at)
  local of = lists.map(s.of, function(one) return { node = one.node, at = function(i) return one.at(at(i)) end } end)
  return shift(s.m, of, shape)
end

local function is_constant(s, x, axes)
  local i = view.variables(x.shape)
  return lists.all(s.of, function(one) return views.free(one.at(i), axes) end)
end

-- ---- the shift of a reader's value: a shift, or nil; and whether it is known

local steps = {}

function steps.map(x, by)
  if x.cast ~= x.dtype or x.casts or not views.is_real(x) then return nil, false end
  return shifts.of(x.expression, lists.map(x.inputs, function(input)
    return { shift = by[input], number = views.number(input), times = function(s)
      return shift(s.m, { views.shown(input), table.unpack(s.of) }, x.shape)
    end }
  end))
end

function steps.view(x, by)
  local piece = view.plain(x)
  if not piece then return nil, false end
  return moved(by[x.inputs[1]], x.shape, function(i) return view.at(piece, i) end), true
end

function steps.reduce(x, by)
  local from, s = x.inputs[1], by[x.inputs[1]]
  if x.op ~= "sum" and x.op ~= "max" and x.op ~= "min" or x.dtype ~= from.dtype or not is_constant(s, from, x.axes) then return nil, false end
  local to = moved(s, x.shape, function(i) return views.first_along(x.axes, #from.shape, i) end)
  to.m = to.m * (x.op == "sum" and tools.count(from.shape, x.axes) or 1)
  return to, true
end

-- Whether nothing that is shown changes where x is less by s.
local function cancels(g, x, s)
  local by, waiting, left = { [x] = s }, {}, 0
  local function follow(node)
    if g.shown[node] then return false end
    for _, user in ipairs(node.users) do
      left = left + (waiting[user] and 0 or 1)
      waiting[user] = true
    end
    return true
  end
  if not follow(x) then return false end
  local k = x.id
  while left > 0 do
    k = k + 1
    local node = g.nodes[k]
    if waiting[node] then
      left = left - 1
      local step, known = steps[node.kind], false
      if step then by[node], known = step(node, by) end
      if not known or by[node] and not follow(node) then return false end
    end
  end
  return #x.users > 0
end

-- ---- added operands, and a node without them

-- A map without operand k; the tree of the rest may be an operand alone.
local function without(g, x, k, rest)
  local operands = { table.unpack(x.inputs) }
  table.remove(operands, k)
  return rest.op == "argument" and operands[rest.k] or g:map(rest, x.dtype, operands)
end

-- Operands that are added: { { operand, its indices, function that returns the node without it } }.
local function added(g, x)
  if x.kind == "conv" or x.kind == "product" then
    local rank = x.kind == "conv" and 2 or #x.shape
    local bias = x.inputs[3]
    return bias and { { bias, function(i) return { i[rank] } end, function() return g:like(x, { x.inputs[1], x.inputs[2] }) end } } or {}
  end
  local list = {}
  if x.kind ~= "map" or x.cast ~= x.dtype or x.casts then return list end
  for k = #x.inputs, 1, -1 do
    local rest, one = shifts.without(x.expression, k), views.shown(x.inputs[k])
    if rest then list[#list + 1] = { one.node, one.at, function() return without(g, x, k, rest) end } end
  end
  return list
end

function M.apply(g, x)
  if not views.is_real(x) then return nil end
  for _, one in ipairs(added(g, x)) do
    local node, at, make = table.unpack(one)
    if node.dtype == x.dtype and views.is_fixed(node, g.fixed) and cancels(g, x, shift(1, { { node = node, at = at } }, x.shape)) then return make() end
  end
end

return M

-- exclusive_scan: running sums moved on by one place, with their neutral value ahead of them, are one scan that leaves out the element
-- itself. So are running sums over elements that are moved on so.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local neutral = { sum = 0, prod = 1 }

local M = { says = "sums of the elements ahead are one scan" }

-- The node that a view shows at a place along an axis, and the piece; false for the view's fill, nil where other axes decide too.
local function shown_at(x, axis, at)
  local one = views.piece_at(x, index.with(view.variables(x.shape), axis, index.const(at)))
  if not one then return nil end
  return one.piece and x.inputs[one.piece.input] or false, one.piece
end

local function is_neutral(x, node, value)
  if node then return views.number(node) == value end
  return node == false and (x.fill or 0) == value
end

-- Whether a piece shows, behind the first place along the axis, what lies one place ahead.
local function is_behind(x, piece, axis)
  local i = view.variables(x.shape)
  local want = index.with(i, axis, index.var("r" .. axis, x.shape[axis] - 1))
  return index.same(view.at(piece, index.with(i, axis, want[axis] + 1)), want)
end

-- The node that view x shows moved on by one place along an axis, behind the value; nil for other views. Guards are half-lines, so the
-- first two places and the last one say what all are.
local function moved(x, axis, value)
  local n = x.kind == "view" and x.shape[axis] or 0
  if n < 3 then return nil end
  local first = shown_at(x, axis, 0)
  local node, piece = shown_at(x, axis, 1)
  if not node or shown_at(x, axis, n - 1) ~= node or first == node or not is_neutral(x, first, value) then return nil end
  local size = node.shape[axis]
  return is_behind(x, piece, axis) and (size == n or size == n - 1) and node or nil
end

-- Elements of which all but the last are those of x, n of them along the axis.
local function longer(g, x, shape, axis, value)
  if x.shape[axis] == shape[axis] then return x end
  local from, i = views.shown(x), view.variables(x.shape)
  if graphs.same(from.node.shape, shape) and index.same(from.at(i), i) then return from.node end
  return g:view(x, shape, function(at) return at end, function(at) return { index.back(at[axis], shape[axis] - 1) } end, value)
end

-- The exclusive scan of x's elements ahead, as `scan` joins them; nil where there are none.
local function exclusive(g, x, scan, input)
  return input and g:scan(scan.op, longer(g, input, x.shape, scan.axis, neutral[scan.op]), scan.axis, true) or nil
end

-- The scans that a view may be of.
local function scan_below(x)
  return lists.first(x.inputs, function(input) return input.kind == "scan" and neutral[input.op] and not input.exclusive and #input.users == 1 end)
end

function M.apply(g, x)
  if x.kind == "scan" then
    return exclusive(g, x, x, neutral[x.op] and not x.exclusive and moved(x.inputs[1], x.axis, neutral[x.op]))
  end
  local scan = x.kind == "view" and scan_below(x)
  return scan and exclusive(g, x, scan, moved(x, scan.axis, neutral[scan.op]) == scan and scan.inputs[1])
end

return M

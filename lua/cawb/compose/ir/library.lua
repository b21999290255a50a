-- library: products and convolutions as calls of NVIDIA's libraries, on operands as they lie in memory.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

--- How a node lies in memory, seen through views that only change strides: { node, shape, strides,
--- offset }; nil where it does not lie there.
function M.layout(x)
  local i, node = views.variables(x.shape), x
  while node.kind == "view" and not node.stored do
    if #node.pieces > 1 then return nil end
    local piece = node.pieces[1]
    if lists.any(views.guards(piece, i), function(e) return e.lo < 0 end) then return nil end
    i, node = views.at(piece, i), node.inputs[piece.input]
  end
  if node.kind == "leaf" and not node.source:find ":" then return nil end
  local place = index.place(i, node.strides or graphs.contiguous(node.shape), node.offset or 0)
  local strides = {}
  for d, n in ipairs(x.shape) do
    strides[d] = n == 1 and 0 or index.stride(place, "r" .. d)
    if not strides[d] or strides[d] < 0 then return nil end
  end
  return { node = node, shape = x.shape, strides = strides, offset = place.base }
end

-- A layout with another shape, or other strides.
local function as(l, shape, strides) return { node = l.node, shape = shape, strides = strides, offset = l.offset } end

-- Dimensions [1, to] as one batch: how many, and how far apart; nil where they are no such.
local function batch(l, to)
  local count, stride = 1, 0
  for d = to, 1, -1 do
    if l.shape[d] > 1 then
      if count == 1 then stride = l.strides[d] elseif l.strides[d] ~= stride * count then return nil end
      count = count * l.shape[d]
    end
  end
  return count, stride
end

-- A matrix, or a batch of them, as gemm takes it.
local function matrix(l)
  local r = #l.shape
  local m, n, row, column = l.shape[r - 1], l.shape[r], l.strides[r - 1], l.strides[r]
  local rows = (column == 1 or n == 1) and (m == 1 or row >= n)
  local columns = (row == 1 or m == 1) and (n == 1 or column >= m)
  local count, stride = batch(l, r - 2)
  if not (rows or columns) or not count then return nil end
  if rows then column, row = 1, m == 1 and n or row else row, column = 1, n == 1 and m or column end
  if count > 1 then return as(l, { count, m, n }, { stride, row, column }) end
  return as(l, { m, n }, { row, column })
end

-- Contiguous, or with the channels last, as conv takes it.
local function image(l)
  local rank = #l.shape
  local plain = lists.times(rank, function(d) return d end)
  for _, order in ipairs { plain, lists.joined({ 1 }, { table.unpack(plain, 3) }, { 2 }) } do
    local strides, step = {}, 1
    for k = rank, 1, -1 do strides[order[k]], step = step, step * l.shape[order[k]] end
    local lies = lists.all(l.shape, function(n, d) return n <= 1 or l.strides[d] == strides[d] end)
    if lies then return as(l, l.shape, strides) end
  end
end

local function vector(l)
  if #l.shape ~= 1 or (l.shape[1] > 1 and l.strides[1] ~= 1) then return nil end
  return as(l, l.shape, { 1 })
end

local function take(x, input)
  local l = M.layout(input)
  if not l then return nil end
  if x.inputs[3] == input then return vector(l) end
  return x.kind == "conv" and image(l) or x.kind == "product" and matrix(l) or nil
end

--- Whether x's library can read this operand as it lies.
function M.strided(x, input)
  if x.kind ~= "product" and x.kind ~= "conv" then return false end
  return take(x, input) ~= nil
end

function M.list(values)
  return "{ " .. table.concat(lists.map(values, function(v) return ("%d"):format(v) end), ", ") .. " }"
end
local list = M.list

-- An operand in words of a plan, where `place(node)` names a tensor of it.
local function view(place, l)
  return ("view(%s, { shape = %s, strides = %s, offset = %d })"):format(place(l.node), list(l.shape), list(l.strides), l.offset or 0)
end

local function result(x)
  if x.kind == "conv" then return { node = x, shape = x.shape, strides = x.strides, offset = x.offset } end
  return matrix { node = x, shape = x.shape, strides = x.strides, offset = x.offset or 0 }
end

--- The line of a plan that computes a product or a convolution.
function M.call(x, place)
  local a, b = take(x, x.inputs[1]), take(x, x.inputs[2])
  local bias = x.inputs[3] and (", bias = " .. view(place, take(x, x.inputs[3]))) or ""
  if x.kind == "product" then
    return ("gemm{ a = %s, b = %s%s, c = %s }"):format(view(place, a), view(place, b), bias, view(place, result(x)))
  end
  local c = x.conv
  return ("conv{ x = %s, w = %s%s, y = %s, stride = %s, padding = %s, dilation = %s, groups = %d%s, workspace = 256 << 20 }"):format(
    view(place, a), view(place, b), bias, view(place, result(x)), list(c.stride), list(c.padding), list(c.dilation), c.groups,
    c.transposed and (", transposed = true, output_padding = %s"):format(list(c.output_padding)) or "")
end

return M

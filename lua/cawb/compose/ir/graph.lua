-- graph: the nodes that a task is lowered to, and how they are made. The README beside this file
-- has the kinds. Dimensions are counted from 1 here.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local text = require "cawb.compose.ir.tree.text"
local views = require "cawb.compose.ir.view"

local M = {}

---@class cawb.Graph
local Graph = {}
Graph.__index = Graph

function M.new() return setmetatable({ nodes = {}, outputs = {} }, Graph) end

function M.numel(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

function M.contiguous(shape)
  local strides, step = {}, 1
  for d = #shape, 1, -1 do strides[d], step = step, step * shape[d] end
  return strides
end

function M.same(a, b)
  if #a ~= #b then return false end
  for i, n in ipairs(a) do
    if n ~= b[i] then return false end
  end
  return true
end

--- Adds a node; `from` is the recorded operator.
function Graph:node(node)
  node.id, node.from, node.inputs = #self.nodes + 1, self.from, node.inputs or {}
  self.nodes[node.id] = node
  return node
end

--- A number in every element. NaN and infinities are the words "nan", "inf", "-inf". A node of one element is the number in it.
function Graph:fill(value, shape, dtype)
  if type(value) == "table" then return self:broadcast(self:map("A", dtype, { self:reshape(value.node, {}) }), shape) end
  return self:node { kind = "leaf", source = "fill", value = value, shape = shape, dtype = dtype }
end

function Graph:iota(n)
  return self:node { kind = "leaf", source = "iota", shape = { n }, dtype = "int64" }
end

-- Where one view shows all of another, one will do: the node below, and the piece.
local function through(x, piece)
  local inner = views.plain(x)
  if not inner then return x, piece end
  return x.inputs[1], views.composed(piece, inner)
end

--- Another shape, or a part, of one node: `at(i)` is the place in it of element i. Where
--- `guard(i)`, a list of expressions, has a negative one, the element is `fill`. Both are called once, with variables.
function Graph:view(x, shape, at, guard, fill)
  local from, piece = through(x, views.piece(1, shape, at, guard))
  return self:node { kind = "view", inputs = { from }, shape = shape, dtype = x.dtype, pieces = { piece }, fill = fill }
end

--- Several nodes, each where its guard holds: `pieces` = { { x, at, guard }, ... }, the last without.
function Graph:join(shape, pieces)
  local inputs, list = {}, {}
  for k, p in ipairs(pieces) do
    inputs[k], list[k] = through(p[1], views.piece(k, shape, p[2], p[3]))
  end
  return self:node { kind = "view", inputs = inputs, shape = shape, dtype = pieces[1][1].dtype, pieces = list }
end

-- For each dimension of `from` the one of `to` that it is, where shapes differ in ones alone; else nil.
local function without_ones(from, to)
  local at, d = {}, 1
  for k, n in ipairs(from) do
    while n ~= 1 and to[d] == 1 do d = d + 1 end
    if n ~= 1 then
      if to[d] ~= n then return nil end
      at[k], d = d, d + 1
    end
  end
  for k = d, #to do
    if to[k] ~= 1 then return nil end
  end
  return at
end

function Graph:reshape(x, shape)
  if M.same(x.shape, shape) then return x end
  local at = without_ones(x.shape, shape)
  if at then                           -- so that an index beyond the end, which a guard keeps out, stays simple
    return self:view(x, shape, function(i)
      return lists.times(#x.shape, function(k) return at[k] and i[at[k]] or index.const(0) end)
    end)
  end
  return self:view(x, shape, function(i) return index.unravel(index.ravel(i, shape), x.shape) end)
end

function Graph:flat(x) return self:reshape(x, { M.numel(x.shape) }) end

--- Dimension d of the result is dimension order[d] of x.
function Graph:permute(x, order)
  local shape = lists.map(order, function(from) return x.shape[from] end)
  local back = {}
  for d, from in ipairs(order) do back[from] = d end
  return self:view(x, shape, function(i) return lists.map(back, function(d) return i[d] end) end)
end

--- As PyTorch broadcasts: dimensions of one, and those ahead that x has not, repeat.
function Graph:broadcast(x, shape)
  if M.same(x.shape, shape) then return x end
  local ahead = #shape - #x.shape
  return self:view(x, shape, function(i)
    return lists.map(x.shape, function(n, d) return n == 1 and index.const(0) or i[d + ahead] end)
  end)
end

--- As a view, and `fill` where a place is outside of x.
function Graph:padded(x, shape, at, fill)
  return self:view(x, shape, at, function(i)
    local guards = {}
    for d, place in ipairs(at(i)) do lists.append(guards, index.inside(place, x.shape[d])) end
    return guards
  end, fill)
end

--- n elements along an axis, from `first` on.
function Graph:slice(x, axis, first, n)
  return self:view(x, index.with(x.shape, axis, n), function(i) return index.with(i, axis, index.plus(i[axis], first)) end)
end

--- Nodes behind each other along an axis; those without elements are left out.
function Graph:concatenate(parts, axis, shape)
  local pieces, past = {}, 0
  for _, x in ipairs(parts) do
    if #x.shape == #shape and x.shape[axis] > 0 then
      local first = past
      past = past + x.shape[axis]
      local last = past
      pieces[#pieces + 1] = { x, function(i) return index.with(i, axis, index.plus(i[axis], -first)) end,
                              function(i) return { index.back(i[axis], last) } end }
    end
  end
  pieces[#pieces][3] = nil
  return self:join(shape, pieces)
end

--- A running sum, or whatever `op` is, along an axis.
function Graph:scan(op, x, axis, exclusive)
  return self:node { kind = "scan", op = op, axis = axis, exclusive = exclusive, inputs = { x }, shape = x.shape, dtype = x.dtype }
end

--- The elements of x at whole numbers `at` along an axis.
function Graph:pick(x, at, axis)
  return self:node { kind = "pick", inputs = { x, at }, axis = axis, shape = at.shape, dtype = x.dtype }
end

--- A product of (batch.., m, k) and (batch.., k, n), made as another one is.
function Graph:product(like, a, b, bias)
  local shape = index.with(a.shape, #a.shape, b.shape[#b.shape])
  return self:node { kind = "product", own = like.own, inputs = { a, b, bias }, shape = shape, dtype = like.dtype }
end

--- A product or a convolution as x is, of other inputs; of another shape and geometry where given.
function Graph:like(x, inputs, shape, conv)
  return self:node { kind = x.kind, own = x.own, inputs = inputs, shape = shape or x.shape, dtype = x.dtype, conv = conv or x.conv }
end

--- The same as a sum of maps, over a last dimension of k.
function Graph:summed_product(a, b)
  local rank = #a.shape
  local wide = index.listed(a.shape, 1, rank - 1, b.shape[rank], a.shape[rank])
  local x = self:view(a, wide, function(i) return index.listed(i, 1, rank - 1, i[rank + 1]) end)
  local y = self:view(b, wide, function(i) return index.listed(i, 1, rank - 2, i[rank + 1], i[rank]) end)
  return self:reduce("sum", self:map("A * B", a.dtype, { x, y }), { [rank + 1] = true })
end

--- The number of each element along dimension d of a shape.
function Graph:numbers(shape, d) return self:view(self:iota(shape[d]), shape, function(i) return { i[d] } end) end

--- A vector as a tensor of `rank` dimensions, all but d of size one.
function Graph:vector(x, d, rank)
  return self:reshape(x, lists.times(rank, function(e) return e == d and x.shape[1] or 1 end))
end

--- The shape that nodes have together, as PyTorch broadcasts.
function M.together(nodes)
  local rank = 0
  for _, x in ipairs(nodes) do rank = math.max(rank, #x.shape) end
  return lists.times(rank, function(d)
    local long = lists.first(nodes, function(x) return (x.shape[d - rank + #x.shape] or 1) ~= 1 end)
    return long and long.shape[d - rank + #long.shape] or 1
  end)
end

--- Element by element: a tree (ir/tree.lua) or its line, computed in the type `cast`; operands for which `casts` has a type, in that type.
function Graph:map(expression, dtype, inputs, cast, casts)
  if type(expression) == "string" then expression = text.read(expression, cast or dtype, casts) end
  local shape = M.together(inputs)
  for k, x in ipairs(inputs) do inputs[k] = self:broadcast(x, shape) end
  return self:node { kind = "map", inputs = inputs, shape = shape, dtype = dtype, cast = cast or dtype, casts = casts,
                     expression = expression }
end

local function without(shape, axes, keepdim)
  local left = {}
  for d, n in ipairs(shape) do
    if not axes[d] then left[#left + 1] = n elseif keepdim then left[#left + 1] = 1 end
  end
  return left
end

--- Join over a set of dimensions, { [d] = true }. With `keepdim` they stay, of size one.
function Graph:reduce(op, x, axes, keepdim, dtype)
  local node = self:node { kind = "reduce", op = op, inputs = { x }, axes = axes,
                           shape = without(x.shape, axes), dtype = dtype or x.dtype }
  return keepdim and self:keepdim(node, x, axes) or node
end

--- A reduce of x, with the dimensions that are gone as ones.
function Graph:keepdim(node, x, axes) return self:reshape(node, without(x.shape, axes, true)) end

--- Goes through these nodes and all below them, each once and behind its inputs; with `ends`, not to the inputs of a node where that holds.
function M.walk(nodes, visit, ends)
  local seen = {}
  local function go(list)
    for _, x in ipairs(list) do
      if not seen[x] then
        seen[x] = true
        if not (ends and ends(x)) then go(x.inputs) end
        visit(x)
      end
    end
  end
  go(nodes)
end

--- Whether this holds for a node and all below it.
function M.all(x, holds)
  local yes = true
  M.walk({ x }, function(y) yes = yes and holds(y) end, function() return not yes end)
  return yes
end

-- The nodes that the outputs need: inputs ahead of their users, otherwise in the order in which they were made.
local function reachable(self)
  local needed, seen, list = {}, {}, {}
  local function need(x)
    needed[x] = true
    for _, input in ipairs(x.inputs) do
      if not needed[input] then need(input) end
    end
  end
  local function add(x)
    seen[x] = true
    for _, input in ipairs(x.inputs) do
      if not seen[input] then add(input) end
    end
    list[#list + 1] = x
  end
  for _, x in ipairs(self.outputs) do need(x) end
  for _, x in ipairs(self.nodes) do
    if needed[x] and not seen[x] then add(x) end
  end
  return list
end

--- Drops nodes that no output needs, numbers the others anew, and sets the users of each node.
function Graph:clean()
  self.nodes = reachable(self)
  for k, x in ipairs(self.nodes) do x.id, x.users = k, {} end
  for _, x in ipairs(self.nodes) do
    for _, input in ipairs(x.inputs) do
      local users = input.users
      if users[#users] ~= x then users[#users + 1] = x end      -- x is the last one where it has the input twice
    end
  end
  return self
end

--- Where the program called the operator that a node is `from`: "line 3", "line 3 of nets/conv.py"; or nil.
function M.place(from)
  return from and from.line and ("line %d%s"):format(from.line, from.file and " of " .. from.file or "") or nil
end

return M

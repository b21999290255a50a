-- accesses: the nodes of a kernel as access functions of a template: they read an element, or write all roots once a result is
-- known. Each function is a body of its own; all have the kernel's tensors as parameters.

local bodies = require "cawb.compose.emit.body"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local walks = require "cawb.compose.emit.walk"

local M = {}

--- The type in C in which numbers of a type are summed.
M.sums = { float32 = "float", float16 = "float", bfloat16 = "float", float64 = "double", int64 = "long long", int32 = "int" }

---@class cawb.Accesses
local Accesses = {}
Accesses.__index = Accesses

--- For a kernel whose template computes the node `anchor`.
function M.new(kernel, anchor)
  return setmetatable({ kernel = kernel, anchor = anchor, names = {}, order = {}, headers = {} }, Accesses)
end

-- Four neighbours go out by an intrinsic: of an aggregate that is built in an unrolled loop the compiler makes four
-- stores otherwise.
local packs = { ["pack<float, 4>"] = { "float4", "make_float4" }, ["pack<int, 4>"] = { "int4", "make_int4" } }

local function put(body, kind, address, words)
  local own = packs[kind]
  if not own then return bodies.class.put(body, kind, address, words) end
  body:line("__stwb((%s *)(%s), %s(%s));", own[1], address, own[2], table.concat(words, ", "))
end

local function body_of(self, vector)
  local body = expression.new(self.kernel, vector)
  body.names, body.order, body.headers, body.depth, body.put = self.names, self.order, self.headers, 0, put
  return body
end

--- C that returns a node's element at indices. `known`: a node that it follows from, whose element is in a variable, { node, indices, name }.
function Accesses:value(node, i, known)
  local body = body_of(self)
  if known then
    body.known_only = { [known[1]] = true }
    body:know(table.unpack(known))
  end
  body:line("return %s;", body:value(node, i))
  return body:text()
end

--- C that sets v[0], v[1], ... to the elements at each of a list of indices, behind a line that these need, if any.
function Accesses:values(node, list, first)
  local body = body_of(self, #list)
  if first then body:line(first) end
  local texts = lists.map(list, function(i) return body:value(node, i) end)
  for k, text in ipairs(texts) do body:line("v[%d] = %s;", k - 1, text) end
  return body:text()
end

--- A write of elements of a node at each of these indices, each in a variable of this name, "%d" in it for the number of the element:
--- known = { { node, indices, name } }, at = { function that returns a root's own indices, for each element }.
function M.written(x, list, name)
  local write = { known = {}, at = {} }
  for k, i in ipairs(list) do write.known[k], write.at[k] = { x, i, name:format(k - 1) }, M.same_place(x, i) end
  return write
end

--- C that writes every root, behind a line that this needs, if any: `write` as M.written makes it.
function Accesses:write(write, first)
  local body = body_of(self, #write.at)
  if first then body:line(first) end
  body.known_only = { [self.anchor] = true }
  for _, one in ipairs(write.known) do body:know(table.unpack(one)) end
  for _, root in ipairs(self.kernel.roots) do
    local list = lists.map(write.at, function(where) return where(root) end)
    body:store_all(root, list, lists.map(list, function(i) return body:value(root, i) end))
  end
  return body:text()
end

--- A walk through what follows from `anchor`, of these known values.
function M.walk(kernel, anchor, known)
  local walk = walks.new(kernel)
  walk.known_only = { [anchor] = true }
  for _, one in ipairs(known) do walk:know(one[1], one[2], "") end
  return walk
end

--- Refuses where the kernel's roots do not follow from `anchor` element by element: one has another number of elements, or needs the
--- anchor at another place. The writes are as Accesses:write takes them.
function M.follow(kernel, anchor, ...)
  M.alike(kernel, anchor)
  for _, write in ipairs { ... } do
    local walk = M.walk(kernel, anchor, write.known)
    for _, root in ipairs(kernel.roots) do
      for _, where in ipairs(write.at) do walk:value(root, where(root)) end
    end
  end
end

--- C that returns the address of neighbours, at a list of indices. Nil if they are computed, do not lie behind each other, or do not
--- begin at a place that their number divides.
function Accesses:address(node, list)
  local body, found = body_of(self), {}
  function body.load(_, x, i)
    found[#found + 1] = { x = x, place = index.place(i, x.strides, x.offset) }
    return "there"
  end
  for k, i in ipairs(list) do
    local first, one = found[1], nil
    if body:value(node, i) ~= "there" or #found ~= k or #body.lines > 0 then return nil end
    one = found[k]
    if one.x.dtype ~= node.dtype or k > 1 and (one.x ~= first.x or one.place.key ~= index.plus(first.place, k - 1).key) then return nil end
  end
  if not index.divisible(found[1].place, #list) then return nil end
  return ("return %s + %s;"):format(body:tensor(found[1].x), index.c(found[1].place))
end

--- Sets a description's name, parameters and arguments.
function Accesses:describe(description)
  description.name, description.parameters, description.arguments = self.kernel.name, body_of(self):declarations()
  return description
end

--- The generator's result as this kernel's; raises the refusal if there is none.
function Accesses:finish(made, why)
  if not made then expression.refuse(why) end
  made.headers = self.headers
  return made
end

--- The node of these kinds that a kernel computes.
function M.anchor(kernel, kinds)
  return lists.first(lists.joined(kernel.members, kernel.roots), function(x) return kinds[x.kind] end)
    or expression.refuse "nothing in it is of this generator's kind"
end

--- The roots must have as many elements as the anchor.
function M.alike(kernel, anchor)
  local n = graphs.numel(anchor.shape)
  if lists.any(kernel.roots, function(root) return graphs.numel(root.shape) ~= n end) then
    expression.refuse "what stands behind has another number of elements"
  end
end

--- The places of `width` neighbours from width * t on, t being a variable of this name, along a dimension of n; nil where n is no multiple.
function M.neighbours(n, width, name)
  local list, t = {}, index.scale(index.var(name or "t", n // width), width)
  for lane = 1, n % width == 0 and width or 0 do list[lane] = index.plus(t, lane - 1) end
  return list[1] and list
end

--- The indices of element p, d, h, w of a shape: p counts through the dimensions ahead of space, so many; and how many p there are.
function M.in_space(shape, ahead)
  local names, front = { "d", "h", "w" }, { table.unpack(shape, 1, ahead) }
  local space = lists.map({ table.unpack(shape, ahead + 1) }, function(n, d) return index.var(names[d + ahead - #shape + 3], n) end)
  return lists.joined(index.unravel(index.var("p", graphs.numel(front)), front), space), graphs.numel(front)
end

--- The same of the four elements from w on, a multiple of four; nil where lines are no packs of four.
function M.four_in_space(shape, ahead)
  local list = #shape > ahead and M.neighbours(shape[#shape], 4) or nil
  return list and lists.map(list, function(e) return index.with(M.in_space(shape, ahead), #shape, e) end)
end

--- A function from a root to its indices where those in the anchor's shape are these.
function M.same_place(anchor, i)
  return function(root)
    if graphs.same(root.shape, anchor.shape) then return i end
    return index.unravel(index.ravel(i, anchor.shape), root.shape)
  end
end

--- The indices in a shape of matrices beside each other: number z of them, then these two.
function M.in_batch(shape, row, column)
  local rank = #shape
  local batch = { table.unpack(shape, 1, rank - 2) }
  local i = #batch > 0 and index.unravel(index.var("z", graphs.numel(batch)), batch) or {}
  i[rank - 1], i[rank] = row, column
  return i
end

--- Elements in front of an axis, along it and behind it.
function M.around(shape, axis)
  return graphs.numel { table.unpack(shape, 1, axis - 1) }, shape[axis], graphs.numel { table.unpack(shape, axis + 1) }
end

--- The indices of element o, k, i of a shape; `k` is an expression, and so is `behind` in the place of the variable i, where given.
function M.along(shape, axis, k, behind)
  local outer, _, inner = M.around(shape, axis)
  return lists.joined(index.unravel(index.var("o", outer), { table.unpack(shape, 1, axis - 1) }), { k },
    index.unravel(behind or index.var("i", inner), { table.unpack(shape, axis + 1) }))
end

return M

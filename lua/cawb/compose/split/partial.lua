-- partial: reductions over a convolution's results begin in the convolution's kernel. For each channel of a box of places a block
-- leaves their sum. If squared distances are needed, it leaves the mean and the squared distances from it (Chan, Golub and LeVeque
-- 1983). The reductions then read only these numbers. If nothing else reads the results, they are not stored. A node of the kind
-- `partial` stands for the numbers, of shape { numbers, images, channels, boxes }.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lanes = require "cawb.compose.emit.lanes"
local lists = require "cawb.base.lists"
local rows = require "cawb.compose.emit.rows.rows"
local split = require "cawb.compose.split.split"
local tensors = require "cawb.compose.schedule.tensor_cores"
local tools = require "cawb.compose.operators.tools"
local types = require "cawb.torch.types"
local view = require "cawb.compose.ir.view"
local views = require "cawb.compose.rewrite.views"

local M = {}

local LEAST = 1 << 21      -- elements of a tensor, below which a kernel more takes as long as reading it
local BLOCK = 1 << 15      -- numbers of a row that stay in one block's registers and shared memory: they are read once anyway

-- ---- rows of a reduce as rows of boxes

-- The outer dimensions of a reduce's input, down to its images' channels, and which of these are joined; nil where what it
-- joins is not whole channels. Dimensions of places, the inner ones, are all joined.
local function outer(r, y)
  local x, from = r.inputs[1], views.shown(r.inputs[1])
  if from.node ~= y then return nil end
  local i = view.variables(x.shape)
  if index.ravel(from.at(i), y.shape).key ~= index.ravel(i, x.shape).key then return nil end
  local places, n, d, last = graphs.numel { table.unpack(y.shape, 3) }, 1, #x.shape, 1
  while d >= 1 and n < places do
    if not r.axes[d] and x.shape[d] > 1 then return nil end
    n, last, d = n * x.shape[d], x.shape[d], d - 1
  end
  local more = n // places
  if n % places ~= 0 or last % more ~= 0 then return nil end
  local q = { shape = { table.unpack(x.shape, 1, d) }, axes = {} }
  for k = 1, d do q.axes[k] = r.axes[k] end
  if more > 1 then q.shape[d + 1], q.axes[d + 1] = more, true end
  q.axes[#q.shape + 1] = true                              -- of the boxes
  return q
end

-- One of a partial's numbers in these dimensions and that of boxes.
local function plane(g, p, number, q)
  local shape = { table.unpack(q.shape) }
  shape[#shape + 1] = p.shape[4]
  return g:view(p, shape, function(i)
    local at = index.unravel(index.ravel({ table.unpack(i, 1, #q.shape) }, q.shape), { p.shape[2], p.shape[3] })
    return { index.const(number), at[1], at[2], i[#i] }
  end)
end

-- ---- requests

-- The sums of a graph that may be begun, by the node that they show, in order: { sum =, squares = or nil }.
local function sums_in(g)
  local about, by = {}, {}
  for _, x in ipairs(g.nodes) do if x.about then about[x.about] = x end end
  for _, x in ipairs(g.nodes) do
    if views.is_sum(x) and x.dtype == "float32" and not x.about then
      local node = views.shown(x.inputs[1]).node
      by[node] = by[node] or {}
      table.insert(by[node], { sum = x, squares = about[x] })
    end
  end
  return by
end

-- Those over y: { { sum =, squares = or nil, q = its outer dimensions } }.
local function sums_of(sums, y)
  local all = lists.map(sums[y] or {}, function(one) return { sum = one.sum, squares = one.squares, q = outer(one.sum, y) } end)
  return lists.filter(all, function(one) return one.q end)
end

-- Whether map x follows element by element from nodes of the set, and besides from leaves alone.
local function follows(x, set, shape)
  if x.kind ~= "map" or x.dtype ~= "float32" or not graphs.same(x.shape, shape) then return false end
  local function is_leaf(input) return views.shown(input).node.kind == "leaf" end
  return lists.any(x.inputs, function(input) return set[input] end) and lists.all(x.inputs, function(input) return set[input] or is_leaf(input) end)
end

-- The first node that has sums over it: the convolution, or a map of its results; and the sums.
local function summed(g, x, sums)
  local set, k, last = { [x] = true }, x.id, x.id          -- behind the last user nothing follows
  while k <= last do
    local y = g.nodes[k]
    if follows(y, set, x.shape) then set[y] = true end
    local list = set[y] and sums_of(sums, y)
    if list and #list > 0 then return y, list end
    for _, user in ipairs(set[y] and y.users or {}) do last = math.max(last, user.id) end
    k = k + 1
  end
end

local function reduces(list)
  local known = {}
  for _, one in ipairs(list) do
    known[one.sum] = true
    if one.squares then known[one.squares], known[one.squares.rest or one.squares] = true, true end
  end
  return known
end

-- Whether a row of one of them is too long to stay in one block, so that statistics take a pass of their own.
local function is_long(list, options)
  local most = math.min(options.row or BLOCK, lanes.capacity(options.chip, 4, false))
  return lists.any(list, function(one) return select(2, rows.space(one.sum)) > most end)
end

-- Whether the maps that follow y end in a window or in rows of another kind. Then statistics need a pass of their own.
local function is_turned(y, list)
  local known = reduces(list)
  local function turns(x)
    return lists.any(x.users, function(user)
      local same = (user.kind == "map" or user.kind == "view") and graphs.numel(user.shape) == graphs.numel(y.shape)
      return not known[user] and (not same or turns(user))
    end)
  end
  return turns(y)
end

-- ---- their replacements

-- How many places a box has: a number, or where boxes at an edge have fewer, of each.
local function counts(g, p)
  local box = p.boxes
  local down = lists.times(3, function(axis) return (box.out[axis] + box.size[axis] - 1) // box.size[axis] end)
  if p.is_even then return g:fill(graphs.numel(box.size), {}, "float32") end
  local words, behind = {}, 1
  for axis = 3, 1, -1 do
    local at = ("(A / %d %% %d)"):format(behind, down[axis])
    local left = box.out[axis] - (down[axis] - 1) * box.size[axis]
    words[#words + 1] = (left == box.size[axis] or down[axis] == 1) and tostring(left) or ("(%s == %d ? %d : %d)"):format(at, down[axis] - 1, left, box.size[axis])
    behind = behind * down[axis]
  end
  local text = ("float32(%s)"):format(table.concat(words, " * "))
  local count = g:map(text, "float32", { g:iota(p.shape[4]) }, "float32", { "int64" })
  count.is_light = true
  return count
end

local function take_sum(g, p, one)
  local x = plane(g, p, 0, one.q)
  one.sum.inputs, one.sum.axes = { p.squares and g:map("A * B", "float32", { x, p.counts }) or x }, one.q.axes
end

-- Squared distances from the mean of all, and the sum of the distances where it is asked for: see split.lua.
local function take_squares(g, p, one, n)
  local squares, axes = one.squares, one.q.axes
  local means, own = plane(g, p, 0, one.q), plane(g, p, 1, one.q)
  local first = views.dropped(g, means, axes)              -- the first box's: distances from it lose little where all elements are far from zero
  local y = g:map(tools.apart, "float32", { means, split.spread(g, first, means.shape, axes) })
  local function sum() return g:reduce("sum", g:map("A * B", "float32", { y, p.counts }), axes) end
  split.join(g, squares, { first = first, sum = sum, means = y, own = own, counts = p.counts, axes = axes, n = n })
  if squares.rest then squares.rest.is_begun = true end
  squares.rest, squares.about = nil, nil
end

local function parts(g, x, y, list, shape)
  local box = shape.box
  g.from = y.from
  local p = g:node { kind = "partial", inputs = { y }, conv = x, squares = lists.any(list, function(one) return one.squares end), dtype = "float32",
                     boxes = { size = box.size, out = shape.places } }
  p.shape = { p.squares and 2 or 1, x.shape[1], x.shape[2], box.boxes }
  p.is_even = box.boxes * graphs.numel(box.size) == graphs.numel(shape.places)
  p.counts = p.squares and counts(g, p)
  return p
end

local function begin(g, x, y, list, shape)
  local p = parts(g, x, y, list, shape)
  for _, one in ipairs(list) do
    local _, n = rows.space(one.sum)
    g.from = (one.squares or one.sum).from
    if one.squares then take_squares(g, p, one, n) end
    take_sum(g, p, one)
    one.sum.is_begun = true
    if one.squares then one.squares.is_begun = true end
  end
  if y ~= x then y.wanted = true end
  return p
end

--- The number of an operator in schedules.
function M.key(x) return x.from and x.from.number or 0 end

-- Whether it is better, or asked for.
local function pays(g, x, y, list, options)
  local least = math.type(options.partial) and options.partial or LEAST
  return graphs.numel(x.shape) >= least and (views.ends_in(g, y, reduces(list)) or is_long(list, options) or is_turned(y, list))
end

local boxes = { box = true, tensor = true }

-- Whether a schedule asks for another way than boxes for the convolution: its kernel has the number of x or of y, which follows from it.
local function is_otherwise(x, y, options)
  for key, how in pairs(options.schedule and options.schedule.kernels or {}) do
    local number = math.tointeger(tonumber(key:match "^%d+"))
    if (number == M.key(x) or number == M.key(y)) and how.loop and not boxes[how.loop] then return true end
  end
  return false
end

-- Whether the sums are to be begun: kernels are fused, and no schedule is against it. The convolution's kernel then takes them
-- (schedule/epilogue.lua): they read nothing but its results, or maps of these and of leaves, which it writes too.
local function is_asked(x, y, options)
  return options.fuse ~= false and not options.no_partial_sums[M.key(x)] and not is_otherwise(x, y, options)
end

--- Begins reductions over results of convolutions in the convolutions' kernels, where that pays. `options`: chip; partial (false:
--- none; a number: the least elements of a tensor); no_partial_sums (the set of convolutions, by number, to leave out). Returns the numbers of
--- convolutions whose reductions were begun, or may be, in order.
function M.begin(g, options)
  g:clean()
  local able, sums = {}, sums_in(g)
  for _, x in ipairs(options.partial ~= false and options.chip.tensor and { table.unpack(g.nodes) } or {}) do
    local shape = x.kind == "conv" and not x.conv.transposed and tensors.boxed(x, options)
    local y, list
    if shape then y, list = summed(g, x, sums) end
    if y and types.is_float(y.dtype) and pays(g, x, y, list, options) then
      able[#able + 1] = M.key(x)
      if is_asked(x, y, options) then begin(g, x, y, list, shape) end
      g:clean()
      sums = sums_in(g)
    end
  end
  g.from = nil
  g:clean()
  for _, p in ipairs(g.nodes) do
    if p.kind == "partial" and #p.inputs[1].users == 1 and not p.inputs[1].is_output then p.inputs[1].wanted = nil end
  end
  return able
end

return M

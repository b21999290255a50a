-- kernel: poolings, which are reduces over windows of a view, with their prologues and epilogues, for the generator of windows.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local types = require "cawb.torch.types"
local windows = require "cawb.compose.emit.window.text"

local ops = { max = true, min = true, sum = true }

-- Whether a value needs memory, through nodes that are not stored.
local function reads(x)
  if x.kind == "leaf" then return x.source:find ":" ~= nil end
  return x.stored or lists.any(x.inputs, reads)
end

-- The one reduce that the roots are computed from, and that reads memory; nil where there is none or are several.
local function found(kernel)
  local list, seen, inside = {}, {}, lists.set(kernel.roots)
  local function visit(x)
    if seen[x] or (x.stored and not inside[x]) then return end
    seen[x] = true
    if x.kind == "reduce" and reads(x) then list[#list + 1] = x else
      for _, input in ipairs(x.inputs) do visit(input) end
    end
  end
  for _, root in ipairs(kernel.roots) do visit(root) end
  return #list == 1 and list[1] or nil
end

-- The place along one dimension of the tensor below, as base + o_by i[o] + r_by i[r]. o is the number of a result's dimension, r of a
-- window's. Returns { o, o_by, r, r_by, base }; nil if it is not of that form.
local function affine(e, rank, all)
  local f = { base = e.base }
  for d = 1, all do
    local s = index.stride(e, "r" .. d)
    if not s or s < 0 then return nil end
    local key = d <= rank and "o" or "r"
    if s > 0 and f[key] then return nil end
    if s > 0 then f[key], f[key .. "_by"] = d, s end
  end
  return f
end

-- Whether the guards say only that each dimension is inside the tensor below.
local function only_inside(guards, places, shape)
  local known = {}
  for d, e in ipairs(places) do
    known[e.key] = true
    known[index.plus(index.scale(e, -1), shape[d] - 1).key] = true
  end
  return lists.all(guards, function(e) return e.lo >= 0 or known[e.key] end)
end

-- Whether every dimension of a window moves along exactly one dimension of the tensor below. A dimension that moves along none
-- repeats elements; one that moves along two follows a diagonal.
local function each_once(moves, view, rank)
  local count = {}
  for _, m in ipairs(moves) do
    if m.r then count[m.r] = (count[m.r] or 0) + 1 end
  end
  return lists.all(view.shape, function(n, d) return d <= rank or n <= 1 or count[d] == 1 end)
end

-- A reduce over a view as a reduction over windows: how each dimension of the tensor below moves, with `o` the dimension of the
-- result that it follows. Nil if it is none. Dimensions of the result that nothing follows have size one.
local function geometry(x)
  local view, rank = x.inputs[1], #x.shape
  if not ops[x.op] or view.kind ~= "view" or view.stored or #view.pieces > 1 then return nil end
  local from, piece = view.inputs[1], view.pieces[1]
  if lists.any(view.shape, function(_, d) return (d > rank) ~= (x.axes[d] or false) end) then return nil end
  if not only_inside(piece.guards, piece.at, from.shape) then return nil end
  local moves, last, covered = {}, 0, 1
  for d, e in ipairs(piece.at) do
    local f = affine(e, rank, #view.shape)
    if not f or (f.o and f.o <= last) then return nil end
    last = f.o or last
    local out = f.o and x.shape[f.o] or 1
    covered = covered * out
    moves[d] = { o = f.o, r = f.r, out = out, stride = f.o_by or 1, size = f.r and view.shape[f.r] or 1, dilation = f.r_by or 1,
                 padding = -f.base, is_space = f.r ~= nil or f.base ~= 0 or (f.o_by or 1) ~= 1 or out ~= from.shape[d] }
  end
  if covered ~= graphs.numel(x.shape) or not each_once(moves, view, rank) then return nil end
  return moves, from, view
end

-- Dimensions in front that are no space: they are planes.
local function in_front(moves)
  for d, m in ipairs(moves) do
    if m.is_space then return d - 1 end
  end
  return #moves
end

-- Elements outside must not count.
local function is_neutral(x, view)
  if #view.pieces[1].guards == 0 then return true end
  local start = expression.joining(x.op, x.dtype).start
  return types.literal(view.fill or 0, view.dtype) == start
end

local place, four = accesses.in_space, accesses.four_in_space

local function outs(moves) return lists.map(moves, function(m) return m.out end) end

-- The result's indices for these indices of the tensor below.
local function followed(x, moves, i)
  local j = lists.times(#x.shape, function() return index.const(0) end)
  for d, m in ipairs(moves) do
    if m.o then j[m.o] = i[d] end
  end
  return j
end

local function describe(x, moves, from, ahead)
  local d = { op = x.op, type = types.register(x.dtype), size = {}, out = {}, window = {}, stride = {}, padding = {},
              dilation = {} }
  for k = 1, 3 do
    local m = moves[#moves - 3 + k]
    local here = m and #moves - 3 + k > ahead
    d.size[k], d.out[k] = here and from.shape[#moves - 3 + k] or 1, here and m.out or 1
    d.window[k], d.stride[k] = here and m.size or 1, here and m.stride or 1
    d.padding[k], d.dilation[k] = here and m.padding or 0, here and m.dilation or 1
  end
  if x.op ~= "sum" then d.least = expression.joining(x.op, x.dtype).start end
  return d
end

local FIRST = "const int t = w / 4;"

-- What is written of each element, and of four neighbours if lines are packs of four.
local function writes(x, moves, ahead)
  local shape = outs(moves)
  local one, list = accesses.written(x, { followed(x, moves, (place(shape, ahead))) }, "value"), four(shape, ahead)
  for lane, at in ipairs(list or {}) do list[lane] = followed(x, moves, at) end
  return one, list and accesses.written(x, list, "v[%d]") or nil
end

-- Why a reduce's geometry is not for these kernels, or nil. `ahead`: dimensions in front that are no space.
local function refusal(moves, ahead)
  if graphs.numel { table.unpack(outs(moves), ahead + 1) } == 1 then return "of one window a plane neighbours share nothing" end
  if #moves - ahead > 3 or #moves == ahead then return "it has no windows of one to three axes" end
end

-- The reduce, how its windows move over the tensor below, and a description without texts; raises a refusal.
local function chosen(kernel)
  local x = found(kernel) or expression.refuse "there is not one reduce in it"
  accesses.alike(kernel, x)
  local moves, from, view = geometry(x)
  if not moves or not is_neutral(x, view) then expression.refuse "it is no pooling" end
  local ahead = in_front(moves)
  local d = describe(x, moves, from, ahead)
  local why = refusal(moves, ahead) or windows.refusal(d)
  if why then expression.refuse(why) end
  local one, all = writes(x, moves, ahead)
  accesses.follow(kernel, x, one, all)
  return { x = x, from = from, ahead = ahead, d = d, one = one, four = all, planes = select(2, place(outs(moves), ahead)) }
end

local function make(kernel, c, options, chip)
  local a, d = accesses.new(kernel, c.x), c.d
  d.load, d.planes = a:value(c.from, (place(c.from.shape, c.ahead))), c.planes
  local list = types.size(c.from.dtype) == 4 and four(c.from.shape, c.ahead)
  d.load4 = list and a:values(c.from, list, FIRST) or nil
  d.store, d.store4 = a:write(c.one), c.four and a:write(c.four, FIRST) or nil
  return a:finish(windows.generate(a:describe(d), options, chip))
end

return expression.family({}, chosen, make)

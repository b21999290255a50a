-- window: poolings, which are reduces over windows of a view, and convolutions of a few channels, depthwise ones above all: what is computed
-- from the elements under a window of one to three axes, with prologues and epilogues. Missing axes are in front and of size one. An element
-- is numbered (p, d, h, w): p is its plane, all axes ahead of the window's.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local rates = require "cawb.compose.cost.rates"
local template = require "cawb.compose.emit.template"
local types = require "cawb.torch.types"

local M = {}

local ceil = template.ceil

-- Access functions, those of four where the inner size is a multiple of 4.
local functions = {
  "T load(long long p, int d, int h, int w)", "void store(long long p, int d, int h, int w, T value)",
  "void load4(T *v, long long p, int d, int h, int w)",               -- from w on, a multiple of 4
  "void store4(long long p, int d, int h, int w, const T *v)",
  "T weight(int o, int c, int a, int b, int k)" }                     -- of product: of channel c of output o's group

local CROWD = 512           -- threads that keep a multiprocessor busy
local MOST = 48             -- elements of a line in registers

local joins = { max = "b > a || b != b ? b : a", min = "b < a || b != b ? b : a", sum = "a + b", product = "a + b" }

-- The instruction that joins floats, where there is one.
local function one(d) return d.type == "float" and (d.op == "max" or d.op == "min") and d.op or nil end

local function span(d, outputs)
  return (outputs - 1) * d.stride[3] + (d.window[3] - 1) * d.dilation[3] + 1
end

local function results(d) return d.planes * d.out[1] * d.out[2] * d.out[3] end

-- Neighbours of a thread: four, unless they read much more than one, or threads are few: then each waits for its own window alone.
local function outputs_of(d, how, chip)
  if how.outputs then return how.outputs end
  local n, crowd = 4, d.op == "product" and 0 or rates.busy(chip, CROWD)
  while n > 1 and (span(d, n) > MOST or n >= 2 * d.out[3] or results(d) // n < crowd) do n = n // 2 end
  return n
end

-- Lines in packs of four, where the first of them is in one place for all threads.
local function lines(d, h, outputs)
  local room = span(d, outputs)
  h.LEAD, h.SPAN, h.ROOM = 0, room, room
  if d.load4 and d.size[3] % 4 == 0 and outputs * d.stride[3] % 4 == 0 then
    h.LEAD = (4 - d.padding[3] % 4) % 4
    h.QUADS = ceil(h.LEAD + room, 4)
    h.ROOM = 4 * h.QUADS
  end
end

-- Output channels of a thread: they read the same.
local function wide_of(d, how, outputs)
  if d.op ~= "product" then return 1 end
  local n = how.wide or 8
  while d.each % n ~= 0 or (not how.wide and n * outputs > 16) do n = n // 2 end
  return n
end

-- Rows of a thread: more where windows of neighbouring rows read the same lines and threads are left over.
local function down_of(d, how, each, chip)
  if how.down then return how.down end
  local threads, crowd = results(d) // each, rates.busy(chip, CROWD)
  local n = d.window[2] > d.stride[2] and d.dilation[2] == 1 and 4 or 1
  while n > 1 and (n >= 2 * d.out[2] or threads // n < crowd or n * each > 32 or d.window[2] * d.window[3] > 32) do n = n // 2 end
  return n
end

-- Lines that a thread's windows read, and how far apart they are.
local function rows(d, h)
  local only = h.DOWN == 1
  h.STEP = only and d.dilation[2] or 1
  h.LINES = only and d.window[2] or (h.DOWN - 1) * d.stride[2] + (d.window[2] - 1) * d.dilation[2] + 1
  local taps = d.window[1] * d.window[2] * d.window[3] * h.WIDE
  h.HELD = d.op == "product" and taps <= 36 or nil
  h.FACTOR = h.HELD and "held[q / " .. h.DOWN .. "][a][b][k]"
    or ("%s_weight(%s, (int)(to %% %d) + q / %d, c, a, b, k)"):format(d.name, template.names(d.parameters), h.ALL, h.DOWN)
end

local function common(d)
  local h = { T = d.type, WHAT = d.op, JOIN = joins[d.op], ONE = one(d), WIDE = 1, ALL = 1,
              NEUTRAL = d.op == "max" and (d.least or "-INFINITY") or d.op == "min" and (d.least or "INFINITY") or "0" }
  for axis = 1, 3 do
    h["K" .. axis - 1], h["S" .. axis - 1] = d.window[axis], d.stride[axis]
    h["P" .. axis - 1], h["D" .. axis - 1] = d.padding[axis], d.dilation[axis]
  end
  return h
end

-- Whether windows of `each` neighbours of a thread leave the tensor along an axis. Where none does, nothing is asked, and all loads of a thread
-- are in flight together.
local function is_past(d, axis, each)
  local last = ceil(d.out[axis], each) * each - 1
  return d.padding[axis] > 0 or last * d.stride[axis] + (d.window[axis] - 1) * d.dilation[axis] >= d.size[axis] or nil
end

local function holes(d, how, chip)
  local outputs, h = outputs_of(d, how, chip), common(d)
  h.OUTPUTS, h.WIDE = outputs, wide_of(d, how, outputs)
  h.CHANNELS, h.EACH, h.ALL = d.op == "product" and d.channels or nil, d.each, (d.groups or 1) * (d.each or 1)
  h.STORE4 = d.store4 and outputs == 4 and d.out[3] % 4 == 0 or nil
  h.DOWN = down_of(d, how, outputs * h.WIDE, chip)
  h.PAST0, h.PAST1, h.PAST2 = is_past(d, 1, 1), is_past(d, 2, h.DOWN), is_past(d, 3, outputs)
  rows(d, h)
  local taps = h.LINES * d.window[3] * h.WIDE
  h.UNROLL1 = (taps <= 128 or h.DOWN > 1) and "" or "1"
  h.UNROLL0 = taps * d.window[1] <= 128 and "" or "1"
  lines(d, h, outputs)
  return h
end

-- ---- strips: a block for neighbours along lines

local STRIP, WIDE = 2048, 128    -- elements of a strip; results of a line from which on it pays

-- Whether threads of their own would read or write far from each other.
local function is_strip(d, how, chip)
  if d.op == "product" then return false end
  if how.strip ~= nil then return how.strip end
  local outputs = outputs_of(d, how, chip)
  return d.out[3] >= WIDE and results(d) >= rates.busy(chip, CROWD) and (outputs * d.stride[3] > 8 or not (d.store4 and outputs == 4))
end

local function strip(d, how)
  local h = common(d)
  h.LANES = d.load4 and d.size[3] % 4 == 0 and 4 or 1
  h.QUADS = h.LANES == 4 or nil
  local room = (how.columns or STRIP) - h.LANES
  h.TILE = math.max(1, math.min(d.out[3], (room - (d.window[3] - 1) * d.dilation[3] - 1) // d.stride[3] + 1))
  h.COLS = ceil(span(d, h.TILE) + h.LANES - 1, h.LANES) * h.LANES
  local most = d.window[1] * d.window[2] > 1 and 512 or 256      -- the more lines, the more that should be on their way
  h.THREADS = how.threads or math.min(most, 32 * ceil(h.COLS // h.LANES, 32))
  h.DOWN = how.down or (d.window[2] > d.stride[2] and d.dilation[2] == 1 and h.LANES == 4 and math.min(4, d.out[2])) or 1
  rows(d, h)
  h.PACKS = math.min(2, ceil(h.COLS // h.LANES, h.THREADS))
  h.UNROLL1 = h.LINES <= 16 and "" or "1"
  h.UNROLL0 = h.LINES * d.window[1] <= 16 and "" or "1"
  h.UNROLL2 = d.window[3] <= 32 and "" or "4"
  return h
end

local function launches(d, grid, threads, last)
  return { template.launch(d, "", grid, threads, d.size[1], d.size[2], d.size[3], d.out[1], d.out[2], d.out[3], last) }
end

local function text_of(d, name, h)
  return template.complete(d, template.functions(d, functions), template.fill("window/window_join", d, h) .. "\n" .. template.fill(name, d, h))
end

--- Why there is no kernel of a description; or nil.
function M.refusal(d)
  return span(d, 1) > MOST and ("a line of %d elements for one output is no window"):format(span(d, 1)) or nil
end

--- The kernel of a pooling or a small convolution. `d`: a description (template.lua) of op, "max", "min", "sum" or "product", which has weights;
--- type; planes of the result; size of the input, out, window, stride, padding, dilation, three numbers each; least, of "max" no more than any
--- element, of "min" no less; and of a product channels that each output channel reads, groups, and `each`, output channels of a group. `how`:
---   outputs  of a thread along the inner axis
---   down     its rows
---   wide     its output channels (it divides `each`)
---   strip    whether blocks join columns first, then of columns elements at most
function M.made(d, how, chip)
  if d.planes * d.out[1] * d.out[2] * d.out[3] == 0 then return { text = "", launches = {} } end
  how = how or {}
  if is_strip(d, how, chip) then
    local h = strip(d, how)
    local blocks = d.planes * d.out[1] * ceil(d.out[2], h.DOWN) * ceil(d.out[3], h.TILE)
    return { text = text_of(d, "window/window_strip", h), launches = launches(d, blocks, h.THREADS) }
  end
  local h = holes(d, how, chip)
  local all = d.planes // h.WIDE * d.out[1] * ceil(d.out[2], h.DOWN) * ceil(d.out[3], h.OUTPUTS)
  h.INDEX = template.index(all + 128)
  return { text = text_of(d, "window/window", h), launches = launches(d, ceil(all, 128), 128, all) }
end

-- ---- poolings

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
  local why = refusal(moves, ahead) or M.refusal(d)
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
  return a:finish(M.made(a:describe(d), options, chip))
end

return expression.family(M, chosen, make)

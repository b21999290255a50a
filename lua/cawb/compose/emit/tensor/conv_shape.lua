-- conv_shape: a convolution's rows, columns and steps as tensor.lua has them (kernel_conv.lua). The left factor's rows are pixels on a grid
-- padded with zeros, and a tap of the window is a shift of rows. A plain convolution's stride makes several grids (phases), one for each
-- remainder of a place. A transposed convolution is several plain ones: along an axis an output's place o is s * q + a - base, with s the
-- stride, and all outputs of one remainder a are a plain convolution over places q. An axis is
--
--   apart   each remainder is a set of its own, with its own taps; of a plain convolution there is one
--   joined  the remainders are columns beside each other, and neighbouring columns are neighbours in memory. The steps are the
--           shifts of all remainders. A remainder that lacks a shift has the weight -0.0f there: a kernel without tensor cores
--           knows by it that there is no tap
--   folded  joined, and the shifts are channels: one step has them all. Of a plain convolution the taps are channels
--
-- Joined axes are the last ones, and the last of them may be folded.

local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local library = require "cawb.compose.ir.library"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"

local M = {}

local combinations, list, product, ravel = grids.combinations, grids.joined, grids.product, grids.ravel

local MOST = 512                      -- columns that joined axes may make
local SHIFTS = 64                     -- steps of a set, at most, that joined axes may make

--- Channels of the input, and of the output, in a group.
function M.each(x) return x.inputs[1].shape[2] // x.conv.groups, x.shape[2] // x.conv.groups end

--- f(chip, x) of convolutions x, called once for each: several questions are asked of one.
function M.once(f)
  local known = setmetatable({}, { __mode = "k" })
  return function(chip, x)
    local one = known[x]
    if not one or one.chip ~= chip then
      one = table.pack(f(chip, x))
      known[x], one.chip = one, chip
    end
    return table.unpack(one, 1, one.n)
  end
end

-- ---- one axis

-- An axis has: sets = for each remainder its taps, { k, shift, phase }; places of a grid; phases, the grids; base, and `spread`, the stride
-- of outputs; the input of place q is q * step + from, and `further` on for each folded shift.

-- Of a plain convolution.
local function plain_axis(x, c, d, folded)
  local s, out, size = c.stride[d], x.shape[d + 2], x.inputs[1].shape[d + 2]
  local t = { base = 0, spread = 1, step = s, from = -c.padding[d], further = c.dilation[d], least = 0, shifts = {}, sets = { {} }, phases = 1, places = out,
              folded = c.taps[d] }
  if folded then return t end
  local seen, count, most = {}, 0, 0
  for k = 0, c.taps[d] - 1 do
    local at = k * c.dilation[d]
    t.sets[1][k + 1] = { k = k, phase = at % s, shift = at // s }
    if not seen[at % s] then count, seen[at % s] = count + 1, true end
    most = math.max(most, at // s)
  end
  if count == 1 then
    for _, tap in ipairs(t.sets[1]) do tap.phase = 0 end
  else t.phases = s end
  t.places = grids.places(out, most, s, t.from, size, t.phases > 1 and s - 1 or 0)
  return t
end

-- Of a transposed one, and all shifts that there are, in order.
local function axis(c, d, out, base)
  local s, t, seen = c.stride[d], { base = base, spread = c.stride[d], step = 1, further = 1, phases = 1, sets = {}, shifts = {} }, {}
  for a = 0, math.min(s, out + base) - 1 do
    local set = {}
    for n, tap in ipairs(grids.met(c.taps[d], s, c.padding[d], c.dilation[d], a - base)) do
      set[n] = { k = tap[1], shift = tap[2] }
      if not seen[tap[2]] then seen[tap[2]], t.shifts[#t.shifts + 1] = true, tap[2] end
    end
    t.sets[a + 1] = set
  end
  table.sort(t.shifts)
  t.least = t.shifts[1] or 0
  t.reach = (t.shifts[#t.shifts] or 0) - t.least
  t.from, t.folded = t.least, #t.shifts
  t.places = (out - 1 + base) // s + 1
  return t
end

-- The base for which fewest shifts serve all remainders.
local function joined_axis(c, d, out)
  local all = lists.times(c.stride[d], function(base) return axis(c, d, out, base - 1) end)
  return (lists.least(all, function(t) return #t.shifts end))
end

-- ---- a whole shape

-- A set for each choice of remainders of the axes that are apart: its taps, by axis either a place in the window or a shift. `images` of a
-- grid.
local function sets(p, dims, images)
  p.sets, p.taps = {}, {}
  for _, a in ipairs(combinations(p.residues)) do
    local counts, shifts = {}, {}
    for d = 1, dims do counts[d] = d <= p.apart and #p.dims[d].sets[a[d] + 1] or d <= dims - p.folded and #p.dims[d].shifts or 1 end
    for _, digits in ipairs(combinations(counts)) do
      local tap, shift, phase = {}, {}, {}
      for d = 1, dims do
        local t = p.dims[d]
        local of = d <= p.apart and t.sets[a[d] + 1][digits[d] + 1] or { shift = d <= dims - p.folded and t.shifts[digits[d] + 1] or t.least }
        tap[d], shift[d], phase[d] = of, of.shift - t.least, of.phase or 0
      end
      shifts[#shifts + 1] = ravel(phase, p.phases) * images * product(p.places) + ravel(shift, p.places)
      p.taps[#p.taps + 1] = tap
    end
    p.sets[#p.sets + 1] = shifts
  end
end

-- Whether a joined remainder lacks a shift. The input there is no part of its sums, and may be NaN.
local function has_gaps(p, dims)
  return lists.any({ table.unpack(p.dims, p.apart + 1, dims) }, function(axis)
    return lists.any(axis.sets, function(set) return #set < #axis.shifts end)
  end)
end

-- A shape of these axes, so many of them apart, and so many folded.
local function of_axes(x, c, dims, apart, folded)
  local p = { apart = apart, folded = folded, dims = dims, places = {}, phases = {}, residues = {}, sides = {}, fold = {} }
  for d, t in ipairs(dims) do
    p.places[d], p.phases[d] = t.places, t.phases
    if d <= apart then p.residues[d] = #t.sets else p.sides[#p.sides + 1] = #t.sets end
    if d > c.dims - folded then p.fold[#p.fold + 1] = t.folded end
  end
  p.side = product(p.sides)
  return p
end

--- A plain convolution, so many trailing dimensions of whose window are channels.
function M.plain(x, c, folded)
  local dims = lists.times(c.dims, function(d) return plain_axis(x, c, d, d > c.dims - folded) end)
  local p = of_axes(x, c, dims, c.dims - folded, folded)
  sets(p, c.dims, x.shape[1])
  return p
end

-- A transposed one, of so many axes apart, and so many folded; nil where that does not do.
local function transposed(x, c, columns, apart, folded)
  local dims = {}
  for d = 1, c.dims do
    local is_folded = d > c.dims - folded
    local t = d <= apart and axis(c, d, x.shape[d + 2], 0) or joined_axis(c, d, x.shape[d + 2])
    if is_folded and (#t.shifts == 0 or t.reach + 1 ~= #t.shifts) then return nil end
    if not is_folded then t.places = grids.places(t.places, t.reach, 1, t.least, x.inputs[1].shape[d + 2], 0) end
    dims[d] = t
  end
  local p = of_axes(x, c, dims, apart, folded)
  if p.side > 1 and p.side * columns > MOST then return nil end
  sets(p, c.dims, x.shape[1])
  p.gaps = has_gaps(p, c.dims)
  return (apart == c.dims or lists.all(p.sets, function(set) return #set <= SHIFTS end)) and p or nil
end

--- All ways to do a transposed one, the one with every axis apart first. Of each: sets, places, phases, fold; `side`: columns that each
--- output channel has.
function M.transposed(x, c, columns)
  local list = {}
  for apart = c.dims, 0, -1 do
    for folded = 0, c.dims - apart do list[#list + 1] = transposed(x, c, columns, apart, folded) end
  end
  return list
end

-- ---- its factors

-- The place in the input of a row's number, and its guards, which must not be negative.
local function pixel(x, c, p, channels, i)
  local at = index.unravel(i[2], list(list(p.phases, { x.shape[1] }), p.places))
  local k = index.unravel(i[3], list(p.fold, { channels }))
  local j, guards = { at[c.dims + 1], index.add(k[#k], i[1], channels) }, {}
  for d, t in ipairs(p.dims) do
    local folded = d - (c.dims - p.folded)
    local place = index.plus(index.scale(at[c.dims + 1 + d], t.step), t.from)
    place = folded > 0 and index.add(place, k[folded], t.further) or index.add(place, at[d])
    j[d + 2] = place
    lists.append(guards, index.inside(place, x.inputs[1].shape[d + 2]))
  end
  return j, guards
end

--- The input as a view of rows: indices z (group), row, k; zeros beyond its edges.
function M.pixels(x, c, p, channels)
  local from = x.inputs[1]
  local shape = { c.groups, product(p.phases) * x.shape[1] * product(p.places), product(p.fold) * channels }
  local function place(i) return pixel(x, c, p, channels, i) end
  local piece = views.piece(1, shape, function(i) return (place(i)) end, function(i) return (select(2, place(i))) end)
  return { kind = "view", id = "pixels", inputs = { from }, shape = shape, dtype = from.dtype, pieces = { piece }, fill = 0 }
end

--- Of each tap, as tables in C: where its weights begin, and its shifts along axes that are joined and not folded.
function M.tables(name, x, c, p)
  local strides, places, shifts = library.layout(x.inputs[2]).strides, {}, {}
  for n, tap in ipairs(p.taps) do
    local at = 0
    for d = 1, p.apart do at = at + tap[d].k * strides[d + 2] end
    places[n] = at
    for d = p.apart + 1, c.dims - p.folded do shifts[#shifts + 1] = tap[d].shift end
  end
  local text = ("static __constant__ int %s_weights[] = { %s };\n"):format(name, table.concat(#places > 0 and places or { 0 }, ", "))
  if #shifts > 0 then text = text .. ("static __constant__ int %s_shifted[] = { %s };\n"):format(name, table.concat(shifts, ", ")) end
  return text
end

-- The place of a plain convolution's weight, without the part that follows from its tap.
local function plain_weight(w, c, p, k, columns, z)
  local place = index.scale(index.add(index.var("row", columns), z, columns), w.strides[1])
  place = index.add(place, k[#k], w.strides[2])
  for f = 1, #p.fold do place = index.add(place, k[f], w.strides[c.dims - #p.fold + f + 2]) end
  return index.plus(place, w.offset or 0)
end

--- Where a weight lies, as an expression, without the part that follows from its tap; statements ahead find the place in the window of each
--- axis that is joined, or return -0.0f. `kk`: the number's place in a step's terms, `row`: the column; `first + step % taps` is the tap's
--- number.
function M.weight(body, name, x, c, p, channels, columns, z)
  local w = library.layout(x.inputs[2])
  local k = index.unravel(index.var("kk", product(p.fold) * channels), list(p.fold, { channels }))
  if not c.transposed then return plain_weight(w, c, p, k, columns, z) end
  local column = index.unravel(index.var("row", columns * p.side), list({ columns }, p.sides))
  local place = index.add(index.scale(column[1], w.strides[2]), index.add(k[#k], z, channels), w.strides[1])
  local loose = c.dims - p.folded - p.apart
  for d = p.apart + 1, c.dims do
    local t, n = p.dims[d], d - p.apart
    local shift = n <= loose and ("%s_shifted[(first + step %% taps) * %d + %d]"):format(name, loose, n - 1)
      or index.c(index.plus(k[n - loose], t.least))
    body:line("const int at%d = %s - %d/**/ * (%s);", n, index.c(index.plus(column[n + 1], c.padding[d] - t.base)), c.stride[d], shift)
    body:line("if (at%d < 0 || at%d %% %d != 0 || at%d >= %d/**/) return -0.0f;", n, n, c.dilation[d], n, c.taps[d] * c.dilation[d])
    body:line("const int window%d = at%d / %d;", n, n, c.dilation[d])
    place = index.add(place, index.var("window" .. n, c.taps[d]), w.strides[d + 2])
  end
  return index.plus(place, w.offset or 0)
end

-- ---- the result

-- The guards that output o = s * q + a - base of an axis exists; they must not be negative. If the remainder is a number, they are
-- about q, so that neighbours whose places end alike have the same guards.
local function guard(t, out, q, a, o)
  local n, s = index.number(a), t.spread
  if not n then return index.inside(o, out) end
  return { index.plus(q, -((t.base - n + s - 1) // s)), index.plus(index.scale(q, -1), (out - 1 + t.base - n) // s) }
end

--- Neighbouring columns that lie together in memory.
function M.beside(p) return p.sides[#p.sides] or 1 end

--- An output channel and the remainders of the axes that are joined, by the column; or by the `line` of columns that lie together.
function M.column(p, columns, column) return index.unravel(column, list({ columns }, p.sides)) end

function M.line(p, columns)
  local beside = M.beside(p)
  local own = index.unravel(index.var("line", columns * p.side // beside), list({ columns }, { table.unpack(p.sides, 1, #p.sides - 1) }))
  if #p.sides > 0 then own[#own + 1] = index.var("side", beside) end
  return own
end

--- The indices of an output by its row and the result of M.column or M.line; and its guards, which must not be negative.
function M.output(x, c, p, columns, own)
  local at = index.unravel(index.var("row", x.shape[1] * product(p.places)), list({ x.shape[1] }, p.places))
  local residues = index.unravel(index.var("set", #p.sets), p.residues)
  local i, guards = { at[1], index.add(own[1], index.var("z", c.groups), columns) }, {}
  for d = 1, c.dims do
    local t, q, a = p.dims[d], at[d + 1], d <= p.apart and residues[d] or own[d - p.apart + 1]
    local o = index.plus(index.add(a, q, t.spread), -t.base)
    i[d + 2] = o
    lists.append(guards, guard(t, x.shape[d + 2], q, a, o))
  end
  return i, guards
end

return M

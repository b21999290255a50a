-- kernel_conv: convolutions of one to three dimensions as products of tensor.lua (implicit GEMM). The left factor's rows are pixels,
-- 64 channels a chunk, on a grid that is padded with zeros. A tap of the window is then a shift of rows, and the input is stored
-- only once, not once for each tap. A stride makes several such grids, one for each remainder of a place. A transposed convolution
-- is several plain ones (kernel_transposed.lua). Windows over few channels are folded: trailing dimensions of the window become
-- channels.

local costs = require "cawb.compose.cost.products"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local legal = require "cawb.compose.emit.tensor.legal"
local literal = require "cawb.compose.ir.literal"
local views = require "cawb.compose.ir.view"
local library = require "cawb.compose.ir.library"
local pack = require "cawb.compose.emit.tensor.pack"
local point = require "cawb.compose.emit.tensor.point"
local sixteen = require "cawb.compose.emit.tensor.sixteen"
local template = require "cawb.compose.emit.template"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tiles = require "cawb.compose.emit.tensor.tiles"
local transposed = require "cawb.compose.emit.tensor.kernel_transposed"

local M = {}

local LEAST = 1 << 24                 -- operations below which a library's call is as good
local FULL = { 4, 0.06 }              -- a wide range has kernels of its own where these launches take no more than this share of the time

local combinations, list, product, ravel, ceil = grids.combinations, grids.joined, grids.product, grids.ravel, template.ceil

-- ---- where taps read: along one dimension

-- Of a plain convolution: how many grids (phases), the first one's remainder, places of a grid, and for each tap
-- its phase and shift.
local function plain_taps(c, d, out, size)
  local s, seen, count, most = c.stride[d], {}, 0, 0
  local taps = {}
  for k = 0, c.taps[d] - 1 do
    local at = k * c.dilation[d]
    taps[k + 1] = { phase = at % s, shift = at // s }
    if not seen[at % s] then count, seen[at % s] = count + 1, true end
    most = math.max(most, at // s)
  end
  if count == 1 then
    for _, tap in ipairs(taps) do tap.phase = 0 end
  end
  return { taps = taps, phases = count > 1 and s or 1, places = grids.places(out, most, s, -c.padding[d], size, count > 1 and s - 1 or 0) }
end

-- ---- the grids of a whole convolution

-- `folded`: how many trailing dimensions of the window become channels.
local function plain_shape(x, c, folded)
  local p = { places = {}, phases = {}, counts = {}, fold = {}, dims = {} }
  for d = 1, c.dims do
    local is_folded = d > c.dims - folded
    local t = not is_folded and plain_taps(c, d, x.shape[d + 2], x.inputs[1].shape[d + 2])
    p.dims[d] = t
    p.places[d] = t and t.places or x.shape[d + 2]
    p.phases[d] = t and t.phases or 1
    p.counts[d] = t and c.taps[d] or 1
    if is_folded then p.fold[#p.fold + 1] = c.taps[d] end
  end
  local images, shifts, taps = x.shape[1], {}, combinations(p.counts)
  for _, digits in ipairs(taps) do
    local phase, shift = {}, {}
    for d = 1, c.dims do
      local tap = p.dims[d] and p.dims[d].taps[digits[d] + 1] or { phase = 0, shift = 0 }
      phase[d], shift[d] = tap.phase, tap.shift
    end
    shifts[#shifts + 1] = ravel(phase, p.phases) * images * product(p.places) + ravel(shift, p.places)
  end
  p.sets, p.taps, p.side = { shifts }, taps, 1
  return p
end

-- ---- its factors

-- The input as a view of rows: indices z (group), row, k; zeros beyond its edges.
local function pixels(x, c, p, channels)
  local from = x.inputs[1]
  local rows = list(list(p.phases, { x.shape[1] }), p.places)
  local depth = list(p.fold, { channels })
  local function places(i)
    if c.transposed then return transposed.pixel(x, c, p, channels, i) end
    local at, k = index.unravel(i[2], rows), index.unravel(i[3], depth)
    local j, guards = { at[c.dims + 1], index.add(k[#k], i[1], channels) }, {}
    for d = 1, c.dims do
      local q, folded = at[c.dims + 1 + d], d - (c.dims - #p.fold)
      local place = index.plus(index.scale(q, c.stride[d]), -c.padding[d])
      place = folded > 0 and index.add(place, k[folded], c.dilation[d]) or index.add(place, at[d])
      j[d + 2] = place
      guards[#guards + 1] = place
      guards[#guards + 1] = index.plus(index.scale(place, -1), from.shape[d + 2] - 1)
    end
    return j, guards
  end
  local shape = { c.groups, product(rows), product(depth) }
  local piece = views.piece(1, shape, function(i) return (places(i)) end, function(i) return (select(2, places(i))) end)
  return { kind = "view", id = "pixels", inputs = { from }, shape = shape, dtype = from.dtype, pieces = { piece }, fill = 0 }
end

-- Where each tap's weights begin, as a table in C; phases without digits keep their own remainder.
local function tap_table(kernel, x, c, p)
  if c.transposed then return transposed.tables(kernel.name, x, c, p) end
  local strides = library.layout(x.inputs[2]).strides
  local places = {}
  for n, k in ipairs(p.taps) do
    local at = 0
    for d = 1, c.dims - #p.fold do at = at + k[d] * strides[d + 2] end
    places[n] = at
  end
  return ("static __constant__ int %s_weights[] = { %s };\n"):format(kernel.name, table.concat(places, ", "))
end

-- The place of a plain convolution's weight, without the part that follows from its tap.
local function plain_weight(w, c, p, channels, columns, z)
  local k = index.unravel(index.var("kk", product(p.fold) * channels), list(p.fold, { channels }))
  local place = index.scale(index.add(index.var("row", columns), z, columns), w.strides[1])
  place = index.add(place, k[#k], w.strides[2])
  for f = 1, #p.fold do place = index.add(place, k[f], w.strides[c.dims - #p.fold + f + 2]) end
  return index.plus(place, w.offset or 0)
end

-- Weights as rows of output channels: 64 numbers for each step, in the order of the steps. The sets' steps lie one
-- behind the other, in each chunk after chunk, tap after tap.
local function weight_reader(kernel, x, c, p, channels, columns)
  local w = library.layout(x.inputs[2])
  if not w then return nil end
  local depth = product(p.fold) * channels
  local chunks = ceil(depth, 64)
  return function(body, z, _, _)
    body:line("int step = k / 64, first = 0, taps = %d/**/;", #p.sets[1])
    if #p.sets > 1 then
      body:line("for (int set = 0; step >= %d/**/ * taps; taps = %s_taps[++set]) step -= %d/**/ * taps, first += taps;", chunks, kernel.name, chunks)
    end
    body:line("const int kk = taps > 0 ? step / taps * 64 + k %% 64 : %d/**/;", depth)
    body:line("if (kk >= %d/**/) return 0.0f;", depth)
    local place = c.transposed and transposed.weight(body, kernel.name, x, c, p, channels, columns, z)
      or plain_weight(w, c, p, channels, columns, z)
    return ("%s[%s + %s_weights[first + step %% taps]]"):format(body:tensor(w.node), index.c(place), kernel.name)
  end
end

-- How many of the 64 weights of a step there are, as C of the step's number, `chunk`.
local function weight_count(kernel, p, depth)
  local chunks = ceil(depth, 64)
  if depth % 64 == 0 then return literal.free(64) end
  if chunks == 1 then return literal.free(depth) end
  if #p.sets == 1 then return ("min(64, %d/**/ - 64 * (chunk / %d))"):format(depth, #p.sets[1]) end
  return ("%s_count(chunk)"):format(kernel.name)
end

-- What that calls, of several sets.
local function count_function(kernel, p, depth)
  if #p.sets == 1 then return "" end
  local chunks = ceil(depth, 64)
  return ("static __device__ __forceinline__ int %s_count(int step) {\n"
    .. "  int taps = %s_taps[0];\n  for (int set = 0; step >= %d/**/ * taps && set + 1 < %d; taps = %s_taps[++set]) step -= %d/**/ * taps;\n"
    .. "  return taps > 0 ? min(64, max(1, %d/**/ - 64 * (step / taps))) : 64;\n}\n"):format(kernel.name, kernel.name, chunks, #p.sets, kernel.name, chunks, depth)
end

-- ---- the result

-- Conditions in C of expressions that must not be negative.
local function open_where(body, guards)
  local words = {}
  for _, e in ipairs(guards) do
    if e.lo < 0 then words[#words + 1] = index.c(e) .. " >= 0" end
  end
  if #words > 0 then body:open("if (%s) {", table.concat(words, " && ")) end
  return #words > 0
end

-- The indices of an output by its row and column, and its guards, which must not be negative.
local function output(x, c, p, columns, column)
  if c.transposed then return transposed.output(x, c, p, columns, transposed.column(p, columns, column)) end
  local at = index.unravel(index.var("row", x.shape[1] * product(p.places)), list({ x.shape[1] }, p.places))
  local i, guards = { at[1], index.add(column, index.var("z", c.groups), columns) }, {}
  for d = 1, c.dims do
    i[d + 2], guards[d] = at[d + 1], index.plus(index.scale(at[d + 1], -1), x.shape[d + 2] - 1)
  end
  return i, guards
end

-- A root's value from a sum at a place of the convolution.
local function result(body, x, root, i, name)
  if x.inputs[3] then
    local sum = body:name "sum"
    body:line("const float %s = %s + %s;", sum, name, body:value(x.inputs[3], { i[2] }))
    name = sum
  end
  body:know(x, i, name)
  return root == x and name or body:value(root, i)
end

local function same(p, q)
  for k, e in ipairs(p) do
    if e.key ~= q[k].key then return false end
  end
  return true
end

-- Two neighbouring columns' results, each where it lies inside.
local function write(body, x, c, p, columns, root, names)
  local all, at, guards = columns * p.side, {}, {}
  for lane = 1, 2 do
    local column = index.plus(index.scale(index.var("pair", (all + 1) // 2), 2), lane - 1)
    at[lane], guards[lane] = output(x, c, p, columns, column)
  end
  body.known_only = { [x] = true }
  local alike = all % 2 == 0 and same(guards[1], guards[2])
  local whole = alike and open_where(body, guards[1])
  if alike then
    body:store_all(root, at, { result(body, x, root, at[1], names[1]), result(body, x, root, at[2], names[2]) })
  end
  for lane = 1, alike and 0 or 2 do
    local open = lane == 2 and all % 2 == 1
    if open then body:open("if (2 * pair + 1 < %d/**/) {", all) end
    local inside = open_where(body, guards[lane])
    body:store(root, at[lane], result(body, x, root, at[lane], names[lane]))
    if inside then body:close() end
    if open then body:close() end
  end
  if whole then body:close() end
end

-- Whether two neighbouring columns' results are one access to memory.
local function are_pairs(x, c, p, columns, root)
  local at, guards = {}, {}
  for lane = 1, 2 do
    local column = index.plus(index.scale(index.var("pair", (columns * p.side + 1) // 2), 2), lane - 1)
    at[lane], guards[lane] = output(x, c, p, columns, column)
  end
  local strides = root.strides or graphs.contiguous(root.shape)
  local first, second = index.place(at[1], strides, root.offset), index.place(at[2], strides, root.offset)
  return same(guards[1], guards[2]) and index.divisible(first, 2) and second.key == index.plus(first, 1).key
end

-- One result, by its line and side (tensor.lua).
local function write_one(body, x, c, p, columns, root, name)
  local i, guards
  if c.transposed then i, guards = transposed.output(x, c, p, columns, transposed.line(p, columns))
  else i, guards = output(x, c, p, columns, index.var("line", columns)) end
  body.known_only = { [x] = true }
  local inside = open_where(body, guards)
  body:store(root, i, result(body, x, root, i, name))
  if inside then body:close() end
end

-- Where results are turned before they are written: of those whose rows are neighbours in memory, unless pairs are written as such.
local function turned(x, c, p, columns, root)
  local side = c.transposed and transposed.beside(p) or 1
  if not c.transposed and not sixteen.type_of(x) or side ~= 1 and side ~= 2 and side ~= 4 or are_pairs(x, c, p, columns, root) then return nil end
  return { side = side, write = function(body, r, name) write_one(body, x, c, p, columns, r, name) end }
end

-- ---- which way

local function terms(x, c, channels)
  local outputs = c.transposed and x.inputs[1] or x
  return product(outputs.shape) * product(c.taps) * (c.transposed and x.shape[2] // c.groups or channels)
end

-- Work of a shape, in terms that are multiplied: rows, columns and steps as they are executed, and packing.
local function work(x, c, p, channels, columns)
  local chunks, steps = ceil(product(p.fold) * channels, 64), 0
  for _, set in ipairs(p.sets) do steps = steps + #set end
  local rows = x.shape[1] * product(p.places)
  local executed = c.groups * rows * ceil(columns * p.side, 16) * 16 * chunks * steps * 64
  return executed + 25 * c.groups * rows * product(p.phases) * chunks * 64 * 16, executed,
         c.groups * rows * product(p.phases) * chunks * 256
end

-- Time with more joined axes than the last, relative to a similar shape; measured on an H100.
local PAIRED, TURNED = 0.93, 1.12

-- How much longer a transposed convolution takes because of the places of its outputs. With `apart` remainders the outputs
-- interleave, and memory's sectors are written in parts. With more joined axes than the last a tile has fewer channels of more
-- places. That is better for pairs with one access each. Where results are transposed before they are written, runs of neighbours
-- get shorter.
local function scatter(x, c, p, columns)
  if not c.transposed or c.stride[c.dims] == 1 then return 1 end
  if p.apart == c.dims then return 1.9 end
  if p.side <= transposed.beside(p) then return 1 end
  return are_pairs(x, c, p, columns, x) and PAIRED or TURNED
end

local function seconds(chip, x, c, p, channels, columns)
  local _, executed, packed = work(x, c, p, channels, columns)
  local bytes = 4 * product(x.inputs[1].shape) + 2.2 * packed + 4 * product(x.shape)
  local products = channels * product(c.taps) <= pack.SHORT and 4 or 3
  return scatter(x, c, p, columns) * costs.conv(chip, bytes, executed, products)
end

-- Whether too many of the executed products are padding.
local function is_padding(x, c, p, channels, columns)
  return select(2, work(x, c, p, channels, columns)) > 6 * terms(x, c, channels)
end

local function best_shape(chip, x, c, channels, columns)
  local best, least
  if c.transposed then
    for _, p in ipairs(transposed.shapes(x, c, columns)) do
      local all = p.gaps and sixteen.type_of(x) and math.huge or seconds(chip, x, c, p, channels, columns)      -- where NaN must not meet a zero
      if not best or all < least and not is_padding(x, c, p, channels, columns) then best, least = p, all end
    end
  else
    for folded = 0, c.dims do
      local p = plain_shape(x, c, folded)
      local all = work(x, c, p, channels, columns)
      if not best or all < least then best, least = p, all end
    end
  end
  return best
end

--- Operations of a convolution.
function M.operations(x) return 2 * terms(x, x.conv, x.inputs[1].shape[2] // x.conv.groups) end

-- Whether numbers of a wide range have kernels of their own: these need half as much memory again.
local function is_full(x, c, p, channels, columns, options)
  return 2 * terms(x, c, channels) >= (options.full or costs.negligible(options.chip, table.unpack(FULL))) and 3 * select(3, work(x, c, p, channels, columns)) <= 2 * costs.room(options.chip)
end

--- Whether a convolution can be made here, or nil and why not. `options.chip`: that it is for;
--- `options.least`: operations below which a library is as good; `options.emulate`: also where plain arithmetic is as fast.
function M.serves(x, options)
  local c = x.conv
  local dtype = sixteen.type_of(x)
  local loop, why = tensor.packed_loop(options.chip, options.emulate or dtype)
  if not loop then return nil, why end
  if not dtype and (x.dtype ~= "float32" or x.inputs[2].dtype ~= "float32") then return nil, "it is for float32 and 16-bit types" end
  local channels, columns = x.inputs[1].shape[2] // c.groups, x.shape[2] // c.groups
  if columns < (options.narrowest or 16) then return nil, "a group has too few output channels" end
  if 2 * terms(x, c, channels) < (options.least or LEAST) then return nil, "it is too small" end
  local p = best_shape(options.chip, x, c, channels, columns)
  if is_padding(x, c, p, channels, columns) then return nil, "too much of it would be padding" end
  local rows = x.shape[1] * product(p.places) * product(p.phases)
  if rows > 0x3fffffff or select(3, work(x, c, p, channels, columns)) > costs.room(options.chip) then return nil, "its packed input takes too much memory" end
  return true
end

--- Seconds that it would take, roughly; or nil where it cannot be made.
function M.cost(x, options)
  if not M.serves(x, options) then return nil end
  local c = x.conv
  local channels, columns = x.inputs[1].shape[2] // c.groups, x.shape[2] // c.groups
  return seconds(options.chip, x, c, best_shape(options.chip, x, c, channels, columns), channels, columns)
end

--- A convolution as a geometry of tensor.lua; nil where its weights do not lie in memory. Options as for `serves`.
function M.geometry(kernel, x, options)
  local c, channels, columns = x.conv, x.inputs[1].shape[2] // x.conv.groups, x.shape[2] // x.conv.groups
  local p = best_shape(options.chip, x, c, channels, columns)
  local weights = weight_reader(kernel, x, c, p, channels, columns)
  if not weights then return nil end
  local view = pixels(x, c, p, channels)
  local steps = ceil(view.shape[3], 64) * #p.taps
  return {
    what = ("%s of %d channels to %d, %d taps"):format(c.transposed and "a transposed convolution" or "a convolution", channels, columns,
      product(c.taps)),
    chip = options.chip, dtype = sixteen.type_of(x), full = is_full(x, c, p, channels, columns, options),
    terms = (c.transposed and x.inputs[1].shape[2] // c.groups or channels) * product(c.taps), batch = c.groups, rows = x.shape[1] * product(p.places), columns = columns * p.side, sets = p.sets,
    left = { rows = view.shape[2], depth = view.shape[3], along = false, gaps = p.gaps,
             element = function(body, z, row, k) return body:value(view, { z, row, k }) end },
    right = { rows = columns * p.side, depth = 64 * steps, along = false, loads = true, element = weights, count = weight_count(kernel, p, view.shape[3]) },
    tables = function() return tap_table(kernel, x, c, p) .. count_function(kernel, p, view.shape[3]) end,
    turned = turned(x, c, p, columns, kernel.roots[1]),
    write = function(body, r, names) write(body, x, c, p, columns, r, names) end }
end

--- Whether a kernel stores a single node of the convolution's shape.
function M.stores(kernel, x)
  local root = kernel.roots[1]
  return #kernel.roots == 1 and product(root.shape) == product(x.shape) and #root.shape == #x.shape
end

-- The geometry of a kernel; raises a refusal.
local function chosen(kernel, options)
  local x = kernel.members[1] or kernel.roots[1]
  local fine, why = M.serves(x, options)
  if not fine then expression.refuse(why) end
  if not M.stores(kernel, x) then expression.refuse "it stores one result of its own shape" end
  local geometry = sixteen.type_of(x) and point.serves(x, tiles.ROWS) and point.geometry(x, options.chip) or M.geometry(kernel, x, options) or expression.refuse "its weights do not lie in memory"
  legal.check(kernel, geometry, { geometry.left, geometry.right })
  return geometry
end

--- Whether M.generate makes a kernel; or nil and why not. Options as for `serves`.
function M.accepts(kernel, options) return expression.attempt(chosen, kernel, options) end

--- The kernels of a convolution (README). `kernel.roots` is the convolution, or a node of its shape that follows from it element by
--- element; then the convolution is the kernel's member. Options as for `serves`.
function M.generate(kernel, options)
  local geometry = chosen(kernel, options)
  return (geometry.dtype and sixteen or tensor).kernels(kernel, geometry, tensor.loop(options.chip, true))
end

return M

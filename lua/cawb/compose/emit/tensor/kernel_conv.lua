-- kernel_conv: convolutions of one to three dimensions as products of tensor.lua (implicit GEMM). The left factor's rows are pixels,
-- 64 channels a chunk, on a grid that is padded with zeros (conv_shape.lua). A tap of the window is then a shift of rows, and the input is
-- stored only once, not once for each tap. Windows over few channels are folded: trailing dimensions of the window become channels.

local costs = require "cawb.compose.cost.products"
local lists = require "cawb.base.lists"
local shapes = require "cawb.compose.emit.tensor.conv_shape"
local epilogue = require "cawb.compose.emit.tensor.epilogue"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local family = require "cawb.compose.emit.tensor.family"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local literal = require "cawb.compose.ir.literal"
local library = require "cawb.compose.ir.library"
local pack = require "cawb.compose.emit.tensor.pack"
local point = require "cawb.compose.emit.tensor.point"
local sixteen = require "cawb.compose.emit.tensor.sixteen"
local template = require "cawb.compose.emit.template"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

M.LEAST = 1 << 24                     -- operations below which a library's call is as good
local POINT = 1 << 20                 -- the same of what is one launch, with what follows: a library's call is one without
local FULL = { 4, 0.06 }              -- a wide range has kernels of its own where these launches take no more than this share of the time

local product, ceil = grids.product, template.ceil

-- ---- its weights

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
    local place = shapes.weight(body, kernel.name, x, c, p, channels, columns, z)
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

-- Whether a kernel stores a single node of the convolution's shape.
local function stores(kernel, x)
  return #kernel.roots == 1 and graphs.same(kernel.roots[1].shape, x.shape)
end

-- A block of what holds where expressions are not negative; whether there is one.
local function open_where(body, guards)
  local inside = expression.conditions(guards)
  if inside then body:open("if (%s) {", inside) end
  return inside ~= nil
end

-- The indices of two neighbouring columns' outputs, and of each its guards, which must not be negative.
local function pair(x, c, p, columns)
  local at, guards = {}, {}
  for lane = 1, 2 do
    local column = index.plus(index.scale(index.var("pair", (columns * p.side + 1) // 2), 2), lane - 1)
    at[lane], guards[lane] = shapes.output(x, c, p, columns, shapes.column(p, columns, column))
  end
  return at, guards
end

local function result(body, x, root, i, name) return epilogue.value(body, x, root, i, name, { i[2] }) end

-- Two neighbouring columns' results, each where it lies inside.
local function write(body, x, c, p, columns, root, names)
  local all = columns * p.side
  local at, guards = pair(x, c, p, columns)
  body.known_only = { [x] = true }
  local alike = all % 2 == 0 and index.same(guards[1], guards[2])
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
  local at, guards = pair(x, c, p, columns)
  local strides = root.strides or graphs.contiguous(root.shape)
  local first, second = index.place(at[1], strides, root.offset), index.place(at[2], strides, root.offset)
  return index.same(guards[1], guards[2]) and index.divisible(first, 2) and second.key == index.plus(first, 1).key
end

-- One result, by its line and side (tensor.lua).
local function write_one(body, x, c, p, columns, root, name)
  local i, guards = shapes.output(x, c, p, columns, shapes.line(p, columns))
  body.known_only = { [x] = true }
  local inside = open_where(body, guards)
  body:store(root, i, result(body, x, root, i, name))
  if inside then body:close() end
end

-- Where results are turned before they are written: of those whose rows are neighbours in memory, unless pairs are written as such.
local function turned(x, c, p, columns, root)
  local side = shapes.beside(p)
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
  local chunks, steps = ceil(product(p.fold) * channels, 64), lists.sum(p.sets, function(set) return #set end)
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
  if p.side <= shapes.beside(p) then return 1 end
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

local function fastest(chip, x, c, channels, columns)
  if not c.transposed then
    local all = lists.times(c.dims + 1, function(folded) return shapes.plain(x, c, folded - 1) end)
    return (lists.least(all, function(p) return (work(x, c, p, channels, columns)) end))
  end
  return (lists.least(shapes.transposed(x, c, columns), function(p, number)
    if number > 1 and is_padding(x, c, p, channels, columns) then return nil end
    return p.gaps and sixteen.type_of(x) and math.huge or seconds(chip, x, c, p, channels, columns)      -- where NaN must not meet a zero
  end))
end

-- The shape by which a convolution is made for a chip, and channels of the input and the output in a group.
local best_shape = shapes.once(function(chip, x)
  local channels, columns = shapes.each(x)
  return fastest(chip, x, x.conv, channels, columns), channels, columns
end)

--- Operations of a convolution.
function M.operations(x) return 2 * terms(x, x.conv, (shapes.each(x))) end

-- Whether numbers of a wide range have kernels of their own: these need half as much memory again.
local function is_full(x, c, p, channels, columns, options)
  return 2 * terms(x, c, channels) >= (options.full or costs.negligible(options.chip, table.unpack(FULL))) and 3 * select(3, work(x, c, p, channels, columns)) <= 2 * costs.room(options.chip)
end

--- Whether its packed input fits the device's memory.
function M.fits(x, options)
  local p, channels, columns = best_shape(options.chip, x)
  local rows = x.shape[1] * product(p.places) * product(p.phases)
  return rows <= 0x3fffffff and select(3, work(x, x.conv, p, channels, columns)) <= costs.room(options.chip)
end

--- Whether a convolution can be made here, or nil and why not. `options.chip`: that it is for;
--- `options.least`: operations below which a library is as good; `options.emulate`: also where plain arithmetic is as fast.
function M.serves(x, options)
  local c = x.conv
  local dtype = sixteen.type_of(x)
  local loop, why = tensor.packed_loop(options.chip, options.emulate or dtype)
  if not loop then return nil, why end
  if not dtype and (x.dtype ~= "float32" or x.inputs[2].dtype ~= "float32") then return nil, "it is for float32 and 16-bit types" end
  local channels, columns = shapes.each(x)
  if columns < (options.narrowest or 16) then return nil, "a group has too few output channels" end
  if 2 * terms(x, c, channels) < (options.least or dtype and point.lies(x) and POINT or M.LEAST) then return nil, "it is too small" end
  local p = best_shape(options.chip, x)
  if is_padding(x, c, p, channels, columns) then return nil, "too much of it would be padding" end
  if not M.fits(x, options) then return nil, "its packed input takes too much memory" end
  return true
end

--- Seconds that it would take, roughly; or nil where it cannot be made.
function M.cost(x, options)
  if not M.serves(x, options) then return nil end
  return seconds(options.chip, x, x.conv, best_shape(options.chip, x))
end

--- A convolution as a geometry of tensor.lua; raises a refusal. Options as for `serves`.
function M.geometry(kernel, x, options)
  local c = x.conv
  local p, channels, columns = best_shape(options.chip, x)
  if not stores(kernel, x) then expression.refuse "it stores one result of its own shape" end
  local weights = weight_reader(kernel, x, c, p, channels, columns) or expression.refuse "its weights do not lie in memory"
  local view = shapes.pixels(x, c, p, channels)
  local steps = ceil(view.shape[3], 64) * #p.taps
  return {
    what = ("%s of %d channels to %d, %d taps"):format(c.transposed and "a transposed convolution" or "a convolution", channels, columns,
      product(c.taps)),
    chip = options.chip, dtype = sixteen.type_of(x), apart = options.gradients, full = is_full(x, c, p, channels, columns, options),
    terms = (c.transposed and x.inputs[1].shape[2] // c.groups or channels) * product(c.taps), batch = c.groups, rows = x.shape[1] * product(p.places), columns = columns * p.side, sets = p.sets,
    left = { rows = view.shape[2], depth = view.shape[3], along = false, gaps = p.gaps,
             element = function(body, z, row, k) return body:value(view, { z, row, k }) end },
    right = { rows = columns * p.side, depth = 64 * steps, along = false, loads = true, element = weights, count = weight_count(kernel, p, view.shape[3]) },
    tables = function() return shapes.tables(kernel.name, x, c, p) .. count_function(kernel, p, view.shape[3]) end,
    turned = turned(x, c, p, columns, kernel.roots[1]),
    write = function(body, r, names) write(body, x, c, p, columns, r, names) end }
end

-- A convolution of one tap and 16-bit numbers need not be packed.
local function geometry_of(kernel, x, options)
  return sixteen.type_of(x) and point.serves(x, tiles.ROWS) and stores(kernel, x) and point.geometry(x, options.chip) or M.geometry(kernel, x, options)
end

return family(M, geometry_of)

-- tensor_conv: convolutions of one to three dimensions as tensor.lua has products. The left factor's rows are
-- pixels, 64 channels a chunk, on a grid that is padded with zeros: a tap of the window is then a shift of rows, and
-- nothing is stored once a tap. A stride makes several such grids, one for each remainder of a place by it; a
-- transposed convolution is several plain ones, one for each remainder of the output's place. Windows over few
-- channels are folded: trailing dimensions of the window become channels.

local index = require "cawb.compose.index"
local library = require "cawb.compose.library"
local pack = require "cawb.compose.generate.pack"
local tensor = require "cawb.compose.generate.tensor"

local M = {}

local LEAST = 1 << 24                 -- operations below which a library's call is as good
local ROOM = 12 << 30                 -- bytes that a packed factor may take
local FULL = 1 << 34                  -- operations from which a wide range has kernels of its own: they cost four launches

local function product(list)
  local n = 1
  for _, v in ipairs(list) do n = n * v end
  return n
end

local function ceil(a, b) return (a + b - 1) // b end

-- Every choice of one number below each of `counts`, the last fastest.
local function combinations(counts)
  local list = {}
  for number = 0, product(counts) - 1 do
    local digits, rest = {}, number
    for d = #counts, 1, -1 do digits[d], rest = rest % counts[d], rest // counts[d] end
    list[#list + 1] = digits
  end
  return list
end

local function ravel(digits, counts)
  local n = 0
  for d, c in ipairs(counts) do n = n * c + digits[d] end
  return n
end

-- ---- where taps read: along one dimension

-- Of a plain convolution: how many grids (phases), the first one's remainder, places of a grid, and for each tap
-- its phase and shift.
local function plain_taps(c, d, out)
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
  return { taps = taps, phases = count > 1 and s or 1, places = out + most }
end

-- Of a transposed one: for each remainder of the output's place by the stride its taps and their shifts.
local function transposed_taps(c, d, out)
  local s, sets, least, most = c.stride[d], {}, nil, nil
  for a = 0, math.min(s, out) - 1 do
    sets[a + 1] = {}
    for k = 0, c.taps[d] - 1 do
      local at = a + c.padding[d] - k * c.dilation[d]
      if at % s == 0 then
        local e = at // s
        table.insert(sets[a + 1], { k = k, shift = e })
        least, most = math.min(least or e, e), math.max(most or e, e)
      end
    end
  end
  least, most = least or 0, most or 0
  for _, set in ipairs(sets) do
    for _, tap in ipairs(set) do tap.shift = tap.shift - least end
  end
  return { sets = sets, least = least, places = ceil(out, s) + most - least }
end

-- ---- the grids of a whole convolution

-- `folded`: how many trailing dimensions of the window become channels.
local function plain_shape(x, c, folded)
  local p = { places = {}, phases = {}, counts = {}, fold = {}, dims = {} }
  for d = 1, c.dims do
    local is_folded = d > c.dims - folded
    local t = not is_folded and plain_taps(c, d, x.shape[d + 2])
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
  p.sets, p.taps, p.residues = { shifts }, taps, {}
  return p
end

local function transposed_shape(x, c)
  local p = { places = {}, phases = {}, fold = {}, dims = {}, residues = {}, sets = {}, taps = {} }
  for d = 1, c.dims do
    local t = transposed_taps(c, d, x.shape[d + 2])
    p.dims[d], p.places[d], p.phases[d], p.residues[d] = t, t.places, 1, #t.sets
  end
  for _, a in ipairs(combinations(p.residues)) do
    local counts, shifts = {}, {}
    for d = 1, c.dims do counts[d] = #p.dims[d].sets[a[d] + 1] end
    for _, digits in ipairs(combinations(counts)) do
      local k, shift = {}, {}
      for d = 1, c.dims do
        local tap = p.dims[d].sets[a[d] + 1][digits[d] + 1]
        k[d], shift[d] = tap.k, tap.shift
      end
      shifts[#shifts + 1], p.taps[#p.taps + 1] = ravel(shift, p.places), k
    end
    p.sets[#p.sets + 1] = shifts
  end
  return p
end

-- ---- its factors

local function list(head, tail)
  local all = { table.unpack(head) }
  for _, v in ipairs(tail) do all[#all + 1] = v end
  return all
end

-- The input as a view of rows: indices z (group), row, k; zeros beyond its edges.
local function pixels(x, c, p, channels)
  local from = x.inputs[1]
  local rows = list(list(p.phases, { x.shape[1] }), p.places)
  local depth = list(p.fold, { channels })
  local function places(i)
    local at, k = index.unravel(i[2], rows), index.unravel(i[3], depth)
    local j, guards = { at[c.dims + 1], index.add(k[#k], i[1], channels) }, {}
    for d = 1, c.dims do
      local q, folded = at[c.dims + 1 + d], d - (c.dims - #p.fold)
      local place
      if c.transposed then place = index.plus(q, p.dims[d].least)
      else
        place = index.plus(index.scale(q, c.stride[d]), -c.padding[d])
        place = folded > 0 and index.add(place, k[folded], c.dilation[d]) or index.add(place, at[d])
      end
      j[d + 2] = place
      guards[#guards + 1] = place
      guards[#guards + 1] = index.plus(index.scale(place, -1), from.shape[d + 2] - 1)
    end
    return j, guards
  end
  local piece = { input = 1, index = function(i) return (places(i)) end, guard = function(i) return (select(2, places(i))) end }
  return { kind = "view", id = "pixels", inputs = { from }, shape = { c.groups, product(rows), product(depth) },
           dtype = from.dtype, pieces = { piece }, fill = 0 }
end

-- Where each tap's weights begin, as a table in C; phases without digits keep their own remainder.
local function tap_table(kernel, p, c, strides)
  local places = {}
  for n, k in ipairs(p.taps) do
    local at = 0
    for d = 1, c.dims - #p.fold do at = at + k[d] * strides[d + 2] end
    places[n] = at
  end
  return ("static __constant__ int %s_weights[] = { %s };\n"):format(kernel.name, table.concat(places, ", "))
end

-- Weights as rows of output channels: 64 numbers for each step, in the order of the steps. The sets' steps lie one
-- behind the other, in each chunk after chunk, tap after tap.
local function weight_reader(kernel, x, c, p, channels, columns)
  local w = library.layout(x.inputs[2])
  if not w then return nil end
  local depth = product(p.fold) * channels
  local chunks, strides = ceil(depth, 64), w.strides
  return function(body, z, _, _)
    local kk = index.var("kk", depth)
    local k = index.unravel(kk, list(p.fold, { channels }))
    local out, ins = index.add(index.var("row", columns), z, columns), k[#k]
    if c.transposed then out, ins = index.var("row", columns), index.add(k[#k], z, channels) end
    local place = index.add(index.scale(out, strides[c.transposed and 2 or 1]), ins, strides[c.transposed and 1 or 2])
    for f = 1, #p.fold do place = index.add(place, k[f], strides[c.dims - #p.fold + f + 2]) end
    body:line("int step = k / 64, first = 0, taps = %d;", #p.sets[1])
    if #p.sets > 1 then
      body:line("for (int set = 0; step >= %d * taps; taps = %s_taps[++set]) step -= %d * taps, first += taps;", chunks, kernel.name, chunks)
    end
    body:line("const int kk = taps > 0 ? step / taps * 64 + k %% 64 : %d;", depth)
    body:line("if (kk >= %d) return 0.0f;", depth)
    return ("%s[%s + %s_weights[first + step %% taps]]"):format(body:tensor(w.node), index.c(index.plus(place, w.offset or 0)), kernel.name)
  end
end

-- How many of the 64 weights of a step there are, as C of the step's number, `chunk`.
local function weight_count(kernel, p, depth)
  local chunks = ceil(depth, 64)
  if depth % 64 == 0 then return "64" end
  if chunks == 1 then return tostring(depth) end
  if #p.sets == 1 then return ("min(64, %d - 64 * (chunk / %d))"):format(depth, #p.sets[1]) end
  return ("%s_count(chunk)"):format(kernel.name)
end

-- What that calls, of several sets.
local function count_function(kernel, p, depth)
  if #p.sets == 1 then return "" end
  local chunks = ceil(depth, 64)
  return ("static __device__ __forceinline__ int %s_count(int step) {\n"
    .. "  int taps = %s_taps[0];\n  for (int set = 0; step >= %d * taps && set + 1 < %d; taps = %s_taps[++set]) step -= %d * taps;\n"
    .. "  return taps > 0 ? min(64, max(1, %d - 64 * (step / taps))) : 64;\n}\n"):format(kernel.name, kernel.name, chunks, #p.sets, kernel.name, chunks, depth)
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

local function write(body, x, c, p, columns, root, names)
  local at = index.unravel(index.var("row", x.shape[1] * product(p.places)), list({ x.shape[1] }, p.places))
  local residues = c.transposed and index.unravel(index.var("set", #p.sets), p.residues) or {}
  local i, guards = { at[1] }, {}
  for d = 1, c.dims do
    local o = at[d + 1]
    if c.transposed then o = index.add(residues[d], o, c.stride[d]) end
    i[d + 2] = o
    guards[d] = index.plus(index.scale(o, -1), x.shape[d + 2] - 1)
  end
  local inside = open_where(body, guards)
  body.known_only = { [x] = true }
  for lane = 1, 2 do
    local column = index.plus(index.scale(index.var("pair", (columns + 1) // 2), 2), lane - 1)
    local open = lane == 2 and columns % 2 == 1
    if open then body:open("if (2 * pair + 1 < %d) {", columns) end
    i = { i[1], index.add(column, index.var("z", c.groups), columns), table.unpack(i, 3, c.dims + 2) }
    local name = names[lane]
    if x.inputs[3] then
      name = body:name "sum"
      body:line("const float %s = %s + %s;", name, names[lane], body:value(x.inputs[3], { i[2] }))
    end
    body:know(x, i, name)
    body:store(root, i, root == x and name or body:value(root, i))
    if open then body:close() end
  end
  if inside then body:close() end
end

-- ---- which way

-- Work of a shape, in terms that are multiplied: rows, columns and steps as they are executed, and packing.
local function work(x, c, p, channels, columns)
  local chunks, steps = ceil(product(p.fold) * channels, 64), 0
  for _, set in ipairs(p.sets) do steps = steps + #set end
  local rows = x.shape[1] * product(p.places)
  local executed = c.groups * rows * ceil(columns, 16) * 16 * chunks * steps * 64
  return executed + 25 * c.groups * rows * product(p.phases) * chunks * 64 * 16, executed,
         c.groups * rows * product(p.phases) * chunks * 256
end

local function best_shape(x, c, channels, columns)
  if c.transposed then
    local p = transposed_shape(x, c)
    return p, select(2, work(x, c, p, channels, columns))
  end
  local best, least, executed
  for folded = 0, c.dims do
    local p = plain_shape(x, c, folded)
    local all, run = work(x, c, p, channels, columns)
    if not best or all < least then best, least, executed = p, all, run end
  end
  return best, executed
end

local function terms(x, c, channels)
  local outputs = c.transposed and x.inputs[1] or x
  return product(outputs.shape) * product(c.taps) * (c.transposed and x.shape[2] // c.groups or channels)
end

--- Operations of a convolution.
function M.operations(x) return 2 * terms(x, x.conv, x.inputs[1].shape[2] // x.conv.groups) end

-- Whether numbers of a wide range have kernels of their own: these need half as much memory again.
local function is_full(x, c, p, channels, columns, options)
  return 2 * terms(x, c, channels) >= (options.full or FULL) and 3 * select(3, work(x, c, p, channels, columns)) <= 2 * ROOM
end

--- Whether a convolution can be made here, or nil and why not. `options.arch`: of the device, as "sm_90a";
--- `options.least`: operations below which a library is as good; `options.emulate`: also where plain arithmetic is as fast.
function M.serves(x, options)
  local c = x.conv
  local loop, why = tensor.loop(options.arch, options.emulate)
  if not loop then return nil, why end
  if x.dtype ~= "float32" or x.inputs[2].dtype ~= "float32" then return nil, "it is for float32" end
  local channels, columns = x.inputs[1].shape[2] // c.groups, x.shape[2] // c.groups
  if columns < (options.narrowest or 16) then return nil, "a group has too few output channels" end
  if 2 * terms(x, c, channels) < (options.least or LEAST) then return nil, "it is too small" end
  local p, executed = best_shape(x, c, channels, columns)
  if executed > 6 * terms(x, c, channels) then return nil, "too much of it would be padding" end
  local rows = x.shape[1] * product(p.places) * product(p.phases)
  if rows > 0x3fffffff or select(3, work(x, c, p, channels, columns)) > ROOM then return nil, "its packed input takes too much memory" end
  return true
end

local BYTES, FLOPS = 2.6e12, 600e12   -- a second, of memory and of 16-bit products, roughly

--- Seconds that it would take on an H100, roughly; or nil where it cannot be made.
function M.cost(x, options)
  if not M.serves(x, options) then return nil end
  local c = x.conv
  local channels, columns = x.inputs[1].shape[2] // c.groups, x.shape[2] // c.groups
  local p, executed = best_shape(x, c, channels, columns)
  local packed = select(3, work(x, c, p, channels, columns))
  local bytes = 4 * product(x.inputs[1].shape) + 2.2 * packed + 4 * product(x.shape)
  local scattered = c.transposed and c.stride[c.dims] > 1 and 1.9 or 1        -- what it writes
  return scattered * (bytes / BYTES + 2 * executed * (channels * product(c.taps) <= pack.SHORT and 4 or 3) / FLOPS)
end

--- A convolution as a geometry of tensor.lua; nil where its weights do not lie in memory. Options as for `serves`.
function M.geometry(kernel, x, options)
  local c, channels, columns = x.conv, x.inputs[1].shape[2] // x.conv.groups, x.shape[2] // x.conv.groups
  local p = best_shape(x, c, channels, columns)
  local weights = weight_reader(kernel, x, c, p, channels, columns)
  if not weights then return nil end
  local view = pixels(x, c, p, channels)
  local steps = ceil(view.shape[3], 64) * #p.taps
  return {
    what = ("%s of %d channels to %d, %d taps"):format(c.transposed and "a transposed convolution" or "a convolution", channels, columns,
      product(c.taps)),
    full = is_full(x, c, p, channels, columns, options),
    terms = (c.transposed and x.inputs[1].shape[2] // c.groups or channels) * product(c.taps), batch = c.groups, rows = x.shape[1] * product(p.places), columns = columns, sets = p.sets,
    left = { rows = view.shape[2], depth = view.shape[3], along = false,
             element = function(body, z, row, k) return body:value(view, { z, row, k }) end },
    right = { rows = columns, depth = 64 * steps, along = false, element = weights, count = weight_count(kernel, p, view.shape[3]) },
    tables = tap_table(kernel, p, c, library.layout(x.inputs[2]).strides) .. count_function(kernel, p, view.shape[3]),
    write = function(body, r, names) write(body, x, c, p, columns, r, names) end }
end

--- Whether a kernel stores what one here can: a node of the convolution's shape.
function M.stores(kernel, x)
  local root = kernel.roots[1]
  return #kernel.roots == 1 and product(root.shape) == product(x.shape) and #root.shape == #x.shape
end

--- The kernels of a convolution (README): `kernel.roots` is the convolution, or one node of its shape that
--- follows it element by element, it being the one member; or nil and why not. Options as for `serves`.
function M.generate(kernel, options)
  local x = kernel.members[1] or kernel.roots[1]
  local fine, why = M.serves(x, options)
  if not fine then return nil, why end
  if not M.stores(kernel, x) then return nil, "it stores one result of its own shape" end
  local geometry = M.geometry(kernel, x, options)
  if not geometry then return nil, "its weights do not lie in memory" end
  return tensor.kernels(kernel, geometry, tensor.loop(options.arch, true))
end

return M

-- box: convolutions of few channels on tensor cores at float32's accuracy. The inputs of a box of outputs are loaded to shared memory
-- once and split there into pairs of 16-bit halves. Only the weights are packed ahead; they stay in shared memory. Each warp
-- gathers its factor. The instruction is mma.sync (Ampere and later) or Hopper's wgmma, where eight numbers along k lie beside each
-- other: box_loops.lua. A transposed convolution is a plain sum for each set of outputs whose places have the same remainders by
-- the stride.

local costs = require "cawb.compose.cost.products"
local grids = require "cawb.compose.emit.grids"
local lists = require "cawb.base.lists"
local loops = require "cawb.compose.emit.tensor.box_loops"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

local ROWS, THREADS = 128, 256        -- outputs of a box, sixteen a warp
local HELD, HELDMORE = 48, 64         -- numbers of the next box that a thread has on their way
local STAGED, GROUPED = 12, 8         -- times eight columns whose results are staged at once, of one set: by warps, by groups of them

local numel = grids.product

-- ---- axes

-- Whether the last axis has no window, so that it can be merged with the next one: short rows become long ones.
local function is_flat(d)
  return not d.transposed and d.window[3] == 1 and d.stride[3] == 1 and d.padding[3] == 0 and d.stride[2] == 1 and d.size[1] * d.size[2] > 1
end

--- Merges axes of a convolution where that is possible; `folds` are the sizes of the merged axes.
---@param d cawb.Conv
function M.flat(d)
  d.folds = {}
  while is_flat(d) do
    local n = d.size[3]
    table.insert(d.folds, 1, n)
    d.size, d.out = { 1, d.size[1], d.size[2] * n }, { 1, d.out[1], d.out[2] * n }
    d.window, d.stride = { 1, d.window[1], d.window[2] }, { 1, d.stride[1], 1 }
    d.padding, d.dilation = { 0, d.padding[1], d.padding[2] * n }, { 1, d.dilation[1], d.dilation[2] * n }
  end
  return d
end

-- C of the three places that these were: "d, h, w".
local function unfolded(folds)
  if #folds == 0 then return "d, h, w" end
  if #folds == 1 then return ("h, w / %d, w %% %d"):format(folds[1], folds[1]) end
  return ("w / %d, w / %d %% %d, w %% %d"):format(folds[1], folds[2], folds[1] // folds[2], folds[2])
end

-- ---- where taps read

local function direct(d)
  local taps = lists.map(grids.combinations(d.window), function(tap, n)
    return { n - 1, tap[1] * d.dilation[1], tap[2] * d.dilation[2], tap[3] * d.dilation[3] }
  end)
  local first = lists.map(d.padding, function(n) return -n end)
  local span = lists.map(d.window, function(n, axis) return (n - 1) * d.dilation[axis] end)
  return { sets = { { taps = taps, residue = { 0, 0, 0 } } }, first = first, span = span, step = d.stride, places = d.out, out = { 1, 1, 1 } }
end

-- Along one axis: for each remainder of the output's place its taps, { place in the window, shift }; the least and the largest shift.
local function residues(d, axis)
  local all, least, most = {}, nil, nil
  for r = 0, math.min(d.stride[axis], d.out[axis]) - 1 do
    all[r + 1] = grids.met(d.window[axis], d.stride[axis], d.padding[axis], d.dilation[axis], r)
    for _, tap in ipairs(all[r + 1]) do least, most = math.min(least or tap[2], tap[2]), math.max(most or tap[2], tap[2]) end
  end
  return all, least or 0, most or 0
end

local function transposed(d)
  local all, first, span, places = {}, {}, {}, {}
  for axis = 1, 3 do
    local least, most
    all[axis], least, most = residues(d, axis)
    first[axis], span[axis], places[axis] = least, most - least, ceil(d.out[axis], d.stride[axis])
  end
  local function number(list) return #list end
  local sets = lists.map(grids.combinations(lists.map(all, number)), function(residue)
    local own = lists.map(all, function(axis, n) return axis[residue[n] + 1] end)
    local taps = lists.map(grids.combinations(lists.map(own, number)), function(digits)
      local p, q, r = own[1][digits[1] + 1], own[2][digits[2] + 1], own[3][digits[3] + 1]
      return { (p[1] * d.window[2] + q[1]) * d.window[3] + r[1], p[2] - first[1], q[2] - first[2], r[2] - first[3] }
    end)
    return { taps = taps, residue = residue }
  end)
  return { sets = sets, first = first, span = span, step = { 1, 1, 1 }, places = places, out = d.stride }
end

-- ---- the box

local function powers(most) return lists.times(math.floor(math.log(most, 2)) + 1, function(k) return 1 << k - 1 end) end

-- Channels of a place that one thread has: a divisor of all, at least four of them where there are as many.
local function unit_of(channels, places, eights)
  if eights then return 8, ceil(places * eights, THREADS) * 8 end
  return lists.least(lists.times(channels, function(unit) return unit end), function(unit)
    if channels % unit == 0 and (unit >= 4 or unit == channels) then return ceil(places * (channels // unit), THREADS) * unit end
  end)
end

-- The box with the least reads and products. Its results should be long runs: if two blocks write into the same 32 bytes at different
-- times, memory reads and writes them twice.
local function shape_of(d, t)
  local best
  for _, w in ipairs(powers(ROWS)) do
    for _, h in ipairs(powers(ROWS // w)) do
      local size = { ROWS // (w * h), h, w }
      local reads, boxes = {}, 1
      for axis = 1, 3 do
        reads[axis] = (size[axis] - 1) * t.step[axis] + t.span[axis] + 1
        boxes = boxes * ceil(t.places[axis], size[axis])
      end
      local run = math.min(size[3], t.places[3]) * t.out[3] * (t.places[3] <= size[3] and math.min(size[2], t.places[2]) or 1)
      local asked = numel(reads) * (t.eights or 1)
      local cost = boxes * (ROWS * 3 + asked + 8 * ROWS * 16 / run)
      local unit, held = unit_of(d.channels, numel(reads), t.eights)
      if held <= (t.group and HELDMORE or HELD) and (not best or cost < best.cost) then
        best = { size = size, reads = reads, boxes = boxes, cost = cost, unit = unit }
      end
    end
  end
  return best
end

-- Words from a channel to the next: where neighbours along k are channels, so that no two lanes meet in a bank.
local function apart_of(box, by_channel)
  local n = numel(box.reads)
  if not by_channel then return n end
  while n % 8 ~= 4 do n = n + 1 end
  return n
end

-- Steps of 16 products in each set.
local function count_steps(d, t)
  local steps, taps = 0, 0
  for _, set in ipairs(t.sets) do
    set.first, set.before = steps, taps
    set.steps = ceil(t.near and #set.taps // d.window[3] * ceil(d.window[3], t.near) * 8 or #set.taps * d.channels, 16)
    steps, taps = steps + set.steps, taps + #set.taps
  end
  return steps, taps
end

-- A block's share of the columns, with so many cuts. A pass has as many columns as fit into the staging memory of results.
local function cut(d, t, cuts, most, stream)
  local tiles = ceil(ceil(d.each, 8), cuts)
  local passes = ceil(tiles, math.max(1, (t.group and GROUPED or STAGED) // t.side))
  local c = { cuts = cuts, passes = passes, tiles = ceil(tiles, passes), pitch = ROWS * t.side + 4 }
  c.columns = c.passes * c.tiles * 8
  c.stream = stream
  c.weights = stream and loops.RING * c.tiles * 8 * 16 or t.group and ceil(t.steps, 4) * c.columns * 16 or t.steps * c.columns * 4
  c.offsets = t.group and ceil(t.steps, 2) * 4 or t.steps * 16
  c.shared = c.weights * 16 + (c.offsets + #t.sets * c.columns + c.tiles * 8 * c.pitch + (t.group and 8 * t.eights or d.channels) * t.apart) * 4
  if c.shared + 1024 > most then return nil end
  c.blocks = math.min(2, (most + 1024) // (c.shared + 2048))
  return c
end

-- Clocks of a warp for its sixteen rows.
local function clocks(chip, t, c)
  local products = t.fourth and 4 or 3
  if t.group then
    return c.cuts * (c.passes * t.steps * costs.warp_clocks(chip, "wgmma") * math.max(c.tiles, 3) * products + numel(t.box.reads) * t.eights * 8 / 16)
  end
  return c.cuts * c.passes * t.steps * costs.step_clocks(chip, c.tiles, products)
end

-- The fastest cuts; two blocks beside each other hide each other's waiting.
local function cuts(chip, d, t)
  local streams = t.group and #t.sets == 1
  local all = lists.times(math.max(1, ceil(d.each, 16)), function(count)
    return cut(d, t, count, chip.shared_block) or streams and cut(d, t, count, chip.shared_block, true) or false
  end)
  local best = lists.least(all, function(c) return c and clocks(chip, t, c) * (c.blocks == 1 and 1.15 or 1) or nil end)
  if best then best.clocks = clocks(chip, t, best) end
  return best
end

-- For warpgroup products channels come in eights: their number. With fewer than eight channels it is 1, and the number of neighbouring
-- places whose channels fill the eight. Nil if warpgroup products do not serve.
local function eights(d)
  if d.channels % 8 == 0 then return d.channels // 8 end
  if d.channels > 7 or d.transposed then return nil end
  local best = 1
  for near = 2, math.min(8 // d.channels, d.window[3]) do
    if ceil(d.window[3], near) < ceil(d.window[3], best) then best = near end
  end
  if ceil(d.window[3], best) * 8 > 2 * d.window[3] * d.channels then return nil end
  return 1, best
end

-- How many boxes of a line a block takes one after the other. The results of neighbouring boxes share sectors of memory; if two
-- blocks write them at different times, memory reads and writes the sectors twice. No block gets much more work than others.
local function run_of(d, t)
  local across, blocks = ceil(t.places[3], t.box.size[3]), math.max(1, t.blocks * t.chip.sms // (d.groups * t.cuts))
  for run = math.min(across, 8), 2, -1 do
    if across % run == 0 and ceil(t.items, blocks * run) * run <= 1.05 * t.items / blocks then return run end
  end
  return 1
end

--- How a convolution would be done: a table, or nil and why not. `d`: as of kernel_conv.lua, without texts.
---@param d cawb.Conv
function M.shape(d, chip)
  local t = d.transposed and transposed(d) or direct(d)
  t.chip = chip
  if #t.sets > 64 then return nil, "its stride makes too many sets of outputs" end
  t.by_channel = d.channels % 8 == 0
  if chip.tensor == "wgmma" then t.eights, t.near = eights(d) end
  t.group = t.eights and true or nil
  t.box = shape_of(d, t)
  if not t.box then return nil, "a box of it has too many channels" end
  t.steps, t.taps = count_steps(d, t)
  t.side = d.transposed and math.min(d.stride[3], d.out[3]) or 1      -- sets whose outputs take turns along the last axis
  t.apart = apart_of(t.box, t.by_channel and not t.group)
  t.fourth = d.channels * numel(d.window) <= pack.SHORT or nil
  local c = cuts(chip, d, t)
  if not c then return nil, "its weights do not fit into shared memory" end
  for key, value in pairs(c) do t[key] = value end
  t.items = d.batch * t.box.boxes
  t.run = run_of(d, t)
  return t
end

-- ---- text

local function table_of(rows)
  return table.concat(lists.map(rows, function(row) return "{ " .. table.concat(row, ", ") .. " }" end), ", ")
end

local function tables(h, t)
  local taps, sets = {}, {}
  for k, set in ipairs(t.sets) do
    sets[k] = { set.before, #set.taps, set.first, set.steps, table.unpack(set.residue) }
    lists.append(taps, set.taps)
  end
  if #taps == 0 then taps[1] = { 0, 0, 0, 0 } end
  h.TAPCOUNT, h.TAPS, h.SETTABLE = #taps, table_of(taps), table_of(sets)
end

local letters = { "D", "H", "W" }

-- Threads for each column of a pass: few, because each does much besides adding.
local function lanes_of(tiles) return tiles <= 4 and 8 or tiles <= 8 and 4 or 2 end

-- Holes where parts of sums over the results are asked for (box_partial.cu), and where not.
local function add_parts(h, d, t)
  h.SUMMED, h.MORE, h.ATONCE = d.summed and true or nil, "", 8
  h.FIRSTPASS = ("redo == 2 ? %d : 0"):format(h.LINES * t.passes)
  if not d.summed then return end
  h.MORE, h.FIRSTPASS, h.ATONCE = ", float *__restrict__ parts", "0", 4
  h.LANES, h.SQUARES = lanes_of(t.tiles), d.squares or nil
  h.PACKS = ROWS // 4 // h.LANES
  h.PACK = ("%d * lane + (k + %d * lane) %% %d"):format(h.PACKS, 8 // h.LANES, h.PACKS)
  h.SAYS = d.squares and "the mean, and the squared distances from it" or "the sum"
  h.ITEMSEACH, h.PLANE = t.box.boxes, ("%dll"):format(t.items * h.ALL)
end

local function holes(d, t)
  local h = { ROWS = ROWS, THREADS = THREADS, BLOCKS = t.blocks, SETS = #t.sets, CHANNELS = d.channels, GROUPS = d.groups, EACH = d.each,
              ALL = d.each * d.groups, COLUMNS = t.columns, CUTS = t.cuts, STEPS = t.steps, TILES = t.tiles, PASSES = t.passes, ITEMS = t.items,
              UNIT = t.box.unit, PLACES = numel(t.box.reads), UNITS = numel(t.box.reads) * (t.eights or d.channels // t.box.unit), APART = t.apart,
              PAIR = t.box.unit == 1 and not d.transposed and d.window[3] > 1 and d.dilation[3] == 1 or nil, INH = t.box.reads[2], INW = t.box.reads[3],
              FOURTH = t.fourth, BOX = d.name }
  h.RUN = t.run
  h.TURNS = ceil(h.UNITS, THREADS)
  h.STAY = not h.PAIR and THREADS % h.PLACES == 0 or nil
  h.SIDE, h.LINES, h.PITCH = t.side, #t.sets // t.side, t.pitch
  h.SPREAD = math.min(THREADS, ROWS)
  h.RUNS = ROWS * t.side // h.SPREAD
  h.RAGGED = t.cuts * t.columns > d.each or nil
  h.BESIDE = t.tiles % 2 == 0 and 2 or 1
  h.TOGETHER = t.tiles % 2 == 0 and 8 or 4
  for axis, letter in ipairs(letters) do
    h["BOX" .. letter], h["DOWN" .. letter] = t.box.size[axis], ceil(t.places[axis], t.box.size[axis])
    h["STEP" .. letter], h["FIRST" .. letter], h["SIZE" .. letter] = t.step[axis], t.first[axis], d.size[axis]
    h["OUT" .. letter], h["LAST" .. letter] = t.out[axis], d.out[axis]
  end
  h.WHAT = ("a convolution of %d channels to %d, %d taps"):format(d.channels, d.each, numel(d.window))
  h.TERMS = ("taps * %d"):format(d.channels)
  h.PART = t.by_channel and ("{ k %% %d, k / %d }"):format(d.channels, d.channels) or "{ k / taps, k % taps }"
  h.OUTIN = d.transposed and ("column, z * %d + at.x"):format(d.channels) or "o, at.x"
  h.VALUE = d.bias and ("sum + %s_bias(%s, o)"):format(d.name, template.names(d.parameters)) or "sum"
  add_parts(h, d, t)
  tables(h, t)
  loops.holes(h, d, t)
  return h
end

-- Access functions; an epilogue's parts of sums, and those of flat axes, call others.
local functions = {
  "float element(long long p, int d, int h, int w)", "void write(long long p, int d, int h, int w, float value)",
  "float load(long long p, int d, int h, int w)", "float weight(int o, int c, int t)", "void put(long long p, int d, int h, int w, float value)",
  "float follow(long long p, int d, int h, int w, float value)", "float summed(long long p, int d, int h, int w, float value)", "float bias(int o)" }

local function accesses(d)
  local pass, where = template.names(d.parameters), unfolded(d.folds)
  local own = { element = d.load, write = d.store, follow = d.summed, load = ("return %s_element(%s, p, %s);"):format(d.name, pass, where),
                put = ("%s_write(%s, p, %s, value);"):format(d.name, pass, where),
                summed = d.summed and ("return %s_follow(%s, p, %s, value);"):format(d.name, pass, where) or false }
  return template.functions(setmetatable(own, { __index = d }), functions)
end

local function launch_weights(d, t, own, made)
  local columns = d.groups * t.cuts * #t.sets * t.columns
  return { kernel = own.name, grid = { ceil(columns, 4) }, block = { 128 }, prepare = own.prepare,
           arguments = template.arguments(own, made.weights, made.scales, made.wide) }
end

--- The kernels of a convolution whose shape M.shape gave. `own`: a description of the kernel that brings the weights into their
--- order: name, parameters, arguments, weight; `prepare`, where it may run before the first call.
function M.generate(d, t, own)
  local h = holes(d, t)
  local made = { weights = { scratch = d.name .. "_halves", dtype = "uint8", numel = math.max(16, d.groups * t.cuts * h.KEPT * 16) },
                 scales = { scratch = d.name .. "_scales", dtype = "float32", numel = d.groups * t.cuts * #t.sets * t.columns },
                 wide = { scratch = d.name .. "_wide", dtype = "int32", numel = 1, flag = true } }
  local weight = template.access(own, "weight", "float", { "int o", "int c", "int t" }, own.weight)
  local front = template.fill("tensor/templates/box_taps", d, h)
  local packing = template.complete(own, { weight }, template.fill("tensor/templates/box_weights", own, h))
  h.PARTSUMS = d.summed and template.fill("tensor/templates/box_partial", d, h) or ""
  h.STEPSTEXT = template.fill(t.group and "tensor/templates/box_group" or "tensor/templates/box_warp", d, h)
  local main = template.complete(d, accesses(d), template.fill("tensor/templates/box", d, h))
  local all = d.groups * t.cuts
  local blocks = math.min(t.items // t.run, math.max(1, t.blocks * t.chip.sms // all)) * all
  return { how = ("float32 by %s products of fp16 pairs (%s, boxes)"):format(t.fourth and "four" or "three", t.group and "wgmma" or "mma"), text = front .. "\n" .. packing .. "\n" .. main, needs = { "tensor", "tensor_box", "tensor_mma" }, launches = {
    { fill = made.wide, value = 0, prepare = own.prepare }, launch_weights(d, t, own, made),
    { kernel = d.name, grid = { blocks }, block = { THREADS }, shared = t.shared,
      arguments = template.arguments(d, made.weights, made.scales, made.wide, d.parts) } } }
end

return M

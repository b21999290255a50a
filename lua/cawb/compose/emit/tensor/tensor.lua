-- tensor: sums of products on tensor cores at float32's accuracy. There are two main loops: `wgmma`, Hopper's warpgroup instructions,
-- and `mma`, those of every tensor core since Ampere. Each factor is packed once as pairs of 16-bit halves; a factor made of
-- parameters alone before the first call. Then one kernel multiplies and computes the epilogue.
--
-- Packing notes lost bits that may count in a sum without large terms (count_lost, parts/tensor.cuh). Then there are three ways:
--   again   a large product looks at each result. Lost bits count in results that are small beside the largest of their row and
--           column; these are computed again in float32
--   full    if such results are many, or most rows lose bits, further kernels do all of it in three bfloat16 parts, which keep
--           every bit of a float32
--   plain   otherwise, and where a number is infinite, it is done without tensor cores
--
-- A geometry describes the product. kernel_matrix.lua or kernel_conv.lua makes it:
--   what            in words
--   terms           products of a sum
--   batch           how many such products lie beside each other (z)
--   rows, columns   of the result
--   sets            { { shifts of the steps' taps, in rows of the left factor }, ... }: results that share factors.
--                   A set has chunks * #shifts steps, chunk after chunk, the taps of a chunk one behind the other
--   left, right     the factors; the right one's depth is 64 a step:
--     rows, depth   depth: numbers of a row
--     element       function(body, z, row, k) -> C text
--     along         whether neighbours along k are neighbours in memory
--     count         numbers of a row in a chunk, as C of `chunk`, if they do not follow from the depth
--     alike         whether it is the same for every z, of 16-bit numbers
--     gaps          whether a NaN of this factor must not meet a -0.0f of the right one, which stands for no number
--   write           function(body, root, names) writes two neighbouring columns' results, see `put`
--   turned          if neighbours in memory are neighbouring rows: { side = 1, 2 or 4 neighbouring columns that lie together too,
--                   write = function(body, root, name) writes one result, of column `side` of `line` }
--   tables          C, in front
--   hidden          { c = function(rows, columns, row, column) -> C: whether `write` shows nothing of so many rows and columns from
--                   there on, is = the same of numbers }
--   again, full     whether it is large enough for these kernels
--   chip            that it is for
--   streamed        bytes of results from which on sums of one step are written past the caches, if not the default

local costs = require "cawb.compose.cost.products"
local pack = require "cawb.compose.emit.tensor.pack"
local rates = require "cawb.compose.cost.rates"
local template = require "cawb.compose.emit.template"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

local ceil = template.ceil

local CHUNK, TILE = pack.CHUNK, tiles.ROWS      -- along k; rows of a tile
local MOST_ORDERED = 4096             -- tiles whose order stands in a table

local joined, place = pack.joined, pack.place

-- Text of the instruction's operands for so many sums a thread.
local function instruction(h, sums)
  local registers, outputs = {}, {}
  for j = 0, sums - 1 do
    registers[j + 1] = "%" .. j
    outputs[j + 1] = ('"+f"(d[%d])'):format(j)
  end
  h.REGISTERS, h.OUTPUTS = table.concat(registers, ", "), table.concat(outputs, ", ")
  h.ADA, h.ADB, h.AKEEP = sums, sums + 1, sums + 2
end

-- The steps of each set, as C of `set` and `step`.
local function stepping(h, geometry, chunks)
  local sets = geometry.sets
  h.SETS, h.TABLES = #sets, ""
  if #sets == 1 and #sets[1] == 1 and sets[1][1] == 0 then
    h.STEPS, h.BEFORE, h.CHUNK, h.SHIFT = chunks, 0, "step", 0
    return 0, chunks
  end
  local taps, first, shifts, most = {}, {}, {}, 0
  for k, set in ipairs(sets) do
    taps[k], first[k] = #set, #shifts
    for _, shift in ipairs(set) do
      shifts[#shifts + 1] = shift
      most = math.max(most, shift)
    end
  end
  h.TABLES = ("static __constant__ int %s_taps[] = { %s }, %s_first[] = { %s }, %s_shifts[] = { %s };\n"):format(h.KERNEL,
    table.concat(taps, ", "), h.KERNEL, table.concat(first, ", "), h.KERNEL, table.concat(shifts, ", "))
  local function at(what) return #sets == 1 and tostring(what[1]) or nil end
  local count = at(taps) or h.KERNEL .. "_taps[set]"
  h.STEPS, h.BEFORE = ("%d * %s"):format(chunks, count), ("%d * %s"):format(chunks, at(first) or h.KERNEL .. "_first[set]")
  h.CHUNK = ("step / %s"):format(count)
  h.SHIFT = ("%s_shifts[%sstep %% %s]"):format(h.KERNEL, #sets == 1 and "" or h.KERNEL .. "_first[set] + ", count)
  return most, chunks * #shifts
end

-- After how many tiles so many blocks would take tiles of the same sets again, where these are not alike and not all sets; or nil.
local function round_of(sets, blocks)
  local a, b, alike = blocks, #sets, true
  for _, set in ipairs(sets) do alike = alike and #set == #sets[1] end
  while b > 0 do a, b = b, a % b end
  return not alike and a > 1 and blocks // a * #sets or nil
end

-- The products of a step, the small ones first, as C: which parts of the left factor and the right one.
local pairs_of = { three = { { 1, 0 }, { 0, 1 }, { 0, 0 } }, four = { { 1, 1 }, { 1, 0 }, { 0, 1 }, { 0, 0 } },
                   six = { { 2, 0 }, { 1, 1 }, { 0, 2 }, { 1, 0 }, { 0, 1 }, { 0, 0 } } }

local MMA = "        %s_multiply(part, from + %d * %s_A, from + %d * %s_A + %d * %s_B, down, across, first);"

local function list_of(h)
  local lines = {}
  for n, pair in ipairs(h.loop == "mma" and pairs_of[h.PRODUCTS] or {}) do
    lines[n] = MMA:format(h.LOOP, pair[1], h.LOOP, h.PARTS, h.LOOP, pair[2], h.LOOP)
  end
  if #lines > 0 then return table.concat(lines, "\n") end
  for n, pair in ipairs(pairs_of[h.PRODUCTS]) do
    lines[n] = ("#pragma unroll\n        for (int k = 0; k < %d; k++)\n          %s_multiply(part, da + %d * %s_A / 16 + 2 * (first + k), db + %d * %s_B / 16 + 2 * (first + k), %s);")
      :format(h.TERMS // 16, h.LOOP, pair[1], h.LOOP, pair[2], h.LOOP, n == 1 and "k > 0" or "1")
  end
  return table.concat(lines, "\n")
end

-- Tiles that are shown come ahead of hidden ones, so that each block has as many of them as others: a table in front, and the tile's
-- number as C.
local function order_of(h, geometry)
  local many = h.DOWN * h.ACROSS
  local plain = ("i %% %d"):format(many)
  if not geometry.hidden or many > MOST_ORDERED or h.SETS * h.BATCH > 1 or h.SPLIT then return "", plain end
  local shown, others = {}, {}
  for t = 0, many - 1 do
    local group, inside = t // (h.GROUP * h.ACROSS), t % (h.GROUP * h.ACROSS)
    local rows = math.min(h.DOWN - group * h.GROUP, h.GROUP)
    local m, n = group * h.GROUP + inside % rows, inside // rows
    table.insert(geometry.hidden.is(TILE, h.TILEN, m * TILE, n * h.TILEN) and others or shown, t)
  end
  return ("static __constant__ unsigned short %s_order[] = { %s };\n"):format(h.KERNEL, table.concat(joined(shown, others), ", ")),
    ("%s_order[%s]"):format(h.KERNEL, plain)
end

-- C that is true for results that are shown, in front of another condition: for the first and the second of two neighbours.
local function shown(geometry)
  if not geometry.hidden then return "", "" end
  return ("!(%s) && "):format(geometry.hidden.c(1, 1, "row", "column")), ("!(%s) && "):format(geometry.hidden.c(1, 1, "row", "(column + 1)"))
end

-- Sums of one step are bound by their writes: rows of tiles go one after the other, past the caches. `bytes`: of a result.
local function is_streaming(g, steps, bytes)
  return steps == 1 and bytes * g.batch * g.rows * g.columns >= (g.streamed or costs.streamed(g.chip))
end

local function holes(kernel, geometry, loop)
  local g, chunks, longest = geometry, ceil(geometry.left.depth, CHUNK), 0
  for _, set in ipairs(g.sets) do longest = math.max(longest, chunks * #set) end
  local tile, parts = tiles.cut(g, loop, longest)
  local h = { KERNEL = kernel.name, WHAT = g.what, M = g.rows, N = g.columns, DEPTH = g.left.depth, ROWS = g.left.rows, BATCH = g.batch,
              TILEM = TILE // 2, TILEN = tile, SUMS = tile // 2, DOWN = ceil(g.rows, TILE), ACROSS = ceil(g.columns, tile), GROUP = 16,
              PARTS = 2, TYPE = "f16", TERMS = CHUNK, LOOP = kernel.name, FIRST = true, GAPS = g.left.gaps, PLACES = g.batch * g.rows * ceil(g.columns, 2) }
  local most, all = stepping(h, g, chunks)
  h.FOURTH = g.terms <= pack.SHORT or nil
  h.PRODUCTS = h.FOURTH and "four" or "three"
  h.AROWS, h.ALLSTEPS = most > 0 and TILE + 8 or TILE, all
  h.REACH = h.DOWN * TILE + most // 8 * 8 + (most > 0 and 8 or 0)
  local all_tiles = h.DOWN * h.ACROSS * g.batch * h.SETS
  h.PER = ceil(longest, parts)
  h.SPLITS = ceil(longest, h.PER)
  h.SPLIT, h.ITEMS = h.SPLITS > 1 or nil, all_tiles * h.SPLITS
  h.ROUND = round_of(g.sets, g.chip.sms)
  h.MORE = h.SPLIT and ", float *__restrict__ partial" or ""
  h.HIDDEN = g.hidden and ("%s ? part * %d : "):format(g.hidden.c(TILE, tile, ("m * %d"):format(TILE), ("n * %d"):format(tile)), h.PER) or ""
  h.SHOWN, h.OTHERSHOWN = shown(g)
  h.ONE = longest == 1
  h.is_streaming = is_streaming(g, longest, 4)
  if h.is_streaming then h.GROUP = 1 end
  h.ORDER, h.NUMBER = order_of(h, g)
  h.TABLES = h.TABLES .. h.ORDER
  h.loop, h.chip = loop, g.chip
  h.STAGED = loop == "wgmma" and g.turned and not h.SPLIT and tile % g.turned.side == 0 or nil
  if h.STAGED then h.SIDE, h.SPREAD = g.turned.side, math.min(128, 64 * g.turned.side) end
  h.MULTIPLY = "multiply_16"
  if loop == "wgmma" then instruction(h, h.SUMS) end
  h.LIST = list_of(h)
  return h
end

-- The conditions under which each of the plan's other kernels has nothing to do.
local function divide(h, left, right)
  local beyond = "is_beyond(a_wide, b_wide)"
  h.RANGES = "const int *__restrict__ a_wide, const int *__restrict__ b_wide, "
  h.WIDE = ("too_wide(a_wide, %d, b_wide, %d)"):format(left.most, right.most)
  h.VAST = ("a_wide[4] > %d || b_wide[4] > %d"):format(left.vast, right.vast)
  h.PLAIN = h.CHECK and beyond or beyond .. " || " .. h.WIDE
  h.OTHER = h.PLAIN
  h.DONE = h.CHECK and not h.is_full and ("%s || %s"):format(h.PLAIN, h.VAST) or h.PLAIN       -- there are no parts of sums
  h.NOTFULL = ("%s || *many <= %d"):format(beyond, h.AGAIN)
  h.PLAINLY = h.is_full and "what is infinite, or nearly" or "what is infinite, and numbers of too wide a range"
end

-- Results that may be computed again before it is better to compute all: one in 2048, and a place for each.
local function again(kernel, geometry, h)
  h.AGAIN = math.max(1 << 12, #geometry.sets * geometry.batch * geometry.rows * geometry.columns >> 11)
  return { list = { scratch = kernel.name .. "_again", dtype = "int64", numel = h.AGAIN },
           many = { scratch = kernel.name .. "_many", dtype = "int32", numel = 1, flag = true } }
end

-- Shared memory of a block, and its stages; nil where a tile does not fit.
local function shared_of(h) return tiles.shared(h.chip, h.loop, h.loop == "mma" and TILE or h.AROWS, h.TILEN, h.PARTS, h.STAGED) end

-- The loop's holes for three parts of bfloat16.
local function full_holes(h)
  local f = setmetatable({}, { __index = h })
  h.FULL = true
  f.MORE, f.CHECK = h.MORE .. ", const int *__restrict__ many", false
  f.LOOP, f.TYPE, f.MULTIPLY, f.PARTS, f.TERMS, f.PRODUCTS, f.OTHER = h.LOOP .. "_full", "bf16", "multiply_narrow", 3, 32, "six", h.NOTFULL
  f.STAGED = false
  f.SHARED, f.STAGES = shared_of(f)
  f.LIST, f.FIRST = list_of(f), false
  return f
end

-- The threads of the plain kernel by element: neighbours in memory go to neighbouring threads.
local function plain_order(factor)
  if factor.along then return "j % 16", "j / 16" end
  return "j / 64", "j % 64"
end

local function threads_of(h) return h.loop == "mma" and 256 or 384 end

-- The epilogue of two sums of neighbouring columns, 2 pair and 2 pair + 1.
local function put(kernel, geometry, streams)
  local body = pack.body_like(kernel, nil, geometry.columns % 2 == 0 and 2 or 1)
  body.streams = streams
  geometry.write(body, kernel.roots[1], { "first", "second" })
  return body
end

-- The writing of two sums of the loop `wgmma`, if they are not turned in shared memory.
local PARTIAL = [[
        float *to = partial + (((size_t)tile.z * %d + tile.part) * %d + row) * %d + column;
        if (column + 1 < %d) %s;
        else if (column < %d) to[0] = first;]]

-- The access function that writes one sum, of those that are turned.
local function put_one(kernel, geometry, own, after)
  local body = pack.body_like(kernel, after)
  geometry.turned.write(body, kernel.roots[1], "value")
  return template.access(own, "put_one", "void", { "int set", "int z", "int row", "int line", "int side", "float value" }, body:text())
end

-- The text of a main loop: `PUT` writes the sums of a thread of Hopper's.
local function loop_text(own, h, loop)
  h.PUT = loop == "wgmma" and template.fill("tensor/templates/put_wgmma", own, h):gsub("\n$", "") or nil
  return template.fill("tensor/templates/" .. loop, own, h)
end

local function text_of(kernel, geometry, h, f)
  local after = put(kernel, geometry, h.is_streaming)
  local one, other = pack.reads_one(kernel, after, geometry, geometry.left), pack.reads_one(kernel, after, geometry, geometry.right)
  local own, nodes = { name = kernel.name }, nil
  own.parameters, nodes = after:declarations()
  local turned = h.STAGED and put_one(kernel, geometry, own, after) or ""
  h.STORE = ("        if (column < %d) %s_put(%s, tile.set, tile.z, row, column / 2, first, second);"):format(geometry.columns,
    kernel.name, template.names(own.parameters))
  local result = { "int set", "int z", "int row", "int pair", "float first", "float second" }
  local both = h.N % 2 == 0 and "*(float2 *)to = make_float2(first, second)" or "to[0] = first, to[1] = second"
  h.RESULT = h.SPLIT and PARTIAL:format(h.SPLITS, h.M, h.N, h.N, both, h.N) or h.STORE
  local text = template.complete(own, { template.access(own, "put", "void", result, after:text()),
    turned, template.access(own, "left", "float", place, one:text()), template.access(own, "right", "float", place, other:text()) },
    table.concat({ template.fill("tensor/templates/tiles", own, h), template.fill("tensor/templates/plain", own, h), loop_text(own, h, h.loop),
      f and loop_text(own, f, h.loop) or "", h.SPLIT and template.fill("tensor/templates/finish", own, h) or "", h.CHECK and template.fill("tensor/templates/again", own, h) or "" }, "\n"))
  return text, nodes, after.headers
end

local function octets_of(h) return { left = ceil(h.REACH, 8), right = h.ACROSS * h.TILEN // 8 } end

-- A factor in three parts lies where its halves did, which nobody reads any more, unless these were made before the first call.
local function share_place(made, half)
  if half.parameters_alone then return end
  half.packed.numel = made.packed.numel
  made.packed, made.scales = half.packed, half.scales
end

-- The launches that pack factors in three parts of bfloat16, and their texts. `packed`: the factors in halves, by side.
local function full_packing(kernel, geometry, h, packed, many)
  local unless, octets = ("*many <= %d"):format(h.AGAIN), octets_of(h)
  if not packed.left.parameters_alone and not packed.right.parameters_alone then
    local left, right, text, launch = pack.both(kernel, geometry, octets, pack.full, unless)
    share_place(left, packed.left)
    share_place(right, packed.right)
    launch.arguments = joined(right.nodes, { left.packed, left.scales, packed.left.wide, right.packed, right.scales, packed.right.wide, many })
    return { launch }, { text }, { left.packed, left.scales, right.packed, right.scales }
  end
  local steps, texts, factors = {}, {}, {}
  for _, side in ipairs { "left", "right" } do
    local alone = packed[side].parameters_alone
    local made = pack.kernel(kernel, geometry, side, octets[side], alone and pack.full_once or pack.full, not alone and unless or nil)
    share_place(made, packed[side])
    made.launch.prepare = alone
    made.launch.arguments = joined(made.nodes, { made.packed, made.scales, packed[side].wide }, not alone and { many } or {})
    steps[#steps + 1], texts[#texts + 1] = made.launch, made.text
    factors[#factors + 1], factors[#factors + 2] = made.packed, made.scales
  end
  return steps, texts, factors
end

-- The same, and the launch that multiplies them.
local function full_launches(kernel, geometry, h, f, nodes, more, packed, many)
  local steps, texts, factors = full_packing(kernel, geometry, h, packed, many)
  steps[#steps + 1] = { kernel = f.LOOP, grid = { math.min(h.ITEMS, geometry.chip.sms) }, block = { threads_of(f) }, shared = f.SHARED,
                        arguments = joined(nodes, factors, more) }
  return steps, table.concat(texts, "\n")
end

local function multiplying(kernel, geometry, h, left, right)
  h.ABATCH, h.BBATCH, h.AOCTETS, h.BOCTETS = left.chunks, right.chunks, left.octets, right.octets
  h.AK, h.AR = plain_order(geometry.left)
  h.BK, h.BR = plain_order(geometry.right)
  local checked = again(kernel, geometry, h)
  divide(h, left, right)
  local f = h.is_full and full_holes(h) or nil
  if h.CHECK then h.MORE = h.MORE .. ", long long *__restrict__ again, int *many" end
  local text, nodes, headers = text_of(kernel, geometry, h, f)
  local flags = { left.wide, right.wide }
  local launches = { { kernel = kernel.name, grid = { math.min(h.ITEMS, geometry.chip.sms) }, block = { threads_of(h) }, shared = h.SHARED,
    arguments = joined(nodes, { left.packed, left.scales, right.packed, right.scales }, flags) } }
  local partial
  if h.SPLIT then
    partial = { scratch = kernel.name .. "_partial", dtype = "float32",
                numel = geometry.batch * h.SPLITS * geometry.rows * geometry.columns }
    table.insert(launches[1].arguments, partial)
  end
  if h.CHECK then
    launches[1].arguments = joined(launches[1].arguments, { checked.list, checked.many })
    table.insert(launches, 1, { fill = checked.many, value = 0 })
  end
  if f then
    local behind = joined(flags, partial and { partial } or {}, { checked.many })
    local steps, more = full_launches(kernel, geometry, h, f, nodes, behind, { left = left, right = right }, checked.many)
    launches, text = joined(launches, steps), more .. "\n" .. text
  end
  if h.SPLIT then
    launches[#launches + 1] = { kernel = kernel.name .. "_finish", grid = { math.min(ceil(h.PLACES, 256), 16 * geometry.chip.sms) }, block = { 256 },
                                arguments = joined(nodes, flags, { partial }) }
  end
  if h.CHECK then
    launches[#launches + 1] = { kernel = kernel.name .. "_again", grid = { math.min(8 * geometry.chip.sms, ceil(h.AGAIN, 8)) }, block = { 256 },
                                arguments = joined(nodes, { left.packed, left.scales, right.packed, right.scales }, flags, { checked.list, checked.many }) }
  end
  return text, launches, headers
end

-- The packing of both factors: each, texts, and the steps.
local function packing(kernel, geometry, octets, how)
  local left, right = pack.kernel(kernel, geometry, "left", octets.left, how), pack.kernel(kernel, geometry, "right", octets.right, how)
  local steps = {}
  for _, factor in ipairs { left, right } do
    factor.launch.prepare = factor.parameters_alone
    steps[#steps + 1] = { fill = factor.wide, value = 0, prepare = factor.parameters_alone }
    steps[#steps + 1] = factor.launch
  end
  if left.parameters_alone or right.parameters_alone then return left, right, { left.text, right.text }, steps end
  local text, launch
  left, right, text, launch = pack.both(kernel, geometry, octets, how)
  return left, right, { text }, { steps[1], steps[3], launch }
end

--- The main loop for a chip, or nil and why there is none; `any`: where it is slower than plain arithmetic, too.
function M.loop(chip, any)
  local why = rates.refusal(chip)
  if why and not (any and chip.tensor) then return nil, why end
  return chip.tensor
end

--- The same, where a tile of packed factors fits.
function M.packed_loop(chip, any)
  local loop, why = M.loop(chip, any)
  if loop and not tiles.widest(chip) then return nil, "no tile fits into a block's shared memory" end
  return loop, why
end

--- The kernels of a geometry: text and launches, as every generator returns them. `kernel.roots[1]` is the
--- result, or a node that follows it element by element. `loop`: as M.loop returns it.
function M.kernels(kernel, geometry, loop)
  local h = holes(kernel, geometry, loop)
  h.is_full = geometry.full and shared_of(setmetatable({ PARTS = 3, STAGED = false }, { __index = h })) ~= nil
  h.SHARED, h.STAGES = shared_of(h)
  h.CHECK = geometry.full or geometry.again or nil
  local left, right, packed, steps = packing(kernel, geometry, octets_of(h), h.is_full and pack.checked or pack.halves)
  local text, launches, headers = multiplying(kernel, geometry, h, left, right)
  for _, factor in ipairs { left, right } do
    for header in pairs(factor.headers) do headers[header] = true end
  end
  local pieces = joined({ h.TABLES .. (geometry.tables and geometry.tables() or "") }, packed, { text })
  return { text = table.concat(pieces, "\n"), pieces = pieces, headers = headers,
           how = ("float32 by %s products of fp16 pairs (%s)"):format(h.PRODUCTS, loop), needs = { "tensor", table.unpack(loop == "mma" and { "tensor_mma", h.is_full and "tensor_attend" or nil } or {}) },
           launches = joined(steps, launches) }
end

--- For the generator of gathered factors: the products of a step as C, their instruction's operands, the epilogue of two sums.
M.list_of, M.instruction, M.put = list_of, instruction, put

--- For sums of 16-bit numbers: the steps of each set, the order of tiles, what is shown of them, the writing of parts of sums.
M.stepping, M.order_of, M.round_of, M.shown, M.PARTIAL, M.TURNED, M.put_one, M.is_streaming = stepping, order_of, round_of, shown, PARTIAL, tiles.TURNED, put_one, is_streaming

--- For the generator of boxes: a step's products, the small ones first: which parts of the left factor and the right one.
M.pairs_of = pairs_of

return M

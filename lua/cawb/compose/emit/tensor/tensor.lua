-- tensor: sums of products on tensor cores at float32's accuracy. There are two main loops: `wgmma`, Hopper's warpgroup instructions,
-- and `mma`, those of every tensor core since Ampere. Each factor is packed once as pairs of 16-bit halves; a factor made of
-- parameters alone before the first call. Then one kernel multiplies and computes the epilogue.
--
-- Packing notes lost bits that may count in a sum without large terms (count_lost, parts/tensor.cuh). Then there are these ways:
--   again   a large product looks at each result. Lost bits count in results that are small beside the largest of their row and
--           column; these are computed again in float32
--   full    if such results are many, or most rows lose bits, further kernels do all of it in three bfloat16 parts, which keep
--           every bit of a float32
--   wide    otherwise the kernel that finds it splits factors into three parts on their way, where no factor is of parameters
--   plain   what remains is done without tensor cores: where a number is infinite, or factors are of parameters
-- Where k is in parts, it is for wide and plain, too: one tile by itself would keep one multiprocessor busy for all of k.
-- A product or convolution of gradients (`apart`) is packed as three parts at once.
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
--   write           function(body, root, names) writes two neighbouring columns' results, see epilogue.lua; or eight, where it has `eight`
--   turned          if neighbours in memory are neighbouring rows: { side = 1, 2 or 4 neighbouring columns that lie together too,
--                   write = function(body, root, name) writes one result, of column `side` of `line` }
--   tables          C, in front
--   hidden          { c = function(rows, columns, row, column) -> C: whether `write` shows nothing of so many rows and columns from
--                   there on, is = the same of numbers }
--   again, full     whether it is large enough for these kernels
--   wide            whether numbers of too wide a range are split on the way where there are no kernels for them: no factor is of parameters
--   apart           whether numbers of its sums lie far apart as a rule: the three ways above are not tried
--   often           whether sums leave the tensor cores every 32 terms, not 64 (pack.lua)
--   chip            that it is for
--   dtype           of both factors, where they are numbers of 16 bits as they are (sixteen.lua); where they are of 8 bits, depths count words of two,
--                   and a factor has its own dtype, and `halves`, itself by numbers
--   leaves          of such numbers: whether sums leave the tensor cores, which cut them off, behind each step
--   streamed        bytes of results from which on sums of one step are written past the caches, if not the default

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local epilogue = require "cawb.compose.emit.tensor.epilogue"
local grid = require "cawb.compose.emit.tensor.grid"
local grids = require "cawb.compose.emit.grids"
local lift = require "cawb.compose.emit.lift"
local pack = require "cawb.compose.emit.tensor.pack"
local rates = require "cawb.compose.cost.rates"
local template = require "cawb.compose.emit.template"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

local ceil, joined = template.ceil, grids.joined

local WIDE = { columns = 64, bytes = 3 * 80 * (128 + 64) }      -- of a tile whose factors are split on the way

local FACTORS = ", const unsigned char *__restrict__ a, const float *__restrict__ a_scales, const unsigned char *__restrict__ b, "
  .. "const float *__restrict__ b_scales, const int *__restrict__ a_wide, const int *__restrict__ b_wide"

-- Of a kernel with so many parts of both factors: bytes of a stage, of both together what one barrier waits for.
local function sized(h)
  local factors, scales = tiles.stage(h.loop, h.AROWS, h.BROWS, h.PARTS)
  h.SHARED, h.STAGES = tiles.shared(h.chip, h.loop, h.AROWS, h.TILEN, h.PARTS, h.STAGED)
  if not h.STAGES then return end
  h.STAGE, h.PACKEDBYTES, h.SCALESAT = factors, factors + scales // 2, h.STAGES * factors
  h.BARRIERS, h.TURNEDAT, h.BAT = h.STAGES, h.STAGES * (factors + scales), h.PARTS * h.AROWS * 128
end

local function holes(kernel, g, loop)
  local tile, parts = tiles.cut(g, loop, grid.longest(g))
  local h = grid.holes(kernel, g, loop, tile, parts, 4)
  h.begin, h.FIRST, h.APART, h.SCALED, h.PACKED, h.APACKED, h.AHERE, h.BPACKED, h.FROM, h.ARRIVALS, h.LOADS = "begin", true, true, true, true, true, true, true, "", 1, "one thread fetches packed factors"
  h.DEEPEST, h.PARTS, h.TYPE, h.TERMS, h.MULTIPLY, h.GAPS, h.INTO, h.AFURTHER, h.BFURTHER, h.BEGINS = pack.CHUNK, 2, "f16", g.often and pack.OFTEN or pack.CHUNK, "multiply_16", g.left.gaps, "part", 2, 2, ""
  h.PRODUCTS = g.terms <= pack.SHORT and "four" or "three"
  return h
end

-- The conditions under which each of the plan's other kernels has nothing to do.
local function divide(h, left, right)
  local beyond = "is_beyond(a_wide, b_wide)"
  h.WIDE = ("too_wide(a_wide, %d/**/, %d/**/, b_wide, %d/**/, %d/**/, %d/**/)"):format(left.most, left.faint, right.most, right.faint, left.bare)
  h.VAST = ("a_wide[4] > %d/**/ || b_wide[4] > %d/**/"):format(left.vast, right.vast)
  h.WIDELY = not h.CHECK and h.WIDEBYTES and h.WIDE or nil
  h.PLAIN = (h.CHECK or h.WIDELY or h.PARTS == 3) and beyond or beyond .. " || " .. h.WIDE
  h.OTHER = h.PLAIN
  -- Kernels behind the one that adds up parts add up their own.
  h.ARRIVES, h.RANGES, h.DONE = h.LAST or h.SPLIT and h.CHECK or nil, "", nil
  if h.CHECK then
    h.RANGES = "const int *__restrict__ a_wide, const int *__restrict__ b_wide, "
    h.DONE = h.is_full and h.PLAIN or ("%s || %s"):format(h.PLAIN, h.VAST)
  end
  h.NOTFULL = ("%s || *many <= %d/**/"):format(beyond, h.AGAIN)
  h.PLAINLY = (h.is_full or h.WIDEBYTES or h.PARTS == 3) and "what is infinite, or nearly" or "what is infinite, and numbers of too wide a range"
end

-- Results that may be computed again before it is better to compute all: one in 2048, and a place for each.
local function again(kernel, geometry, h)
  h.AGAIN = math.max(1 << 12, #geometry.sets * geometry.batch * geometry.rows * geometry.columns >> 11)
  return { list = { scratch = kernel.name .. "_again", dtype = "int64", numel = h.AGAIN },
           many = { scratch = kernel.name .. "_many", dtype = "int32", numel = 1, flag = true } }
end

-- The loop's holes for three parts of bfloat16; nil where a tile of these does not fit. `alone`: there is no loop of pairs ahead.
local function full_holes(h, alone)
  local f = setmetatable({ PARTS = 3, STAGED = false, CHECK = false, FIRST = alone or false }, { __index = h })
  f.LOOP, f.TYPE, f.MULTIPLY, f.TERMS, f.PRODUCTS = alone and h.LOOP or h.LOOP .. "_full", "bf16", "multiply_narrow", pack.FULL, "six"
  f.UNROLLED = alone and "UNROLL" or "RARE"
  sized(f)
  return f.SHARED and f or nil
end

-- The threads of the plain kernel by element: neighbours in memory go to neighbouring threads.
local function plain_order(factor)
  if factor.along then return "j % 16", "j / 16" end
  return "j / 64", "j % 64"
end

--- The text of a main loop: its instruction, what it loads, its steps and its epilogue. `h.begin`, `h.ahead`, `h.load`: templates of what a
--- block begins with, of what it loads ahead of all tiles, and for a step, if not the usual one.
function M.loop_text(own, h)
  local function part(name) return name and template.fill("tensor/templates/" .. name, own, h):gsub("\n$", "") or "" end
  h.LIST, h.BEGIN, h.UNROLLED = arithmetic.list(h), part(h.begin), h.UNROLLED or "UNROLL"
  if h.RIGHTTYPE then h.INSTRUCTION = arithmetic.warp(h.MULTIPLY, h.TYPE, h.RIGHTTYPE) end
  if h.loop == "wgmma" then
    h.INSTRUCTION = arithmetic.group(h.LOOP .. "_multiply", h.PART and 2 * h.PART or h.TILEN, h.TYPE, { h.ATURNS and 1 or 0, h.BTURNS and 1 or 0 }, nil, h.RIGHTTYPE)
    h.AHEAD, h.LOAD, h.STEPS = part(h.ahead), part(h.load or "load"), part("wgmma_" .. (h.APART and not h.PART and "apart" or "whole"))
    h.THEN, h.FEW, h.MANY = h.THEN or "", h.FEW or 40, h.MANY or 232
  end
  return template.fill("tensor/templates/" .. h.loop, own, h)
end

-- The function of sums in parts that are split on the way: an epilogue of 64 columns a tile, of four warps beside each other.
local function wide_text(own, geometry, h)
  local w = setmetatable({ loop = "mma", TILEN = WIDE.columns, EACH = 4, STAGED = false, LAST = false, FINISH = h.SPLIT or false, LIFT = lift(16) }, { __index = h })
  epilogue.holes(w, geometry, own)
  return template.fill("tensor/templates/wide", own, w)
end

local function text_of(kernel, geometry, h, f)
  local after, own = epilogue.pair(kernel, geometry, h.is_streaming), { name = kernel.name }
  local one, other = pack.reads_one(kernel, after, geometry, geometry.left), pack.reads_one(kernel, after, geometry, geometry.right)
  local list, nodes = epilogue.functions(kernel, geometry, h, own, after)
  list[#list + 1] = template.access(own, "left", "float", pack.place, one:text())
  list[#list + 1] = template.access(own, "right", "float", pack.place, other:text())
  local texts = {}
  local function add(name) texts[#texts + 1] = template.fill("tensor/templates/" .. name, own, h) end
  epilogue.holes(h, geometry, own)
  h.LEAVE = template.fill("tensor/templates/result", own, setmetatable({ FINISH = h.SPLIT or false }, { __index = h })):gsub("\n$", "")
  add "tiles"
  add "plain"
  if h.WIDEBYTES then texts[#texts + 1] = wide_text(own, geometry, h) end
  texts[#texts + 1] = M.loop_text(own, h)
  if f then
    epilogue.holes(f, geometry, own)
    texts[#texts + 1] = M.loop_text(own, f)
  end
  if h.FINISH then add "finish" end
  if h.CHECK then add "again" end
  return template.complete(own, list, table.concat(texts, "\n")), nodes, after.headers
end

--- Rows of either factor, as packed ones lie, over eight.
function M.octets(h) return { left = ceil(h.REACH, 8), right = h.ACROSS * h.TILEN // 8 } end

-- A factor in three parts lies where its halves did, which nobody reads any more, unless these were made before the first call.
local function share_place(made, half)
  if half.parameters_alone then return end
  half.packed.numel = made.packed.numel
  made.packed, made.scales = half.packed, half.scales
end

-- The launches that pack factors in three parts of bfloat16 and multiply them, and their texts. `packed`: the factors in halves, by side;
-- `more`: arguments of the product behind the factors, the last of them how many results are to be computed again.
local function full_launches(kernel, geometry, h, f, nodes, more, packed)
  local steps, texts, factors, many = {}, {}, {}, more[#more]
  for _, sides in ipairs(pack.together(kernel, geometry, { "left", "right" })) do
    local alone = packed[sides[1]].parameters_alone
    local all, text, launch = pack.kernel(kernel, geometry, sides, M.octets(h), alone and pack.full_once or pack.full,
      not alone and ("*many <= %d/**/"):format(h.AGAIN) or nil)
    launch.arguments = { table.unpack(all[#all].nodes) }
    for k, side in ipairs(sides) do
      share_place(all[k], packed[side])
      launch.arguments = joined(launch.arguments, { all[k].packed, all[k].scales, packed[side].wide })
      factors = joined(factors, { all[k].packed, all[k].scales })
    end
    if not alone then launch.arguments[#launch.arguments + 1] = many end
    steps[#steps + 1], texts[#texts + 1] = launch, text
  end
  steps[#steps + 1] = { kernel = f.LOOP, grid = { math.min(h.ITEMS, geometry.chip.sms) }, block = { h.THREADS }, shared = f.SHARED,
                        arguments = joined(nodes, factors, more) }
  return steps, table.concat(texts, "\n")
end

--- The steps behind those that multiply: parts of k are added up. `partial` has the parts; `more`: arguments ahead of it.
function M.finish(kernel, h, nodes, more, partial)
  return { kernel = kernel.name .. "_finish", grid = { math.min(ceil(h.PLACES, 256), 16 * h.chip.sms) }, block = { 256 }, arguments = joined(nodes, more, { partial }) }
end

--- The parts of sums where k is in parts, and how many blocks of each tile have left theirs where the last one adds them up.
function M.partial(kernel, g, h)
  if not h.SPLIT then return {} end
  local numel = h.LAST and h.ITEMS * tiles.ROWS * h.TILEN or g.batch * h.SPLITS * g.rows * g.columns
  return { { scratch = kernel.name .. "_partial", dtype = "float32", numel = numel },
           h.ARRIVES and { scratch = kernel.name .. "_arrived", dtype = "int32", numel = h.PARTED * 4, flag = true } or nil }
end

--- What a kernel that writes parts of sums takes besides: its declarations, and their names as a call passes them on.
function M.parted(h)
  return (h.SPLIT and ", float *partial" or "") .. (h.ARRIVES and ", unsigned *arrived" or ""), (h.SPLIT and ", partial" or "") .. (h.ARRIVES and ", arrived" or "")
end

local function multiplying(kernel, geometry, h, left, right)
  h.ABATCH, h.BBATCH, h.AOCTETS, h.BOCTETS = left.chunks, right.chunks, left.octets, right.octets
  h.AK, h.AR = plain_order(geometry.left)
  h.BK, h.BR = plain_order(geometry.right)
  local checked = again(kernel, geometry, h)
  divide(h, left, right)
  local f = h.is_full and full_holes(h) or nil
  h.PARTLY, h.PASSPARTLY = M.parted(h)
  h.FACTORS, h.PASSFACTORS = FACTORS .. h.PARTLY, ", a, a_scales, b, b_scales, a_wide, b_wide" .. h.PASSPARTLY
  if f then
    f.FACTORS, f.PASSFACTORS, f.OTHER = h.FACTORS .. ", const int *__restrict__ many", h.PASSFACTORS .. ", many", h.NOTFULL
  end
  if h.CHECK then h.FACTORS, h.PASSFACTORS = h.FACTORS .. ", long long *__restrict__ again, int *many", h.PASSFACTORS .. ", again, many" end
  local text, nodes, headers = text_of(kernel, geometry, h, f)
  local flags, partial = { left.wide, right.wide }, M.partial(kernel, geometry, h)
  local packed = { left.packed, left.scales, right.packed, right.scales }
  local notes = h.CHECK and { checked.list, checked.many } or {}
  local launches = { { kernel = kernel.name, grid = { math.min(h.ITEMS, geometry.chip.sms) }, block = { h.THREADS }, shared = h.SHARED,
    arguments = joined(nodes, packed, flags, partial, notes) } }
  if h.CHECK then table.insert(launches, 1, { fill = checked.many, value = 0 }) end
  if h.ARRIVES then table.insert(launches, 1, { fill = partial[2], value = 0 }) end
  if f then
    local steps, more = full_launches(kernel, geometry, h, f, nodes, joined(flags, partial, { checked.many }), { left = left, right = right })
    launches, text = joined(launches, steps), more .. "\n" .. text
  end
  if h.FINISH then launches[#launches + 1] = M.finish(kernel, h, nodes, h.CHECK and flags or {}, partial[1]) end
  if h.CHECK then
    launches[#launches + 1] = { kernel = kernel.name .. "_again", grid = { math.min(8 * geometry.chip.sms, ceil(h.AGAIN, 8)) }, block = { 256 },
                                arguments = joined(nodes, packed, flags, notes, partial) }
  end
  return text, launches, headers
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

--- What a generator returns: the texts in front, the kernels' text, launches.
function M.made(geometry, h, front, text, headers, factors, launches, how, needs)
  for _, factor in pairs(factors) do
    for header in pairs(factor.headers) do headers[header] = true end
  end
  local pieces = joined({ h.TABLES .. (geometry.tables and geometry.tables() or "") }, front, { text })
  return { text = table.concat(pieces, "\n"), pieces = pieces, headers = headers, how = ("%s (%s)"):format(how, h.loop),
           needs = joined(h.ARRIVES and { "meet" } or {}, needs), launches = launches }
end

-- A geometry in three parts of bfloat16 at once; nil where a tile of these does not fit.
local function kernels_apart(kernel, geometry, h, loop)
  local f = full_holes(h, true)
  if not f then return nil end
  local made, packed, steps = pack.all(kernel, geometry, { "left", "right" }, M.octets(f), pack.full_once)
  local text, launches, headers = multiplying(kernel, geometry, f, made.left, made.right)
  return M.made(geometry, f, packed, text, headers, made, joined(steps, launches), "float32 by six products of bf16 parts",
    joined({ "tensor", "tensor_mma" }, loop == "wgmma" and { "tensor_group" } or { "tensor_attend", "tensor_parts" }))
end

--- The kernels of a geometry: text and launches, as every generator returns them. `kernel.roots[1]` is the
--- result, or a node that follows it element by element. `loop`: as M.loop returns it.
function M.kernels(kernel, geometry, loop)
  local h = holes(kernel, geometry, loop)
  local made = geometry.apart and kernels_apart(kernel, geometry, h, loop)
  if made then return made end
  h.is_full = geometry.full and full_holes(h) ~= nil
  h.FULL = h.is_full or nil
  sized(h)
  h.CHECK = geometry.full or geometry.again or nil
  h.WIDEBYTES = geometry.wide and not h.is_full and WIDE.bytes or nil
  local factors, packed, steps = pack.all(kernel, geometry, { "left", "right" }, M.octets(h), h.is_full and pack.checked or pack.halves)
  local text, launches, headers = multiplying(kernel, geometry, h, factors.left, factors.right)
  return M.made(geometry, h, packed, text, headers, factors, joined(steps, launches), ("float32 by %s products of fp16 pairs"):format(h.PRODUCTS),
    joined({ "tensor", "tensor_mma" }, loop == "wgmma" and { "tensor_group" } or {},
      (h.WIDEBYTES or loop == "mma" and h.is_full) and { "tensor_attend", "tensor_parts" } or {}))
end

return M

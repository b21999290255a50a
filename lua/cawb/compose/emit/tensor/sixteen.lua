-- tensor/sixteen: sums of products of float16 or bfloat16 numbers on tensor cores, as they are: one product, and float32 sums that
-- are rounded once. Numbers of 8 bits are words of two: all but the instruction takes them for numbers of 16. A factor is brought from where it lies, or packed (factors.lua). Geometries are those of tensor.lua, with
--   dtype           of both factors
--   eight           whether `write` takes eight neighbouring columns' results, too
-- The loop `wgmma` is Hopper's, `mma` that of every tensor core since Ampere.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local epilogue = require "cawb.compose.emit.tensor.epilogue"
local factors = require "cawb.compose.emit.tensor.factors"
local grid = require "cawb.compose.emit.tensor.grid"
local grids = require "cawb.compose.emit.grids"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"
local tensor = require "cawb.compose.emit.tensor.tensor"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

local ceil, joined = template.ceil, grids.joined

local TILE = tiles.ROWS
local MOST = { wgmma = 6, mma = 4 }   -- stages
local THREADS = { wgmma = 128, mma = 256 }      -- that bring factors
local ROWSLOTS = 2                    -- of rows of the left factor, where steps share them
local SPARE = 2048                    -- bytes of shared memory for barriers, and up to where stages begin
local SHARES = SPARE + tiles.TURNED + 128 * (ROWSLOTS * (TILE + grid.REACH) + 2 * 256)      -- bytes with which the widest tile's steps may share rows

local types = { float16 = true, bfloat16 = true }

local function is_eight(x) return x.dtype:find "^float8" ~= nil end

--- The type of a node's first two inputs, if it is the same one of 16 bits, and the node is of that type or float32: a bias may follow, behind
--- which the sum is rounded. Else nil. Of inputs of 8 bits that of the first, where the program asks for sums of few bits and a `chip` has the
--- instruction; else float16, which has all of these numbers.
function M.type_of(x, chip)
  local dtype, other = x.inputs[1].dtype, x.inputs[2].dtype
  if chip and is_eight(x.inputs[1]) and is_eight(x.inputs[2]) then return x.eight and chip.fp8 and dtype or "float16" end
  return types[dtype] and other == dtype and (x.dtype == dtype or x.dtype == "float32") and dtype or nil
end

--- A factor of numbers of 8 bits by words of two, as floats of these bits; `depth` is even.
function M.words(factor, dtype)
  local two = ("two_eights<%d>(%%s, %%s)"):format(dtype == "float8_e4m3fn" and 3 or 2)
  return setmetatable({ depth = factor.depth // 2, halves = factor, dtype = dtype, element = function(body, z, row, k)
    local first = index.scale(k, 2)
    return two:format(factor.element(body, z, row, first), factor.element(body, z, row, index.plus(first, 1)))
  end }, { __index = factor })
end

-- ---- how factors get into shared memory: holes that begin with A or B

-- Of both: rows in shared memory; where a product's numbers begin; how far off the next 16 along k are. `along`, `turned`: C of the
-- group's first row.
local function lie(h, letter, arrival, along, turned)
  local is_turned, rows = not arrival.along, letter .. "ROWS"
  h[letter .. "TURNS"] = is_turned or nil
  if is_turned then h[rows] = ceil(h[rows], 64) * 64 end
  h[letter .. "DESCRIPTOR"] = is_turned and ("columns_descriptor(%s, 64 * 128)"):format(turned) or ("rows_descriptor(%s)"):format(along)
  h[letter .. "FURTHER"] = is_turned and 128 or 2
  h[letter .. "PACKED"], h[letter .. "LIES"] = arrival.packed, not arrival.packed or nil
end

-- Of one that lies in memory: `first`: C of the tile's first row, `all`: how many rows there are, `body`: one that knows the tensors' names.
local function bring(h, letter, arrival, body, rows, first, all)
  if arrival.packed then return end
  h[letter .. "ROOM"] = all % rows == 0 and ("%d"):format(rows) or ("%d - %s"):format(all, first)
  local stride, along, start = arrival.stride, arrival.along, h.loop == "wgmma" and "tile.first * 64" or "0"
  h[letter .. "TENSOR"], h[letter .. "BASE"] = body:tensor(arrival.node), index.c(arrival.base)
  h[letter .. "STEP"] = along and "64" or ("%d"):format(64 * stride)
  h[letter .. "FROM"] = along and ("(size_t)(%s) * %d + %s"):format(first, stride, start) or ("(size_t)(%s) * %d + %s"):format(start, stride, first)
  h[letter .. "BRING"] = along and ("bring_rows<%d, %d, %d, %s>"):format(THREADS[h.loop], rows, stride, letter == "B" and h.SPREADS and "true" or "false")
    or ("bring_columns<%d, %d, %d, %d>"):format(THREADS[h.loop], rows, stride, arrival.together)
end

-- C of where both begin.
local function from_of(h)
  local lines = {}
  for letter, name in pairs { A = "left", B = "right" } do
    if h[letter .. "LIES"] then
      lines[#lines + 1] = ("      const unsigned short *%s = (const unsigned short *)%s + %s + %s;"):format(name, h[letter .. "TENSOR"], h[letter .. "BASE"], h[letter .. "FROM"])
    end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

-- C of a group's first row: of rows that are loaded for a step, and of those that steps share.
local SHIFTED = "from + ((group - 1) * 64 + NAME_shift(tile.set, step) % 8) * 128"
local SHARED = "shared_address(stages) + r * NAME_A + ((group - 1) * 64 + NAME_shift(tile.set, step) - NAME_shift(tile.set, step / NEAR * NEAR) / 8 * 8) * 128"

local function arrivals(h, arrival)
  lie(h, "A", arrival.left, (h.NEAR and SHARED or h.shifts and SHIFTED or "from + (group - 1) * 64 * 128"):gsub("NAME", h.KERNEL):gsub("NEAR", h.NEAR or ""),
    "from + (group - 1) * (64 * 128)")
  local right = h.NEAR and "from" or ("from + %s_A"):format(h.KERNEL)
  lie(h, "B", arrival.right, right, right)
  h.AHERE = h.APACKED and not h.NEAR
  h.PACKED, h.LIES = arrival.left.packed or arrival.right.packed, not (arrival.left.packed and arrival.right.packed) or nil
  h.TOGETHER = h.LIES
  h.LOADS = h.LIES and "a group of four warps brings factors" or "one thread fetches packed factors"
  h.ARRIVALS = (h.PACKED and 1 or 0) + (h.LIES and 128 or 0)
  h.PACKEDBYTES = 128 * ((h.AHERE and h.AROWS or 0) + (arrival.right.packed and h.BROWS or 0))
end

-- ---- the whole

-- Stages that fit into a block's shared memory, and its bytes.
local function stages(h)
  local turned = h.STAGED and tiles.TURNED or 0
  h.ROWSLOTS, h.BAT = h.NEAR and ROWSLOTS or 0, h.NEAR and 0 or 128 * h.AROWS
  h.STAGE, h.SLOTS = h.BAT + 128 * h.BROWS, h.ROWSLOTS * 128 * h.AROWS
  h.STAGES = math.max(2, math.min(MOST[h.loop], (h.chip.shared_block - SPARE - turned - h.SLOTS) // h.STAGE))
  h.BARRIERS, h.TURNEDAT = h.STAGES + h.ROWSLOTS, h.SLOTS + h.STAGES * h.STAGE
  h.SHARED = h.TURNEDAT + turned
end

local function holes(kernel, g, loop, arrival)
  local right, word = arrival.right, arithmetic.words[g.dtype]
  local near = loop == "wgmma" and g.chip.shared_block >= SHARES and grid.near(g) or nil
  local tile, parts = tiles.cut_sixteen(g, loop, grid.longest(g), not right.along, near)
  local h = grid.holes(kernel, g, loop, tile, parts, 2, near)
  h.TYPE, h.MULTIPLY, h.RANGES, h.PARTS, h.PRODUCTS, h.INTO, h.BEGINS = word.TYPE, word.MULTIPLY, "", 1, "one", "sum", "step > tile.first || "
  if g.left.halves then h.RIGHTTYPE, h.MULTIPLY = arithmetic.words[g.right.dtype].TYPE, h.LOOP .. "_warp" end
  if g.leaves then h.APART, h.INTO, h.BEGINS, h.PART = true, "part", "", loop == "wgmma" and (tile > 128 and h.SUMS // 2 or h.SUMS) or nil end
  h.TERMS = math.min(pack.CHUNK, ceil(g.left.depth, 16) * 16)      -- of a single chunk only what there is
  h.DEEPEST = h.TERMS
  h.DEEP = g.left.depth % pack.CHUNK == 0 and ("%d"):format(pack.CHUNK) or ("%d - 64 * step"):format(g.left.depth)
  -- A thread writes eight neighbours: columns that are brought by rows are spread for it, others change places behind the products.
  h.EIGHT = g.eight and not h.FINISH and not h.STAGED and h.EACH % 4 == 0 and g.columns % 8 == 0 or nil
  h.SPREADS = h.EIGHT and loop == "wgmma" and right.along or nil
  h.TURNSEIGHT = h.EIGHT and not h.SPREADS or nil
  arrivals(h, arrival)
  stages(h)
  return h
end

local function text_of(kernel, g, h, arrival)
  local after, own = epilogue.pair(kernel, g, h.is_streaming), { name = kernel.name }
  bring(h, "A", arrival.left, after, TILE, "tile.m * 128", g.rows)
  bring(h, "B", arrival.right, after, h.TILEN, ("tile.n * %d"):format(h.TILEN), g.columns)
  local list, nodes = epilogue.functions(kernel, g, h, own, after)
  h.FROM = from_of(h)
  epilogue.holes(h, g, own)
  return template.complete(own, list, table.concat({ template.fill("tensor/templates/tiles", own, h), tensor.loop_text(own, h),
    h.FINISH and template.fill("tensor/templates/finish", own, h) or "" }, "\n")), nodes, after.headers
end

-- The kernels that pack factors: what they make, by side, texts and launches; the packed factors as arguments. The holes of what they make.
local function packing(kernel, g, h, arrival)
  local sides, octets, packed = lists.filter({ "left", "right" }, function(side) return arrival[side].packed end), tensor.octets(h), {}
  local made, texts, steps = pack.all(kernel, g, sides, octets, pack.whole(arithmetic.words[g.dtype].TWO, h.SPREADS))
  h.FACTORS, h.PASSFACTORS = "", ""
  for k, side in ipairs(sides) do
    local letter = side == "left" and "A" or "B"
    packed[k] = made[side].packed
    h.FACTORS, h.PASSFACTORS = h.FACTORS .. (", const unsigned char *__restrict__ %s"):format(letter:lower()), h.PASSFACTORS .. ", " .. letter:lower()
    h[letter .. "BATCH"], h[letter .. "OCTETS"] = g[side].alike and 0 or made[side].chunks, octets[side]
  end
  return made, texts, steps, packed
end

--- The kernels of a geometry: text and launches, as every generator returns them; `loop` as of tensor.loop.
function M.kernels(kernel, g, loop)
  local shifts = #g.sets > 1 or #g.sets[1] ~= 1 or g.sets[1][1] ~= 0
  local arrival = { left = factors.arrival(kernel, g, "left", shifts), right = factors.arrival(kernel, g, "right", shifts) }
  local h = holes(kernel, g, loop, arrival)
  local all, packed_texts, steps, packed = packing(kernel, g, h, arrival)
  local partial = tensor.partial(kernel, g, h)
  local parted, pass = tensor.parted(h)
  h.FACTORS, h.PASSFACTORS = h.FACTORS .. parted, h.PASSFACTORS .. pass
  local text, nodes, headers = text_of(kernel, g, h, arrival)
  steps[#steps + 1] = { kernel = kernel.name, grid = { math.min(h.ITEMS, loop == "mma" and 2 * g.chip.sms or g.chip.sms) }, block = { h.THREADS },
    shared = h.SHARED, arguments = joined(nodes, packed, partial) }
  if h.LAST then table.insert(steps, 1, { fill = partial[2], value = 0 }) end
  if h.FINISH then steps[#steps + 1] = tensor.finish(kernel, h, nodes, {}, partial[1]) end
  return tensor.made(g, h, packed_texts, text, headers, all, steps, g.dtype,
    joined({ "tensor", "tensor_attend", "tensor_mma", "tensor_rows", "tensor_tile", table.unpack(loop == "wgmma" and { "tensor_group", "tensor_warpgroup" } or {}) },
      g.left.halves and { "tensor_eight" } or {}))
end

return M

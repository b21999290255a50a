-- skinny: products of which one side is short, on tensor cores, where latency counts. A number is two tf32 parts, of whose products three count; one of
-- 16 bits is a tf32 number as it is. A block cuts its k into slices, and a cluster of blocks cuts k before ("slice-k" in a block, "split-k" in a
-- cluster). So much of the long factor is under way at once, nothing is packed, and no part of a sum goes through memory.

local costs = require "cawb.compose.cost.products"
local lift = require "cawb.compose.emit.lift"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

--- Warps of a block that have places of the long side beside each other; the others have slices of k.
M.tiles = { 1, 2, 4 }

local WARPS, STEP = 4, 16    -- warps of a block, terms of a step
local MOST = 8               -- eights of the short side that a warp has sums of
local DEPTH, FULL = 4, 5     -- steps that are under way, at most; eights above which there are registers for one less
local HELD = 16              -- accesses to the short factor that a thread has under way
local CLUSTER = 8            -- blocks of a cluster that any chip with clusters has

-- The long side and the short one: factor, dimension, size, and whether its neighbours along k are neighbours in memory.
local function sides(d)
  local a = { factor = "a", dimension = "m", size = d.m, along_k = (d.along_a or "k") == "k" }
  local b = { factor = "b", dimension = "n", size = d.n, along_k = (d.along_b or "n") == "k" }
  if d.m <= d.n then return b, a end
  return a, b
end

-- Whether four neighbours are read at once.
local function is_wide(d, side) return d[side.factor .. "4"] and (side.along_k and d.k or side.size) % 4 == 0 or false end

-- Bytes of shared memory: of the short factor and then of sums of slices; of sums of the cluster's blocks.
local function bytes_of(t)
  local slices = WARPS // t.across
  return t.few * math.max(4 * (slices * t.part + 16), 16 * (8 * WARPS + slices)), t.cluster > 1 and 16 * (8 * t.few * t.across + CLUSTER) or 0
end

-- So many warps side by side, blocks of a cluster, and places of the short side; nil where some blocks idle, or numbers do not fit.
local function choice(d, chip, across, cluster, places)
  local long, short = sides(d)
  local slices = WARPS // across
  local t = { across = across, cluster = cluster, few = places, part = ceil(d.k, slices * cluster * STEP) * STEP, wide = short.along_k and is_wide(d, short) }
  local bytes, got = bytes_of(t)
  if slices * t.part * (cluster - 1) >= d.k or bytes + got > chip.shared_block then return nil end
  t.bytes, t.beside = bytes, bytes + got <= chip.shared_sm // 2 - 1024 and 2 or 1
  t.depth = math.min(places > 8 * FULL and DEPTH - 1 or DEPTH, t.part // STEP)
  t.blocks = d.batch * ceil(long.size, 32 * across) * ceil(short.size, places) * cluster
  t.exact = d.exact
  t.seconds = costs.skinny(chip, t, (d.exact and 2 or 4) * d.batch * d.k * (d.m + d.n))
  return t
end

-- Places of the short side: as many as a warp has sums of, so that tiles are alike; and half of that.
local function places_of(d)
  local eights = ceil(math.min(d.m, d.n), 8)
  local most = ceil(eights, ceil(eights, MOST))
  return { 8 * most, most > 1 and 8 * ceil(most, 2) or nil }
end

--- The choice { across, cluster, few, part, blocks, seconds ... } that takes least time, and less than `seconds`; or nil. `how`: tile (one of M.tiles, by
--- number) and splits (blocks of a cluster), where given.
function M.best(d, how, chip, seconds)
  if d.type ~= "float" or not chip.tensor or d.k == 0 then return nil end
  local least = { seconds = seconds }
  for _, across in ipairs(how.tile and { M.tiles[how.tile] } or M.tiles) do
    for cluster = how.splits or 1, math.min(how.splits or CLUSTER, chip.cluster) do
      for _, places in ipairs(places_of(d)) do
        local one = choice(d, chip, across, cluster, places)
        if one and one.seconds < least.seconds then least = one end
      end
    end
  end
  return least.across and least or nil
end

-- C that reads four places by four terms of the long factor: four neighbours at a time, or one.
local function reads_long(d, long)
  local function read(suffix, to, l, k)
    return ("$%s%s(%sz, %s, %s)"):format(long.factor, suffix, to, long.factor == "a" and l or k, long.factor == "a" and k or l)
  end
  local text
  if not is_wide(d, long) then
    text = ("UNROLL for (int x = 0; x < 16; x++)\n    if (l + x / 4 < L && from + x %% 4 < end) held[x / 4][x %% 4] = %s;"):format(read("", "", "l + x / 4", "from + x % 4"))
  elseif long.along_k then
    text = ("UNROLL for (int j = 0; j < 4; j++)\n    if (l + j < L && from < end) %s;"):format(read("4", "held[j], ", "l + j", "from"))
  else
    text = ("UNROLL for (int e = 0; e < 4; e++) {\n    float v[4];\n    if (l >= L || from + e >= end) continue;\n    %s;\n"):format(read("4", "v, ", "l", "from + e"))
      .. "    UNROLL for (int j = 0; j < 4; j++) held[j][e] = v[j];\n  }"
  end
  return template.called(d, text)
end

local function reads_short(d, short, wide)
  return template.called(d, (wide and "$%s4(v, z, %s);" or "held[i] = $%s(z, %s);"):format(short.factor, short.factor == "a" and "f, k" or "k, f"))
end

-- Where a result lies, by its number in the tile: neighbours are those of a line.
local function places(h, d, t, by_row)
  local quads = 8 * t.across
  h.PLACEF = by_row and ("(q / %d)"):format(quads) or ("(q %% %d)"):format(t.few)
  h.PLACEL = by_row and ("q %% %d"):format(quads) or ("q / %d"):format(t.few)
  h.MN, h.MSTEP, h.NSTEP = by_row and "f, l" or "l, f", by_row and "0" or "x", by_row and "x" or "0"
  h.STORE4 = by_row and d.store4 and d.n % 4 == 0 or nil
end

--- Text and launches of a choice.
function M.made(d, t)
  local long, short = sides(d)
  local h = { FEW = t.few, LONG = 32 * t.across, EIGHTS = t.few // 8, ACROSS = t.across, PART = t.part, DEPTH = t.depth, BLOCKS = t.beside,
              CLUSTER = t.cluster > 1 and t.cluster or nil, LSIDE = long.dimension:upper(), FSIDE = short.dimension:upper(), FOUR = t.wide or nil, EXACT = d.exact or nil,
              NUMBERS = d.exact and "Numbers of 16 bits are tf32 numbers as they are." or "A number is two tf32 parts, of whose products three count.",
              LIFT = lift(2 * 32) }       -- for both factors: the short one is split more often
  h.HELD = math.min(HELD, ceil(t.few * WARPS // t.across * t.part, (t.wide and 4 or 1) * 32 * WARPS))
  h.READLONG, h.READSHORT = reads_long(d, long), reads_short(d, short, t.wide)
  h.SHORTF, h.SHORTK = short.along_k and "e / TERMS" or ("e %% %d"):format(t.few), short.along_k and "e % TERMS" or ("e / %d"):format(t.few)
  places(h, d, t, long.factor == "b")
  local launch = template.launch(d, "", t.blocks, 32 * WARPS, d.m, d.n, d.k)
  launch.cluster, launch.shared = h.CLUSTER and { h.CLUSTER } or nil, t.bytes
  return template.fill("product/skinny", d, h), { launch }
end

return M

-- tensor/grid: how the tiles of a geometry (tensor.lua) follow each other, as holes of the main loops and of templates/tiles.cu: the steps of
-- each set, the order of tiles, parts of k, and what is hidden.

local costs = require "cawb.compose.cost.products"
local lists = require "cawb.base.lists"
local literal = require "cawb.compose.ir.literal"
local grids = require "cawb.compose.emit.grids"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"
local tiles = require "cawb.compose.emit.tensor.tiles"

local M = {}

local ceil = template.ceil

local TILE = tiles.ROWS
local MOST_ORDERED = 4096             -- tiles whose order stands in a table

-- The steps of each set, as C of `set` and `step`. Returns the largest shift.
local function stepping(h, geometry, chunks)
  local sets = geometry.sets
  h.SETS, h.TABLES = #sets, ""
  if #sets == 1 and #sets[1] == 1 and sets[1][1] == 0 then
    h.STEPS, h.BEFORE, h.CHUNK, h.SHIFT = literal.free(chunks), 0, "step", 0
    return 0
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
  h.STEPS = ("%d/**/ * %s"):format(chunks, #sets == 1 and literal.free(#sets[1]) or count)
  h.BEFORE = ("%d/**/ * %s"):format(chunks, at(first) or h.KERNEL .. "_first[set]")
  h.CHUNK = ("step / %s"):format(count)
  h.SHIFT = ("%s_shifts[%sstep %% %s]"):format(h.KERNEL, #sets == 1 and "" or h.KERNEL .. "_first[set] + ", count)
  return most
end

-- After how many tiles so many blocks would take tiles of the same sets again, where these are not alike and not all sets; or nil.
local function round_of(sets, blocks)
  local a, b, alike = blocks, #sets, lists.all(sets, function(set) return #set == #sets[1] end)
  while b > 0 do a, b = b, a % b end
  return not alike and a > 1 and blocks // a * #sets or nil
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
  return ("static __constant__ unsigned short %s_order[] = { %s };\n"):format(h.KERNEL, table.concat(grids.joined(shown, others), ", ")),
    ("%s_order[%s]"):format(h.KERNEL, plain)
end

-- C that is true for results that are shown, in front of another condition: for the first and the second of two neighbours.
local function shown(geometry)
  if not geometry.hidden then return "", "" end
  return ("!(%s) && "):format(geometry.hidden.c(1, 1, "row", "column")), ("!(%s) && "):format(geometry.hidden.c(1, 1, "row", "(column + 1)"))
end

--- Steps of the longest set.
function M.longest(g)
  return math.max(table.unpack(lists.map(g.sets, function(set) return ceil(g.left.depth, pack.CHUNK) * #set end)))
end

--- Rows that are loaded beyond a tile's, where steps share them.
M.REACH = 16

local MOST_NEAR = 8                   -- such steps

--- How many neighbouring taps of every set read the same rows of the left factor, from one that is a multiple of eight on; nil if none do.
function M.near(g)
  for count = MOST_NEAR, 2, -1 do
    local function is_near(set)
      return #set % count == 0 and lists.all(set, function(shift, n)
        local off = shift - set[(n - 1) // count * count + 1] // 8 * 8
        return off >= 0 and off <= M.REACH
      end)
    end
    if lists.all(g.sets, is_near) then return count end
  end
end

--- The holes of a grid of tiles with so many columns, k in so many parts. `bytes`: of a result; `near` as M.near has it.
function M.holes(kernel, g, loop, columns, parts, bytes, near)
  local chunks, longest = ceil(g.left.depth, pack.CHUNK), M.longest(g)
  local h = { KERNEL = kernel.name, LOOP = kernel.name, WHAT = g.what, M = g.rows, N = g.columns, DEPTH = g.left.depth, ROWS = g.left.rows, BATCH = g.batch,
              TILEN = columns, SUMS = columns // 2, FOURS = columns // 8, MEETS = loop == "wgmma" and 2 or 1, EACH = loop == "wgmma" and columns // 8 or columns // 16, DOWN = ceil(g.rows, TILE), ACROSS = ceil(g.columns, columns),
              PLACES = g.batch * g.rows * ceil(g.columns, 2), EVEN = g.columns % 2 == 0 or nil, THREADS = loop == "mma" and 256 or 384, loop = loop, chip = g.chip }
  local most = stepping(h, g, chunks)
  h.shifts = most > 0
  h.REACH = h.DOWN * TILE + most // 8 * 8 + (near and M.REACH or h.shifts and 8 or 0)
  h.AROWS, h.BROWS = near and TILE + M.REACH or h.shifts and loop == "wgmma" and TILE + 8 or TILE, columns
  h.NEAR, h.SLOTS = near, 0
  h.PER = ceil(ceil(longest, parts), near or 1) * (near or 1)
  h.SPLITS = ceil(longest, h.PER)
  local all = h.DOWN * h.ACROSS * g.batch * h.SETS
  h.SPLIT, h.ITEMS, h.PARTED = h.SPLITS > 1 or nil, all * h.SPLITS, all
  local _, last = costs.summed(g.chip, all, h.SPLITS, TILE, columns, g.batch * g.rows * g.columns)
  h.LAST, h.FINISH, h.ARRIVES = last or nil, h.SPLIT and not last or nil, last or nil
  h.ROUND = round_of(g.sets, g.chip.sms)
  h.HIDDEN = g.hidden and ("%s ? part * %d/**/ : "):format(g.hidden.c(TILE, columns, ("m * %d"):format(TILE), ("n * %d"):format(columns)), h.PER) or ""
  h.SHOWN, h.OTHERSHOWN = shown(g)
  h.ONE = longest == 1
  -- Sums of one step are bound by their writes: rows of tiles go one after the other, past the caches.
  h.is_streaming = h.ONE and bytes * g.batch * g.rows * g.columns >= (g.streamed or costs.streamed(g.chip))
  h.GROUP = h.is_streaming and 1 or 16
  local order
  order, h.NUMBER = order_of(h, g)
  h.TABLES = h.TABLES .. order
  h.STAGED = loop == "wgmma" and g.turned and not h.FINISH and columns % g.turned.side == 0 or nil
  if h.STAGED then h.SIDE, h.SPREAD = g.turned.side, math.min(128, 64 * g.turned.side) end
  return h
end

return M

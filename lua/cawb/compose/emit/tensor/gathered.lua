-- gathered: products on Hopper's tensor cores with a left factor that is not packed. A block reads its rows as they lie and splits
-- them in shared memory, where the right factor's parts stay. So only the factors and the result pass through memory, which counts
-- where sums are short. Both factors are in three bfloat16 parts, which hold every bit of a float32. A tile with a number that is
-- infinite, nearly so, or too small for bfloat16 is done without tensor cores. Geometries are those of tensor.lua.

local costs = require "cawb.compose.cost.products"
local epilogue = require "cawb.compose.emit.tensor.epilogue"
local grids = require "cawb.compose.emit.grids"
local lift = require "cawb.compose.emit.lift"
local pack = require "cawb.compose.emit.tensor.pack"
local template = require "cawb.compose.emit.template"
local tensor = require "cawb.compose.emit.tensor.tensor"

local M = {}

local ceil = template.ceil

local TILE, STAGE, MOST = 128, 3 * 128 * 128, 4      -- rows of a tile; bytes of a stage of the left factor; stages
local BARRIERS = 2048                                -- bytes of shared memory, of barriers

--- How a product would be cut for a chip, of `columns` and `depth` numbers of a row; nil where the columns of a tile do not stay there.
function M.shape(chip, rows, columns, depth, batch)
  local chunks, room = ceil(depth, 64), chip.shared_block - BARRIERS
  local most = math.min(128, (room - 2 * STAGE) // (chunks * 384) // 16 * 16)
  if most < 32 then return nil end
  local across = ceil(columns, most)
  local t = { chunks = chunks, across = across, tile = ceil(ceil(columns, across), 16) * 16, down = ceil(rows, TILE), all = across * batch,
              halves = chunks > 1 and 2 or ceil(depth, 32) }
  t.weights = chunks * 3 * t.tile * 128
  t.stages = math.min(MOST, (room - t.weights) // STAGE)
  t.side = math.max(1, math.min(t.down, chip.sms // t.all))
  return t
end

--- Seconds for its sums.
function M.seconds(chip, t)
  return costs.gathered(chip, ceil(t.down, t.side) * math.max(1, t.all / chip.sms), t.chunks * t.halves, t.tile)
end

local EXACT = [[
        const float2 both = beyond && column < %d/**/ ? %s_exact(%s, tile.z, row, column) : make_float2(first, second);
        if (column < %d/**/) %s_put(%s, tile.set, tile.z, row, column / 2, both.x, both.y);]]

local function holes(kernel, g, t)
  return { KERNEL = kernel.name, WHAT = g.what, M = g.rows, N = g.columns, DEPTH = g.left.depth, ROWS = g.left.rows, TILEN = t.tile, SUMS = t.tile // 2, EACH = t.tile // 8,
           ACROSS = t.across, COLS = t.all, ITEMS = t.down * t.all, CHUNKS = t.chunks, STAGES = t.stages, BARRIERS = t.stages, STAGE = STAGE, SLOTS = 0,
           AROWS = TILE, BROWS = t.tile, BOCTETS = t.across * t.tile // 8, loop = "wgmma", LOOP = kernel.name, begin = "gathered_begin", ahead = "gathered_ahead",
           load = "gathered_load", FROM = "", ARRIVALS = 128, LOADS = "a group of four warps splits rows", TOGETHER = true, APART = true, FEW = 136, MANY = 184,
           THEN = "  const int bad = *b_past;\n  barrier_wait(shared_address(&ready), 0);", FACTORS = ", const unsigned char *__restrict__ b, const int *__restrict__ b_past",
           TYPE = "bf16", PARTS = 3, TERMS = pack.FULL, LIFT = lift(math.min(pack.FULL, g.left.depth)), DEEPEST = 32 * t.halves, PRODUCTS = "six", INTO = "part", AFURTHER = 2, BFURTHER = 2, BEGINS = "" }
end

local function text_of(kernel, g, h)
  local after, own = epilogue.pair(kernel, g), { name = kernel.name }
  local left, right = pack.reads_one(kernel, after, g, g.left), pack.reads_one(kernel, after, g, g.right)
  local list, nodes = epilogue.functions(kernel, g, h, own, after)
  list[#list + 1] = template.access(own, "left", "float", pack.place, left:text())
  list[#list + 1] = template.access(own, "right", "float", pack.place, right:text())
  local pass = template.names(own.parameters)
  epilogue.holes(h, g, own, EXACT:format(g.columns, own.name, pass, g.columns, own.name, pass))
  return template.complete(own, list, template.fill("tensor/templates/gathered", own, h) .. "\n" .. tensor.loop_text(own, h)), nodes, after.headers
end

--- The kernels of a geometry of one set of steps; its `cut` as of M.shape.
function M.kernels(kernel, geometry)
  local t = geometry.cut
  local h = holes(kernel, geometry, t)
  local made, packing, steps = pack.all(kernel, geometry, { "right" }, { right = h.BOCTETS }, pack.parts)
  local weights = made.right
  local text, nodes, headers = text_of(kernel, geometry, h)
  for header in pairs(weights.headers) do headers[header] = true end
  return { text = geometry.tables() .. "\n" .. packing[1] .. "\n" .. text, headers = headers, needs = { "tensor", "tensor_attend", "tensor_group", "tensor_parts" },
           how = "float32 by six products of bfloat16 parts (wgmma, gathered)", launches = grids.joined(steps, {
    { kernel = kernel.name, grid = { t.side * t.all }, block = { 384 }, shared = t.stages * STAGE + t.weights,
      arguments = grids.joined(nodes, { weights.packed, weights.wide }) } }) }
end

return M

-- product/text: sums of products in plain arithmetic, by tiles in shared memory; or by skinny.lua where one side is short. The
-- elements of the result are numbered (z, m, n), z being all batches; the factors are a(z, m, k) and b(z, k, n), whatever lies behind
-- them. Long sums are made of short ones, so that their error stays that of a library's.

local costs = require "cawb.compose.cost.products"
local factors = require "cawb.compose.emit.product.factors"
local lists = require "cawb.base.lists"
local skinny = require "cawb.compose.emit.product.skinny"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.Product: a description (template.lua), and
---@field type string        "float" or "double"
---@field batch integer
---@field m integer
---@field n integer
---@field k integer
---@field along_a string?    "k" or "m", along which neighbours of a lie in memory ("k")
---@field along_b string?    "n" or "k" ("n")
--- and its access functions.
local functions = {
  "T a(long long z, int m, int k)", "T b(long long z, int k, int n)", "void store(long long z, int m, int n, T value)",
  "void store4(const T *v, long long z, int m, int n)",               -- from n on; n and its size are multiples of 4
  "void a4(T *v, long long z, int m, int k)", "void b4(T *v, long long z, int k, int n)" }      -- along `along_a`, `along_b`

-- Of a block, and of a thread.
local tiles = {
  { m = 128, n = 128, rows = 8, columns = 8 }, { m = 64, n = 128, rows = 8, columns = 8 },
  { m = 128, n = 64, rows = 8, columns = 8 }, { m = 32, n = 128, rows = 4, columns = 8 },
  { m = 64, n = 64, rows = 4, columns = 8 }, { m = 32, n = 32, rows = 4, columns = 4 }, { m = 64, n = 16, rows = 4, columns = 4 },
}

local DEEP, CHAIN = 8, 128       -- k of a tile; products added in a row
local MOST, LEAST = 64, 32       -- parts of k; k of one
local BESIDE = 4                 -- blocks of a multiprocessor from which on k is not cut

local function blocks_of(d, tile) return d.batch * ceil(d.m, tile.m) * ceil(d.n, tile.n) end

-- How many parts k may have: powers of two, or the number that is asked for.
local function parts_of(d, how, blocks, chip)
  if how.splits then return { math.max(1, math.min(how.splits, ceil(d.k, DEEP))) } end
  local list = { 1 }
  while 2 * list[#list] <= math.min(MOST, d.k // LEAST) and blocks * list[#list] < BESIDE * chip.sms do list[#list + 1] = 2 * list[#list] end
  return list
end

-- The tile and the parts of k that take least time, and its seconds.
local function best(d, how, chip)
  local least, tile, splits
  for _, t in ipairs(tiles[how.tile] and { tiles[how.tile] } or tiles) do
    local blocks = blocks_of(d, t)
    for _, parts in ipairs(parts_of(d, how, blocks, chip)) do
      local c = costs.plain_tiles(chip, blocks, t.m, t.n, DEEP, parts, ceil(d.k, DEEP), d.batch * d.m * d.n)
      if not least or c < least then least, tile, splits = c, t, parts end
    end
  end
  return tile, splits, least
end

-- The writing of sums, one or four neighbours at a time: partial sums, or the results of the epilogue.
local function writing(d, h, splits)
  local pass = template.names(d.parameters)
  h.STORE4 = d.store4 and d.n % 4 == 0 or nil
  h.SUM, h.SUMFOUR = (h.CHAIN and "total[i][j] + " or "") .. "acc[i][j]", (h.CHAIN and "total[i][j + x] + " or "") .. "acc[i][j + x]"
  h.PARTIAL = splits > 1 and ("%s *__restrict__ parts,"):format(d.type) or ""
  local to = "parts[((z * splits + split) * M + m) * N + n]"
  if splits > 1 then h.WRITE = h.STORE4 and ("*(%s_quad *)&%s = value;"):format(d.name, to) or to .. " = value;"
  else h.WRITE = (h.STORE4 and "%s_store4(%s, value.v, z, m, n);" or "%s_store(%s, z, m, n, value);"):format(d.name, pass) end
end

local function holes(d, tile, splits)
  local h = { T = d.type, TM = tile.m, TN = tile.n, TK = DEEP, RM = tile.rows, RN = tile.columns,
              EACH = tile.m * tile.n // (tile.rows * tile.columns), SUMMED = splits > 1 or nil }
  h.CHAIN = ceil(d.k, splits) > 2 * CHAIN and d.type == "float" and CHAIN or nil
  writing(d, h, splits)
  factors.read(d, h, "threadIdx.x")
  return h
end

local dtypes = { float = "float32", double = "float64", int = "int32", ["long long"] = "int64" }

local function launches(d, h, tiles_all, splits, part)
  local all = d.batch * d.m * d.n
  local parts = splits > 1 and { scratch = d.name .. "_parts", dtype = dtypes[d.type], numel = all * splits } or nil
  local list = { template.launch(d, "", tiles_all * splits, h.EACH, table.unpack(lists.joined({ parts }, { d.m, d.n, d.k, part, splits }))) }
  if parts then
    list[2] = template.launch(d, "_sum", ceil(all, 256), 256, parts, d.m, d.n, splits, all)
  end
  return list
end

--- Why there are no kernels of a product, or nil.
function M.refusal(d)
  return (d.m >= 2 ^ 31 or d.n >= 2 ^ 31 or d.k >= 2 ^ 31) and "a side of the product is beyond 32 bits" or nil
end

-- By tiles whose parts of k are added up by another kernel.
local function tiled(d, tile, splits)
  local part = math.max(DEEP, ceil(d.k, splits * DEEP) * DEEP)
  splits = math.max(1, ceil(d.k, part))
  local h = holes(d, tile, splits)
  return template.fill("product/product", d, h), launches(d, h, blocks_of(d, tile), splits, part)
end

-- On tensor cores where one side is short and that takes less time; or nil.
local function with_short_side(d, how, chip, seconds)
  local number = how.tile and how.tile - #tiles
  if number and number <= 0 or not number and how.splits then return nil end
  return skinny.best(d, { tile = number, splits = how.splits }, chip, number and math.huge or seconds)
end

--- The kernels of a product; or nil and why not. `how`: tile (one of M.tiles, by number; the last ones are those of skinny.lua), splits (parts of k);
--- `chip`: see gpu/chip.lua.
---@param d cawb.Product
---@return table? made  { text, launches, needs }
---@return string? why
function M.generate(d, how, chip)
  local why = M.refusal(d)
  if why then return nil, why end
  how = how or {}
  if d.batch * d.m * d.n == 0 then return { text = "", launches = {} } end
  local tile, splits, seconds = best(d, how, chip)
  local thin = with_short_side(d, how, chip, seconds)
  local text, steps
  if thin then text, steps = skinny.made(d, thin) else text, steps = tiled(d, tile, splits) end
  return { text = template.complete(d, template.functions(d, functions), text), launches = steps,
           needs = thin and { "tensor_tf32", thin.cluster > 1 and "join" or nil, thin.cluster > 1 and "join_cluster" or nil } or nil,
           how = thin and "float32 by three products of tf32 parts (mma)" or nil }
end

M.tiles = #tiles + #skinny.tiles

return M

-- product/text: sums of products in plain arithmetic, by tiles in shared memory. The elements of the result are
-- numbered (z, m, n), z being all batches; the factors are a(z, m, k) and b(z, k, n), whatever lies behind them.
-- Long sums are made of short ones, so that their error stays that of a library's.

local costs = require "cawb.compose.cost.products"
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

-- The tile and the parts of k that take least time.
local function best(d, how, chip)
  local least, tile, splits
  for _, t in ipairs(how.tile and { tiles[how.tile] } or tiles) do
    local blocks = blocks_of(d, t)
    for _, parts in ipairs(parts_of(d, how, blocks, chip)) do
      local c = costs.plain_tiles(chip, blocks, t.m, t.n, DEEP, parts, ceil(d.k, DEEP), d.batch * d.m * d.n)
      if not least or c < least then least, tile, splits = c, t, parts end
    end
  end
  return tile, splits
end

-- How threads read a factor's tile: `side` is "A" with its rows or "B" with its columns.
local function reader(d, h, side, size, along_k, wide)
  local threads = h.THREADS
  local inner = along_k and DEEP or size
  local packs = inner // wide
  local fast, slow = ("(e %% %d * %d)"):format(packs, wide), ("(e / %d)"):format(packs)
  h["ROW" .. side], h["COL" .. side] = along_k and slow or fast, along_k and fast or slow
  h["JROW" .. side], h["JCOL" .. side] = along_k and "0" or "j", along_k and "j" or "0"
  h["HELD" .. side], h["WIDE" .. side] = size * DEEP // threads, wide
end

-- Four at a time where the tile has enough of them for all threads.
local function wide_of(d, h, text, along, size)
  local ok = text and d[along] % 4 == 0 and size * DEEP // h.THREADS >= 4
  return ok and 4 or 1
end

local function readers(d, h, tile)
  local along_a, along_b = d.along_a or "k", d.along_b or "n"
  reader(d, h, "A", tile.m, along_a == "k", wide_of(d, h, d.a4, along_a, tile.m))
  reader(d, h, "B", tile.n, along_b == "k", wide_of(d, h, d.b4, along_b, tile.n))
  local pass = template.names(d.parameters)
  h.LOADA = h.WIDEA == 4 and ("%s_a4(%s, v, z, m, k);"):format(d.name, pass) or ("v[0] = %s_a(%s, z, m, k);"):format(d.name, pass)
  h.LOADB = h.WIDEB == 4 and ("%s_b4(%s, v, z, k, n);"):format(d.name, pass) or ("v[0] = %s_b(%s, z, k, n);"):format(d.name, pass)
end

-- The writing of sums, one or four neighbours at a time: partial sums, or the results of the epilogue.
local function writing(d, h, splits)
  local pass = template.names(d.parameters)
  h.STORE4 = d.store4 and d.n % 4 == 0 or nil
  h.SUM, h.SUMFOUR = (h.CHAIN and "total[i][j] + " or "") .. "acc[i][j]", (h.CHAIN and "total[i][j + x] + " or "") .. "acc[i][j + x]"
  h.PARTIAL = (splits > 1 and ("%s *__restrict__ parts,"):format(d.type) or "") .. (h.LAST and " unsigned *arrived," or "")
  local to = "parts[((z * splits + split) * M + m) * N + n]"
  if splits > 1 then h.WRITE = h.STORE4 and ("*(%s_quad *)&%s = value;"):format(d.name, to) or to .. " = value;"
  else h.WRITE = (h.STORE4 and "%s_store4(%s, value.v, z, m, n);" or "%s_store(%s, z, m, n, value);"):format(d.name, pass) end
  h.SIDE = h.STORE4 and 4 or 1
  h.RESULT = (h.STORE4 and "%s_store4(%s, sums[i].v, z, m, n);" or "%s_store(%s, z, m, n, sums[i].v[0]);"):format(d.name, pass)
end

-- Whether the last block of a tile to arrive adds up the parts of k; else a kernel more does.
local function is_last(d, tile, splits, chip)
  return splits > 1 and select(2, costs.summed(chip, blocks_of(d, tile), splits, tile.m, tile.n, d.batch * d.m * d.n)) or nil
end

local function holes(d, tile, splits, last)
  local h = { T = d.type, TM = tile.m, TN = tile.n, TK = DEEP, RM = tile.rows, RN = tile.columns,
              THREADS = tile.m * tile.n // (tile.rows * tile.columns), LAST = last, SUMMED = splits > 1 and not last or nil }
  h.CHAIN = ceil(d.k, splits) > 2 * CHAIN and d.type == "float" and CHAIN or nil
  writing(d, h, splits)
  readers(d, h, tile)
  return h
end

local dtypes = { float = "float32", double = "float64", int = "int32", ["long long"] = "int64" }

local function launches(d, h, tile, splits, part)
  local tiles_all, all = blocks_of(d, tile), d.batch * d.m * d.n
  local parts = splits > 1 and { scratch = d.name .. "_parts", dtype = dtypes[d.type], numel = all * splits } or nil
  local arrived = h.LAST and { scratch = d.name .. "_arrived", dtype = "int32", numel = tiles_all, flag = true } or nil
  local list = arrived and { { fill = arrived, value = 0 } } or {}
  local arguments = template.arguments(d)
  for _, x in ipairs { parts or false, arrived or false, d.m, d.n, d.k, part, splits } do arguments[#arguments + 1] = x or nil end
  list[#list + 1] = { kernel = d.name, grid = { tiles_all * splits }, block = { h.THREADS }, arguments = arguments }
  if h.SUMMED then
    list[#list + 1] = { kernel = d.name .. "_sum", grid = { ceil(all, 256) }, block = { 256 }, arguments = template.arguments(d, parts, d.m, d.n, splits, all) }
  end
  return list
end

--- Why there are no kernels of a product, or nil.
function M.refusal(d)
  return (d.m >= 2 ^ 31 or d.n >= 2 ^ 31 or d.k >= 2 ^ 31) and "a side of the product is beyond 32 bits" or nil
end

--- The kernels of a product; or nil and why not. `how`: tile (one of M.tiles, by number), splits (parts of k); `chip`: see gpu/chip.lua.
---@param d cawb.Product
---@return table? made  { text, launches }
---@return string? why
function M.generate(d, how, chip)
  local why = M.refusal(d)
  if why then return nil, why end
  how = how or {}
  if d.batch * d.m * d.n == 0 then return { text = "", launches = {} } end
  local tile, splits = best(d, how, chip)
  local part = math.max(DEEP, ceil(d.k, splits * DEEP) * DEEP)
  splits = math.max(1, ceil(d.k, part))
  local h = holes(d, tile, splits, is_last(d, tile, splits, chip))
  return { text = template.complete(d, template.functions(d, functions), template.fill("product/product", d, h)),
           launches = launches(d, h, tile, splits, part), needs = h.LAST and { "meet" } or nil }
end

M.tiles = #tiles

return M

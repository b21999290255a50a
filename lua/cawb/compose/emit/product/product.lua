-- product: sums of products in plain arithmetic, by tiles in shared memory, or by skinny.lua where one side is short: products of matrices,
-- and convolutions as such (conv), that no library computes, or with an epilogue. The elements of the result are numbered (z, m, n), z being
-- all batches; the factors are a(z, m, k) and b(z, k, n), whatever lies behind them. Long sums are made of short ones, so that their error
-- stays that of a library's.

local accesses = require "cawb.compose.emit.accesses"
local convs = require "cawb.compose.emit.product.conv"
local costs = require "cawb.compose.cost.products"
local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local skinny = require "cawb.compose.emit.product.skinny"
local template = require "cawb.compose.emit.template"
local types = require "cawb.torch.types"
local views = require "cawb.compose.ir.view"

local M = {}

local ceil = template.ceil

-- Access functions.
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

-- How the threads of a tile read a factor: in which order, and how many neighbours at a time. `side` is "A" with its rows or "B" with its columns.
local function reader(h, side, size, along_k, wide)
  local inner = along_k and h.TK or size
  local packs = inner // wide
  local fast, slow = ("(e %% %d * %d)"):format(packs, wide), ("(e / %d)"):format(packs)
  h["ROW" .. side], h["COL" .. side] = along_k and slow or fast, along_k and fast or slow
  h["JROW" .. side], h["JCOL" .. side] = along_k and "0" or "j", along_k and "j" or "0"
  h["HELD" .. side], h["WIDE" .. side] = size * h.TK // h.EACH, wide
end

-- Four at a time where the tile has enough of them for all threads.
local function wide_of(d, h, text, along, size)
  local ok = text and d[along] % 4 == 0 and size * h.TK // h.EACH >= 4
  return ok and 4 or 1
end

-- Reads of both factors as holes, by those of the tile: TM, TN, TK, and EACH threads.
local function reading(d, h)
  local along_a, along_b = d.along_a or "k", d.along_b or "n"
  reader(h, "A", h.TM, along_a == "k", wide_of(d, h, d.a4, along_a, h.TM))
  reader(h, "B", h.TN, along_b == "k", wide_of(d, h, d.b4, along_b, h.TN))
  local pass = template.names(d.parameters)
  h.LOADA = h.WIDEA == 4 and ("%s_a4(%s, v, z, m, k);"):format(d.name, pass) or ("v[0] = %s_a(%s, z, m, k);"):format(d.name, pass)
  h.LOADB = h.WIDEB == 4 and ("%s_b4(%s, v, z, k, n);"):format(d.name, pass) or ("v[0] = %s_b(%s, z, k, n);"):format(d.name, pass)
end

local function holes(d, tile, splits)
  local h = { T = d.type, TM = tile.m, TN = tile.n, TK = DEEP, RM = tile.rows, RN = tile.columns,
              EACH = tile.m * tile.n // (tile.rows * tile.columns), SUMMED = splits > 1 or nil }
  h.CHAIN = ceil(d.k, splits) > 2 * CHAIN and d.type == "float" and CHAIN or nil
  writing(d, h, splits)
  reading(d, h)
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

--- The kernels of a product. `d`: a description (template.lua) of type, "float" or "double"; batch, m, n and k; along_a and along_b, along which
--- neighbours of a and b lie in memory ("k" or "m"; "n" or "k"). `how`: tile (one of M.tiles, by number; the last ones are those of skinny.lua),
--- splits (parts of k); `chip`: see gpu/chip.lua.
function M.made(d, how, chip)
  how = how or {}
  if d.batch * d.m * d.n == 0 then return { text = "", launches = {} } end
  local tile, splits, seconds = best(d, how, chip)
  local thin = with_short_side(d, how, chip, seconds)
  local text, steps
  if thin then text, steps = skinny.made(d, thin) else text, steps = tiled(d, tile, splits) end
  return { text = template.complete(d, template.functions(d, functions), text), launches = steps,
           needs = thin and { "tensor_tf32", thin.cluster > 1 and "join" or nil, thin.cluster > 1 and "join_cluster" or nil } or nil,
           how = thin and (d.exact and "16-bit numbers as tf32 (mma)" or "float32 by three products of tf32 parts (mma)") or nil }
end

M.tiles = #tiles + #skinny.tiles

local sums = { float = true, double = true, int = true, ["long long"] = true }

--- Whether a product or a convolution of this type can be computed here.
function M.computes(dtype) return types.known(dtype) and sums[types.register(dtype)] ~= nil end

-- Where an operand's elements lie in memory, seen through views, by variables r1, r2, ...; nil where they are computed, or
-- in several tensors.
local function place_of(x)
  local i, node = views.variables(x.shape), x
  while node.kind == "view" and not node.stored do
    if #node.pieces > 1 then return nil end
    i, node = views.at(node.pieces[1], i), node.inputs[node.pieces[1].input]
  end
  return node.strides and index.place(i, node.strides, node.offset or 0) or nil
end

local sixteen = { float16 = true, bfloat16 = true }

-- Along which of its last two dimensions neighbours of an operand lie: r - 1 or r; and whether they lie in packs of four.
local function lie(x)
  local place, r = place_of(x), #x.shape
  if not place then return r, false end
  local row, column = index.stride(place, "r" .. r - 1), index.stride(place, "r" .. r)
  local along = row == 1 and column ~= 1 and r - 1 or r
  return along, (x.dtype == "float32" or sixteen[x.dtype]) and index.stride(place, "r" .. along) == 1 and x.shape[along] % 4 == 0
end

-- Four neighbours of an operand; `names` of its rows and columns, `along` which of them.
local function four_of(a, x, along, names)
  local rank = #x.shape
  local i = { index.var(names[1], x.shape[rank - 1]), index.var(names[2], x.shape[rank]) }
  local list = lists.map(accesses.neighbours(x.shape[along], 4), function(e)
    return accesses.in_batch(x.shape, table.unpack(index.with(i, along - rank + 2, e)))
  end)
  return a:values(x, list, ("const int t = %s / 4;"):format(names[along - rank + 2]))
end

-- C that reads an element of an operand, C that reads four, and the name of the index along which neighbours lie in memory.
local function operand(a, x, names)
  local rank = #x.shape
  local along, packs = lie(x)
  local one = a:value(x, accesses.in_batch(x.shape, index.var(names[1], x.shape[rank - 1]), index.var(names[2], x.shape[rank])))
  return one, packs and four_of(a, x, along, names) or nil, names[along - rank + 2]
end

-- A product of matrices: sizes, factors and the result's indices, as conv.product has them.
local function matrices(x)
  local rank = #x.shape
  local p = { m = x.shape[rank - 1], n = x.shape[rank], k = x.inputs[1].shape[rank], batch = graphs.numel { table.unpack(x.shape, 1, rank - 2) },
              a = x.inputs[1], b = x.inputs[2], inner = x.shape[rank] }
  function p.at(column) return accesses.in_batch(x.shape, index.var("m", p.m), column), {} end
  return p
end

-- The condition in C under which there is a result at z, m and n; nil where there is one everywhere.
local function conditions(p)
  return expression.conditions(select(2, p.at(index.var("n", p.n))))
end

-- What is written of each element, and of four neighbours of a line if lines are packs of them.
local function writes(x, p)
  local one = accesses.written(x, { (p.at(index.var("n", p.n))) }, "value")
  if p.inner % 4 ~= 0 or p.n == 0 or types.size(x.dtype) ~= 4 or conditions(p) then return one end
  local list = lists.map(accesses.neighbours(p.n, 4), function(e) return (p.at(e)) end)
  return one, accesses.written(x, list, "v[%d]")
end

-- The product of a kernel, whose node is `x`; raises a refusal.
local function describe(kernel)
  local x = accesses.anchor(kernel, { product = true, conv = true })
  if not M.computes(x.dtype) then expression.refuse(("no %s sums %s"):format(x.kind == "conv" and "convolution" or "product", x.dtype)) end
  local p = x.kind == "conv" and convs.product(x) or matrices(x)
  if p.m >= 2 ^ 31 or p.n >= 2 ^ 31 or p.k >= 2 ^ 31 then expression.refuse "a side of the product is beyond 32 bits" end
  accesses.follow(kernel, x, writes(x, p))
  p.x = x
  return p
end

local function make(kernel, p, options, chip)
  local x = p.x
  local a, one, four = accesses.new(kernel, x), writes(x, p)
  local d = { type = types.register(x.dtype), m = p.m, n = p.n, k = p.k, batch = p.batch, exact = sixteen[p.a.dtype] and sixteen[p.b.dtype] }
  d.a, d.a4, d.along_a = operand(a, p.a, { "m", "k" })
  d.b, d.b4, d.along_b = operand(a, p.b, { "k", "n" })
  local inside = conditions(p)
  d.store = inside and ("if (%s) {\n%s\n}"):format(inside, a:write(one)) or a:write(one)
  d.store4 = four and a:write(four, "const int t = n / 4;")
  return a:finish(M.made(a:describe(d), options, chip))
end

M.describe, M.make = describe, make

return expression.family(M, describe, make)

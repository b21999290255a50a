-- attention/text: attention in one kernel, its scores never in memory (online softmax: Milakov and Gimelshein 2018, Dao et al. 2022).
-- Both products run on tensor cores, by products of a warp (mma): of float32 at its accuracy, factors being three parts of bfloat16, six of whose
-- products count; or of float16 and bfloat16 as the numbers are, with float32 sums, where rows of 16-byte pieces are copied to shared memory
-- without passing through registers.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local lift = require "cawb.compose.emit.lift"
local lists = require "cawb.base.lists"
local template = require "cawb.compose.emit.template"
local types = require "cawb.torch.types"

local M = {}

local ceil = template.ceil

---@class cawb.Attend: a description (template.lua), and
---@field batch integer    attentions beside each other (z)
---@field m integer        queries
---@field n integer        keys
---@field k integer        products of a score's sum
---@field v integer        columns of the values
---@field hidden function? (rows, columns) returns C: no score of so many rows from `first` and columns from `columns * step` counts
---@field finite boolean   a row without a score above -inf is 0 instead of NaN
---@field dtype string
---@field scale number?     a score is `product` times scale, unless it is hidden; `score` returns `product` or -inf
---@field open function?    (rows, columns) returns C: " && ..." that no score is hidden in so many rows and columns of a step
--- and its access functions: of queries, keys and values one number, four neighbours from 4 t on, and the address of eight from 8 eight on;
--- the score of a sum of products; the epilogue of a result, and of two from column 2 pair on.
local functions = {}
for _, name in ipairs { "query", "key", "value" } do
  functions[#functions + 1] = ("float %s(int z, int row, int k)"):format(name)
  functions[#functions + 1] = ("void %s4(float *v, int z, int row, int t)"):format(name)
  functions[#functions + 1] = ("const void *%s8(int z, int row, int eight)"):format(name)
end
for _, one in ipairs { "float score(int z, int row, int column, float product)", "void put(int z, int row, int column, float result)",
                       "void put2(int z, int row, int pair, float left, float right)" } do functions[#functions + 1] = one end

local KEYS = 64                       -- a step

--- Of values (emit/lift.lua). Weights are not lifted; few of them make a result, so that sums are cut off less.
M.LIFTV = lift(KEYS)

-- Bytes of shared memory with which two blocks fit a multiprocessor, of which one may have `most`: a kilobyte of a multiprocessor's is
-- no block's, and every block costs one more.
local function half_of(most) return (most + 1024) // 2 - 1024 end

-- C that reads eight neighbours, from `eight` on, of the row that `at` names.
local function reading(name, four, at, depth)
  if four then
    return ("for (int half = 0; half < 2; half++) if (2 * eight + half < %d) $%s4(v + 4 * half, z, %s, 2 * eight + half);"):format(depth // 4, name, at)
  end
  return ("for (int j = 0; j < 8; j++) if (8 * eight + j < %d) v[j] = $%s(z, %s, 8 * eight + j);"):format(depth, name, at)
end

-- Bytes of a row of so many numbers in shared memory.
local function pitch(padded) return 2 * padded + 16 end

--- Holes of every template of attention, for blocks of so many rows and threads and steps of so many keys.
function M.holes(d, rows, threads, keys)
  local h = { M = d.m, N = d.n, D = d.k, V = d.v, ROWS = rows, WARPS = threads // 32, THREADS = threads, DPAD = ceil(d.k, 16) * 16, VPAD = ceil(d.v, 16) * 16,
              SCALE = d.scale and types.literal(d.scale, "float32") .. " * " or "", DOWN = ceil(d.m, rows), STEPS = ceil(d.n, keys), STRIPS = ceil(d.v, 32), PAIRS = d.put2,
              POWER = types.literal((d.scale or 1) / math.log(2), "float32"), FINITE = d.finite and "finite_or_zero" or "", EMPTY = d.finite and "is_zero" or "never_empty",
              HIDES = d.hidden, HIDDEN = d.hidden and d.hidden(rows, keys) or "false" }
  h.READQ, h.READK = reading("query", d.query4, "first + row", d.k), reading("key", d.key4, ("%d * step + row"):format(keys), d.k)
  h.READV = reading("value", d.value4, ("%d * step + row"):format(keys), d.v)
  for _, hole in ipairs { "READQ", "READK", "READV" } do h[hole] = template.called(d, h[hole]) end
  return h
end

-- C of a thread's rows in the end: of a warp with several times 16 queries, of one of a warpgroup, and of one with 16.
local ends = {
  warp = { ENDROW = "first + (warp * TILES + m) * 16", ENDTOTAL = "total[m]", ENDLEFT = "sum[m][j][half * 2]", ENDRIGHT = "sum[m][j][half * 2 + 1]" },
  group = { ENDROW = "first + 64 * group + threadIdx.x / 32 % 4 * 16", ENDTOTAL = "total", ENDLEFT = "sum[4 * j + half * 2]", ENDRIGHT = "sum[4 * j + half * 2 + 1]" },
  parts = { ENDROW = "first + warp * 16", ENDTOTAL = "total", ENDLEFT = "sum[j][half * 2]", ENDRIGHT = "sum[j][half * 2 + 1]" },
}

--- The kernels of these templates, in order, with their holes filled: `how` in words, `needs` of parts; `behind` is text that follows
--- theirs. `body` is the text without its access functions.
function M.made(d, h, templates, how, needs, behind)
  for name, text in pairs(ends[h.TILES and "warp" or h.GROUPS and "group" or "parts"]) do h[name] = text:gsub("TILES", h.TILES or "") end
  h.ENDEACH = (h.VN or h.VPAD) // 8
  h.RESULTS = template.fill("attention/results", d, h)
  h.STEPSTEXT = h.KEYS and template.fill("attention/steps", d, h) or nil
  local texts = lists.map(templates, function(name) return template.fill(name, d, h) end)
  local body = table.concat(lists.joined(texts, { behind }), "\n")
  return { text = template.complete(d, template.functions(d, functions), body), body = body, needs = needs, how = how,
           launches = { { kernel = d.name, grid = { d.batch * h.DOWN }, block = { h.THREADS }, shared = h.shared, arguments = d.arguments } } }
end

--- Why there can be no kernel with these holes, in blocks of at most so many bytes of shared memory; or nil.
function M.refusal(d, h, most)
  if h.shared > most then return ("%d bytes of shared memory are more than a block has"):format(h.shared) end
  if d.batch * h.DOWN > 0x7fffffff then return "it has too many queries" end
end

local function bytes(d, rows)
  local k, v = pitch(ceil(d.k, 16) * 16), pitch(ceil(d.v, 16) * 16)
  return 3 * ((rows + KEYS) * k + KEYS * v)
end

--- Why there can be no kernel of these sizes and numbers of a type in blocks of at most so many bytes; or nil.
function M.too_large(s, dtype, most)
  if dtype ~= "float32" then
    local query, value = pitch(ceil(s.k, 16) * 16), pitch(ceil(s.v, 16) * 16)
    return M.refusal(s, { shared = 64 * query + 64 * (query + value), DOWN = ceil(s.m, 64) }, most)
  end
  local rows = M.rows(s, most)
  return M.refusal(s, { shared = bytes(s, rows), DOWN = ceil(s.m, rows) }, most)
end

--- Queries of a block with so many bytes of shared memory.
function M.rows(d, most) return d.m > 64 and bytes(d, 128) <= most and 128 or 64 end

--- Text and launches; or nil and why not. `most`: bytes of shared memory that a block may have; `rest`: a number for each block,
--- 0 where another kernel has done it.
function M.parts(d, most, rest)
  local rows = M.rows(d, most)
  local h = M.holes(d, rows, 2 * rows, KEYS)
  h.shared = bytes(d, rows)
  h.LIFTK, h.LIFTV = lift(math.min(d.k, KEYS)), M.LIFTV
  h.BLOCKS = h.shared <= half_of(most) and 2 or 1
  h.RESTS, h.MORE = rest, rest and ", const int *__restrict__ rest" or ""
  local why = M.refusal(d, h, most)
  if why then return nil, why end
  local made = M.made(d, h, { "attention/plain", "attention/parts" }, "attention in one kernel, float32 by six products of bfloat16 parts (mma)",
    { "tensor", "tensor_attend", "tensor_mma", "tensor_parts" })
  if rest then made.launches[1].arguments = template.arguments(d, rest) end
  return made
end

-- ---- 16-bit numbers

local WIDEST = 128                    -- columns with which a warp takes 32 queries: each of keys and values is read for twice as many

-- Queries of a block: 128, unless there are few of them, or few blocks.
local function queries_of(d)
  return (d.m <= 64 or d.batch * ((d.m + 127) // 128) < d.sms) and 64 or 128
end

local function half_holes(d, queries, keys, most)
  local tiles = queries == 128 and math.max(d.k, d.v) <= WIDEST and 2 or 1
  local h = M.holes(d, queries, queries // (16 * tiles) * 32, keys)
  h.TILES, h.KEYS = tiles, keys
  for name, word in pairs(arithmetic.words[d.dtype]) do h[name] = word end
  h.NEARQ, h.NEARK, h.NEARV = d.query8, d.key8, d.value8
  h.HELD = tiles * h.DPAD <= 128
  h.OPEN = d.open and ("%d * (step + 1) <= %d%s"):format(keys, d.n, d.open(queries, keys)) or "false"
  h.shared = queries * pitch(h.DPAD) + 2 * keys * (pitch(h.DPAD) + pitch(h.VPAD))
  h.BLOCKS = h.shared <= half_of(most) and h.THREADS <= 128 and 2 or 1
  return h
end

-- The value that a schedule asks for, if there is such a block; else the default.
local function asked(how, name, values, default)
  return how and values[how[name]] and how[name] or default
end

--- The same of 16-bit numbers. `how`: queries of a block and keys of a step, if a schedule sets them.
function M.half(d, most, how)
  local queries = asked(how, "queries", { [64] = true, [128] = true }, queries_of(d))
  local h = half_holes(d, queries, asked(how, "keys", { [32] = true, [64] = true }, 64), most)
  if h.shared > most then h = half_holes(d, queries, 32, most) end
  if h.shared > most then h = half_holes(d, 64, 32, most) end
  local why = M.refusal(d, h, most)
  if why then return nil, why end
  return M.made(d, h, { "attention/plain", "attention/half" }, ("attention in one kernel, of %s (mma), %d queries a block, %d keys a step"):format(d.dtype, h.ROWS, h.KEYS),
    { "tensor", "tensor_attend", "tensor_mma", "tensor_rows" })
end

return M

-- attention/warpgroup: attention by Hopper's products of warpgroups (the way of Shah et al. 2024). Of float16 and bfloat16, where rows lie in 16
-- bytes: a group of warps brings tiles, two or three more work on 64 queries each, in turns. Of float32 in pairs of 16-bit halves: three of
-- their four products count, half as many as with three bfloat16 parts (text). There a first kernel packs keys and values, with a scale for each
-- step, and a thread of the second one fetches them. A block whose numbers do not fit 16 bits sets a flag, and a third kernel, that of text,
-- does its work.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local attend = require "cawb.compose.emit.attention.text"
local lift = require "cawb.compose.emit.lift"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil
local registers = { [2] = { FEW = 40, MANY = 232 }, [3] = { FEW = 32, MANY = 160 } }      -- of a thread that brings, and of others, by groups

-- Holes of both instructions, of numbers of a type, and of the weights, for h.KEYS keys a step.
local function instructions(h, d, type)
  h.OPEN = d.open and ("%d * (step + 1) <= %d%s"):format(h.KEYS, d.n, d.open(64, h.KEYS)) or "false"
  h.ASKINSTRUCTION = arithmetic.group(d.name .. "_multiply", h.KEYS, type, { 0, 0 })
  h.ANSWERINSTRUCTION = arithmetic.group(d.name .. "_add", h.VN, type, { 0, 1 }, true)
end

local function bytes(h, rows, keys, stages) return 128 * (h.KBLOCKS * rows + stages * keys * (h.KBLOCKS + h.VBLOCKS)) end

-- Stages that fit, at most four; the barriers take some, and up to 1024 bytes are lost to where tiles begin.
local function stages_of(h, rows, keys, most)
  local n = 4
  while n > 1 and bytes(h, rows, keys, n) + 2048 > most do n = n - 1 end
  return n
end

local function holes(d, rows, keys, most)
  local groups = rows // 64
  local h = attend.holes(d, rows, 128 * (groups + 1), keys)
  for _, set in ipairs { arithmetic.words[d.dtype], registers[groups] } do
    for name, word in pairs(set) do h[name] = word end
  end
  h.GROUPS, h.KEYS, h.VN, h.KSTEPS, h.KBLOCKS, h.VBLOCKS = groups, keys, h.VPAD, h.DPAD // 16, ceil(d.k, 64), ceil(d.v, 64)
  instructions(h, d, h.TYPE)
  h.STAGES = stages_of(h, rows, keys, most)
  h.HIDDENGROUP = d.hidden and d.hidden(64, keys) or "false"
  h.BATCH, h.ITEMS = d.batch, d.batch * h.DOWN
  h.AHEAD = h.HIDES and h.DOWN * rows - d.m or 0
  h.MORE = h.HIDES and ", const unsigned *__restrict__ marks" or ""
  h.shared = bytes(h, rows, keys, h.STAGES)
  return h
end

local function launches(d, h, blocks)
  local marks = h.HIDES and { scratch = d.name .. "_marks", dtype = "int32", numel = d.batch * h.STEPS * (h.VN // 2 + 1) }
  local main = { kernel = d.name, grid = { blocks }, block = { h.THREADS }, shared = h.shared, arguments = template.arguments(d, marks or nil) }
  if not marks then return { main } end
  return { { kernel = d.name .. "_look", grid = { d.batch * h.STEPS }, block = { 128 }, arguments = template.arguments(d, marks) }, main }
end

-- Why it is left to other kernels; or nil.
local function refusal(d)
  if not (d.query8 and d.key8 and d.value8 and d.put2) then return "its rows do not lie in 16 bytes" end
  if d.m <= 64 then return "it has too few queries" end
end

-- Three groups hide more of each other's waiting than two, if their registers hold the sums.
local function queries_of(d)
  return math.max(d.k, d.v) <= 64 and d.batch * ceil(d.m, 192) >= d.sms and 192 or 128
end

--- Text and launches; or nil and why not. `d`: a cawb.Attend; `most`: bytes of shared memory that a block may have; `how`, from a schedule: queries of a tile (128, 192), keys of a step, blocks.
function M.whole(d, most, how)
  local why = refusal(d)
  if why then return nil, why end
  how = how or {}
  local deep = math.max(d.k, d.v)
  local rows = deep <= 128 and how.queries or queries_of(d)
  local keys = deep <= 128 and how.keys ~= 64 and 128 or 64
  local h = holes(d, rows, keys, most)
  why = attend.refusal(d, h, most - 2048) or d.batch * h.STEPS > 0x7fffffff and "it has too many keys" or nil
  if why then return nil, why end
  local list = { "attention/group" }
  if h.HIDES then table.insert(list, 1, "attention/look") end
  local made = attend.made(d, h, list, ("attention in one kernel, of %s (wgmma), %d queries a tile, %d keys a step"):format(d.dtype, rows, keys),
    { "tensor", "tensor_attend", "tensor_group", "tensor_warpgroup", "tensor_mma", "tensor_rows" })
  made.launches = launches(d, h, how.blocks or math.min(h.ITEMS, d.sms))
  return made
end

-- ---- pairs of halves

local ROWS = 128
local DEEPEST = 128                   -- numbers of a row, four a lane
local RESERVED = 3 << 10              -- bytes of barriers and scales, and of the alignment of tiles

-- C that reads four neighbours of a row into `to`.
local function four(d, name, depth, to, row)
  if d[name .. "4"] then return template.called(d, ("if (lane < %d) $%s4(%s, z, %s, lane);"):format(depth // 4, name, to, row)) end
  return template.called(d, ("for (int j = 0; j < 4; j++) if (4 * lane + j < %d) %s[j] = $%s(z, %s, 4 * lane + j);"):format(depth, to, name, row))
end

local function pair_holes(d, most, how)
  local deep = math.max(d.k, d.v)
  local keys = deep <= 64 and how.keys ~= 64 and 128 or 64
  local h = attend.holes(d, ROWS, 384, keys)
  h.GROUPS, h.KEYS, h.VN, h.KSTEPS = 2, keys, h.VPAD, h.DPAD // 16
  h.DPAD, h.VPAD = ceil(d.k, 64) * 64, ceil(d.v, 64) * 64
  instructions(h, d, "f16")
  h.FOURQ, h.FOURK = four(d, "query", d.k, "v[i]", "first + row"), four(d, "key", d.k, "k[i]", "row")
  h.FOURV = four(d, "value", d.v, "v[i]", "row")
  h.LIFTK, h.LIFTV = lift(d.k), attend.LIFTV
  local stage = 4 * keys * (h.DPAD + h.VPAD)
  h.STAGES = math.min(3, (most - RESERVED - 4 * ROWS * h.DPAD) // stage)
  h.shared = 4 * ROWS * h.DPAD + h.STAGES * stage
  return h
end

-- Launches of both kernels; `rest`: a number for each block, which it sets where another kernel is to do its work.
local function pair_launches(d, h, rest)
  local steps = d.batch * h.STEPS
  local parts = { scratch = d.name .. "_parts", dtype = "uint8", numel = steps * 4 * h.KEYS * (h.DPAD + h.VPAD) }
  local scales = { scratch = d.name .. "_scales", dtype = "float32", numel = 2 * steps }
  local function launch(name, blocks, threads, shared, ...)
    return { kernel = d.name .. name, grid = { blocks }, block = { threads }, shared = shared, arguments = template.arguments(d, ...) }
  end
  return { launch("_pack", steps, 256, 0, parts, scales), launch("_pairs", d.batch * h.DOWN, h.THREADS, h.shared, parts, scales, rest) }
end

-- Why it is left to other kernels; or nil.
local function unpaired(d, most)
  if not d.scale then return "its scores are no multiple of the products" end
  if math.max(d.k, d.v) > DEEPEST then return "its rows are too long" end
  if attend.rows(d, most) ~= ROWS then return "it has too few queries" end
end

--- The same in pairs of halves. `how`: keys of a step, where a schedule says so.
function M.pairs(d, most, how)
  local why = unpaired(d, most)
  if why then return nil, why end
  local h = pair_holes(d, most, how or {})
  why = h.STAGES < 1 and "its tiles are too large" or attend.refusal(d, h, most - RESERVED)
  if not why and d.batch * h.STEPS > 0x7fffffff then why = "it has too many keys" end
  if why then return nil, why end
  local rest = { scratch = d.name .. "_rest", dtype = "int32", numel = d.batch * h.DOWN }
  local others
  others, why = attend.parts(d, most, rest)
  if not others then return nil, why end
  local made = attend.made(d, h, { "attention/pack", "attention/group_pairs" }, ("attention in one kernel, float32 by three products of 16-bit halves (wgmma), %d queries a block, %d keys a step"):format(ROWS, h.KEYS),
    { "tensor", "tensor_attend", "tensor_mma", "tensor_parts", "tensor_rows", "tensor_group", "tensor_warpgroup" }, others.body)
  made.launches = pair_launches(d, h, rest)
  made.launches[3] = others.launches[1]
  return made
end

return M

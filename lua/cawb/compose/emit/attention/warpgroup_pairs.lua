-- warpgroup_pairs: attention of float32 in pairs of 16-bit halves, by Hopper's warpgroup products. Three of their four products count,
-- half as many as with three bfloat16 parts (text). A first kernel packs keys and values, with a scale for each step; a thread of the
-- second one fetches them, and two groups of four warps work on 64 queries each, in turns. A block whose numbers do not fit 16 bits sets
-- a flag, and a third kernel, that of text, does its work.

local attend = require "cawb.compose.emit.attention.text"
local attend_group = require "cawb.compose.emit.attention.warpgroup"
local lift = require "cawb.compose.emit.lift"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil
local ROWS = 128
local DEEPEST = 128                   -- numbers of a row, four a lane
local RESERVED = 3 << 10              -- bytes of barriers and scales, and of the alignment of tiles

-- C that reads four neighbours of a row into `to`.
local function four(d, name, depth, to, row)
  if d[name .. "4"] then return template.called(d, ("if (lane < %d) $%s4(%s, z, %s, lane);"):format(depth // 4, name, to, row)) end
  return template.called(d, ("for (int j = 0; j < 4; j++) if (4 * lane + j < %d) %s[j] = $%s(z, %s, 4 * lane + j);"):format(depth, to, name, row))
end

local function holes(d, most, how)
  local deep = math.max(d.k, d.v)
  local keys = deep <= 64 and how.keys ~= 64 and 128 or 64
  local h = attend.holes(d, ROWS, 384, keys)
  h.GROUPS, h.KEYS, h.VN, h.KSTEPS = 2, keys, h.VPAD, h.DPAD // 16
  h.DPAD, h.VPAD = ceil(d.k, 64) * 64, ceil(d.v, 64) * 64
  attend_group.instructions(h, d, "f16")
  h.FOURQ, h.FOURK = four(d, "query", d.k, "v[i]", "first + row"), four(d, "key", d.k, "k[i]", "row")
  h.FOURV = four(d, "value", d.v, "v[i]", "row")
  h.LIFTK, h.LIFTV = lift(d.k), attend.LIFTV
  local stage = 4 * keys * (h.DPAD + h.VPAD)
  h.STAGES = math.min(3, (most - RESERVED - 4 * ROWS * h.DPAD) // stage)
  h.shared = 4 * ROWS * h.DPAD + h.STAGES * stage
  return h
end

-- Launches of both kernels; `rest`: a number for each block, which it sets where another kernel is to do its work.
local function launches(d, h, rest)
  local steps = d.batch * h.STEPS
  local parts = { scratch = d.name .. "_parts", dtype = "uint8", numel = steps * 4 * h.KEYS * (h.DPAD + h.VPAD) }
  local scales = { scratch = d.name .. "_scales", dtype = "float32", numel = 2 * steps }
  local function launch(name, blocks, threads, shared, ...)
    return { kernel = d.name .. name, grid = { blocks }, block = { threads }, shared = shared, arguments = template.arguments(d, ...) }
  end
  return { launch("_pack", steps, 256, 0, parts, scales), launch("_pairs", d.batch * h.DOWN, h.THREADS, h.shared, parts, scales, rest) }
end

-- Why it is left to other kernels; or nil.
local function refusal(d, most)
  if not d.scale then return "its scores are no multiple of the products" end
  if math.max(d.k, d.v) > DEEPEST then return "its rows are too long" end
  if attend.rows(d, most) ~= ROWS then return "it has too few queries" end
end

--- Text and launches; or nil and why not. `d`: a cawb.Attend with `scale` and `open` as attend_half has them; `most`: bytes of shared memory
--- that a block may have. `how`: keys of a step, where a schedule says so.
function M.generate(d, most, how)
  local why = refusal(d, most)
  if why then return nil, why end
  local h = holes(d, most, how or {})
  why = h.STAGES < 1 and "its tiles are too large" or attend.refusal(d, h, most - RESERVED)
  if not why and d.batch * h.STEPS > 0x7fffffff then why = "it has too many keys" end
  if why then return nil, why end
  local rest = { scratch = d.name .. "_rest", dtype = "int32", numel = d.batch * h.DOWN }
  local others
  others, why = attend.generate(d, most, rest)
  if not others then return nil, why end
  local made = attend.made(d, h, { "attention/pack", "attention/group_pairs" }, ("attention in one kernel, float32 by three products of 16-bit halves (wgmma), %d queries a block, %d keys a step"):format(ROWS, h.KEYS),
    { "tensor", "tensor_attend", "tensor_mma", "tensor_parts", "tensor_rows", "tensor_group", "tensor_warpgroup" }, others.body)
  made.launches = launches(d, h, rest)
  made.launches[3] = others.launches[1]
  return made
end

return M

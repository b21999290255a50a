-- warpgroup_pairs: attention of float32 in pairs of 16-bit halves, as attend_pairs, by Hopper's warpgroup products. A thread
-- fetches packed keys and values; two groups of four warps work on 64 queries each, in turns.

local attend = require "cawb.compose.emit.attention.text"
local attend_group = require "cawb.compose.emit.attention.warpgroup"
local attend_pairs = require "cawb.compose.emit.attention.pairs"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil
local ROWS = 128
local DEEPEST = 128                   -- numbers of a row, four a lane
local RESERVED = 3 << 10              -- bytes of barriers and scales, and of the alignment of tiles

local function holes(d, most, how)
  local deep = math.max(d.k, d.v)
  local keys = deep <= 64 and how.keys ~= 64 and 128 or 64
  local h = attend.holes(d, ROWS, 384, keys)
  h.GROUPS, h.KEYS, h.VN, h.KSTEPS, h.SWIZZLED = 2, keys, h.VPAD, h.DPAD // 16, true
  h.DPAD, h.VPAD = ceil(d.k, 64) * 64, ceil(d.v, 64) * 64
  attend_group.instructions(h, d, "f16")
  h.TURNS = how.turns ~= false
  h.FOURQ, h.FOURK = attend_pairs.four(d, "query", d.k, "v[i]", "first + row"), attend_pairs.four(d, "key", d.k, "k[i]", "row")
  h.FOURV = attend_pairs.four(d, "value", d.v, "v[i]", "row")
  local stage = 4 * keys * (h.DPAD + h.VPAD)
  h.STAGES = how.stages or math.min(3, (most - RESERVED - 4 * ROWS * h.DPAD) // stage)
  h.shared = 4 * ROWS * h.DPAD + h.STAGES * stage
  return h
end

-- Why it is left to other kernels; or nil.
local function refusal(d, most)
  if not d.scale then return "its scores are no multiple of the products" end
  if math.max(d.k, d.v) > DEEPEST then return "its rows are too long" end
  if attend.rows(d, most) ~= ROWS then return "it has too few queries" end
end

--- As attend_pairs'. `how`: keys of a step, stages, turns, where a schedule says so.
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
  made.launches = attend_pairs.launches(d, h, rest)
  made.launches[3] = others.launches[1]
  return made
end

return M

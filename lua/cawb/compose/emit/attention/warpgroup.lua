-- attention/warpgroup: attention of float16 and bfloat16 by Hopper's products of warpgroups, where rows lie in 16 bytes (the way of
-- Shah et al. 2024): a group of warps brings tiles, two or three more work on 64 queries each, in turns.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local attend = require "cawb.compose.emit.attention.text"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil
local registers = { [2] = { FEW = 40, MANY = 232 }, [3] = { FEW = 32, MANY = 160 } }      -- of a thread that brings, and of others, by groups

--- Holes of both instructions, of numbers of a type, and of the weights, for h.KEYS keys a step.
function M.instructions(h, d, type)
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
  M.instructions(h, d, h.TYPE)
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

--- As attend_half's. `how`, from a schedule: queries of a tile (128, 192), keys of a step, blocks.
function M.generate(d, most, how)
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

return M

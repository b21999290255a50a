-- pairs: attention of float32 in pairs of 16-bit halves. Three of their four products count, half as many as with three
-- bfloat16 parts (attend). A first kernel packs keys and values, with a scale for each step. A block whose numbers do not fit 16 bits
-- sets a flag, and a third kernel, that of attend, does its work.

local attend = require "cawb.compose.emit.attention.text"
local template = require "cawb.compose.emit.template"
local types = require "cawb.torch.types"

local M = {}

local NARROW = 64                     -- columns with which a warp takes 32 queries
local DEEPEST = 128                   -- numbers of a row, four a lane

-- C that reads four neighbours of a row into `to`.
function M.four(d, name, depth, to, row)
  if d[name .. "4"] then return template.called(d, ("if (lane < %d) $%s4(%s, z, %s, lane);"):format(depth // 4, name, to, row)) end
  return template.called(d, ("for (int j = 0; j < 4; j++) if (4 * lane + j < %d) %s[j] = $%s(z, %s, 4 * lane + j);"):format(depth, to, name, row))
end

local function holes(d, most, keys)
  local rows = attend.rows(d, most)                  -- those of the kernel that does the rest
  local tiles = rows == 128 and math.max(d.k, d.v) <= NARROW and 2 or 1
  local h = attend.holes(d, rows, rows // (16 * tiles) * 32, keys)
  h.TILES, h.KEYS, h.POWER = tiles, keys, types.literal(d.scale / math.log(2), "float32")
  h.OPEN = d.open and ("%d * (step + 1) <= %d%s"):format(keys, d.n, d.open(rows, keys)) or "false"
  h.FOURQ, h.FOURK = M.four(d, "query", d.k, "v", "first + row"), M.four(d, "key", d.k, "k[i]", "row")
  h.FOURV = M.four(d, "value", d.v, "v[i]", "row")
  h.shared = 2 * rows * attend.pitch(h.DPAD) + 4 * keys * (attend.pitch(h.DPAD) + attend.pitch(h.VPAD))
  h.BLOCKS = h.shared <= attend.half(most) and h.THREADS <= 128 and 2 or 1
  return h
end

--- Launches of both kernels; `rest`: a number for each block, which it sets where another kernel is to do its work.
function M.launches(d, h, rest)
  local steps = d.batch * h.STEPS
  local parts = { scratch = d.name .. "_parts", dtype = "uint8", numel = steps * 4 * h.KEYS * (h.DPAD + h.VPAD) }
  local scales = { scratch = d.name .. "_scales", dtype = "float32", numel = 2 * steps }
  local function launch(name, blocks, threads, shared, ...)
    return { kernel = d.name .. name, grid = { blocks }, block = { threads }, shared = shared, arguments = template.arguments(d, ...) }
  end
  return { launch("_pack", steps, 256, 0, parts, scales), launch("_pairs", d.batch * h.DOWN, h.THREADS, h.shared, parts, scales, rest) }
end

--- Text and launches; or nil and why not. `d`: a cawb.Attend with `scale` and `open` as attend_half has them; `most`: bytes of
--- shared memory that a block may have.
function M.generate(d, most)
  if not d.scale then return nil, "its scores are no multiple of the products" end
  if math.max(d.k, d.v) > DEEPEST then return nil, "its rows are too long" end
  local h = holes(d, most, 64)
  if h.shared + 4 * h.ROWS > most then h = holes(d, most, 32) end
  local why = attend.refusal(d, h, most)
  if not why and d.batch * h.STEPS > 0x7fffffff then why = "it has too many keys" end
  if why then return nil, why end
  local rest = { scratch = d.name .. "_rest", dtype = "int32", numel = d.batch * h.DOWN }
  local others
  others, why = attend.generate(d, most, rest)
  if not others then return nil, why end
  local made = attend.made(d, h, { "attention/pack", "attention/pairs" }, "attention in one kernel, float32 by three products of 16-bit halves (mma)",
    { "tensor", "tensor_attend", "tensor_mma", "tensor_parts", "tensor_rows" }, others.body)
  made.launches = M.launches(d, h, rest)
  made.launches[3] = others.launches[1]
  return made
end

return M

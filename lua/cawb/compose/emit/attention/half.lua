-- half: attention of float16 and bfloat16 in one kernel. Both products run on tensor cores as the numbers are, sums are
-- float32. Rows of 16-byte pieces are copied to shared memory without passing through registers.

local arithmetic = require "cawb.compose.emit.tensor.instruction"
local attend = require "cawb.compose.emit.attention.text"

local M = {}

local WIDEST = 128                    -- columns with which a warp takes 32 queries: each of keys and values is read for twice as many

-- Queries of a block: 128, unless there are few of them, or few blocks.
local function queries_of(d)
  return (d.m <= 64 or d.batch * ((d.m + 127) // 128) < d.sms) and 64 or 128
end

local function holes(d, queries, keys, most)
  local tiles = queries == 128 and math.max(d.k, d.v) <= WIDEST and 2 or 1
  local h = attend.holes(d, queries, queries // (16 * tiles) * 32, keys)
  h.TILES, h.KEYS = tiles, keys
  for name, word in pairs(arithmetic.words[d.dtype]) do h[name] = word end
  h.NEARQ, h.NEARK, h.NEARV = d.query8, d.key8, d.value8
  h.HELD = tiles * h.DPAD <= 128
  h.OPEN = d.open and ("%d * (step + 1) <= %d%s"):format(keys, d.n, d.open(queries, keys)) or "false"
  h.shared = queries * attend.pitch(h.DPAD) + 2 * keys * (attend.pitch(h.DPAD) + attend.pitch(h.VPAD))
  h.BLOCKS = h.shared <= attend.half(most) and h.THREADS <= 128 and 2 or 1
  return h
end

--- Why there can be no kernel of these sizes in blocks of at most so many bytes of shared memory; or nil.
function M.too_large(s, most)
  local query, value = attend.pitch((s.k + 15) // 16 * 16), attend.pitch((s.v + 15) // 16 * 16)
  return attend.refusal(s, { shared = 64 * query + 64 * (query + value), DOWN = (s.m + 63) // 64 }, most)
end

-- The value that a schedule asks for, if there is such a block; else the default.
local function asked(how, name, values, default)
  return how and values[how[name]] and how[name] or default
end

--- Text and launches; or nil and why not. `how`: queries of a block and keys of a step, if a schedule sets them. `d`: a cawb.Attend with
---   dtype
---   scale   a number or nil. A score is `product` times scale, unless it is hidden; `score` returns `product` or -inf
---   open    function(rows, columns), returns C: " && ..." that no score is hidden in so many rows from `first` and columns from
---           `columns * step`
function M.generate(d, most, how)
  local queries = asked(how, "queries", { [64] = true, [128] = true }, queries_of(d))
  local h = holes(d, queries, asked(how, "keys", { [32] = true, [64] = true }, 64), most)
  if h.shared > most then h = holes(d, queries, 32, most) end
  if h.shared > most then h = holes(d, 64, 32, most) end
  local why = attend.refusal(d, h, most)
  if why then return nil, why end
  return attend.made(d, h, { "attention/plain", "attention/half" }, ("attention in one kernel, of %s (mma), %d queries a block, %d keys a step"):format(d.dtype, h.ROWS, h.KEYS),
    { "tensor", "tensor_attend", "tensor_mma", "tensor_rows" })
end

return M

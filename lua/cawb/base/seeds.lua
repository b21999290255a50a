-- seeds: secret numbers for one run, all drawn from its one seed, so that
-- --seed N repeats a run and nothing else predicts it.

local core = require "cawb.core"

local M = {}

local given = os.getenv "CAWB_SEED"
if given == "" then given = nil end
local taken = {}

--- Whether all seeds of this process follow from CAWB_SEED, so that whoever knows it can predict them.
function M.are_given() return given ~= nil end

-- The next one about something: it depends neither on what else was drawn nor on when.
local function follows(about)
  taken[about] = (taken[about] or 0) + 1
  return core.hash.sha256(("%s:%s:%d"):format(given, core.hash.sha256(about), taken[about])):sub(1, 16)
end

--- A fresh seed for a run: 64 bits of the kernel's randomness, as hex digits. Where CAWB_SEED is in the
--- environment it follows from that, from `about` (a text; none) and from how many were drawn about it.
function M.fresh(about)
  if given then return follows(about or "") end
  return (assert(core.clock.random(8)):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

--- A generator: each call gives the next number for `purpose`, below 2^52 (JSON
--- holds no larger whole number).
function M.generator(seed)
  local count = 0
  return function(purpose)
    count = count + 1
    local hex = core.hash.sha256(("%s:%s:%d"):format(seed, purpose, count))
    return tonumber(hex:sub(1, 13), 16)
  end
end

--- The 32-bit pattern that outputs and scratch are filled with before a call: a NaN
--- in float16, bfloat16, float32 and float64 alike, and none that arithmetic makes; or with `finite` a number between
--- 2 and 8192, so that a kernel cannot live on finding the one or the other.
function M.poison(next_seed, finite)
  local half = finite and 0x4000 | next_seed "poison" & 0x5ff or 0x7ff8 | next_seed "poison" & 3
  return half << 16 | half
end

return M

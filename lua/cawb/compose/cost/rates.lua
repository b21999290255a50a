-- rates: what whole kernels reach of a chip's figures. The shares were fitted on an H100 and an H200; other chips are taken to be alike.
-- The figures are a device's file's, or measured (gpu/chip.lua).

local M = {}

local PAIRS = 0.6            -- of the tensor cores' rate, by products of packed factors
local USUAL = 0.86           -- of a library's rate in large products, by those of the usual sizes
local WORTH = 1.25          -- how much faster tensor cores must be than plain arithmetic: packing costs beside

--- Products of 16-bit halves in place of one of float32.
M.PRODUCTS = 3

--- Operations a second of a tensor-core instruction, the chip's best or another one.
function M.tensor(chip, loop) return chip.fp16 * ((loop or chip.tensor) == "mma" and chip.mma_share or 1) end

--- Operations a second of 16-bit products by packed factors.
function M.packed(chip) return PAIRS * M.tensor(chip) end

--- Operations a second at float32's accuracy: of packed factors, and of a library without tensor cores.
function M.exact(chip) return M.packed(chip) / M.PRODUCTS end

function M.library(chip) return USUAL * chip.library_gemm * chip.fp32 end

--- Seconds of two things that overlap, apart from a share of the shorter one.
function M.both(a, b, share) return math.max(a, b) + share * math.min(a, b) end

--- Blocks or threads that keep a chip busy, `each` of a multiprocessor: a power of two, so that parts of a whole are alike.
function M.busy(chip, each) return 1 << math.floor(math.log(each * chip.sms, 2)) end

local STEP, EACH = 1980, 594      -- clocks of a step, and of each sequence in it, as an H100 had them

--- Seconds of so many steps of recurrent layers whose weights stay in registers, of `sequences` of a group at a time.
function M.steps(chip, count, sequences) return count * (STEP + EACH * sequences) / chip.clock end

--- The power of two nearest to a number: sizes from which on another way is taken.
function M.power(n) return 1 << math.floor(math.log(n, 2) + 0.5) end

--- Why tensor cores do not serve for float32; nil where they do.
function M.refusal(chip)
  if not chip.tensor then return "it needs tensor cores of sm_80 or later" end
  local own, plain = M.exact(chip), M.library(chip)
  if own >= WORTH * plain then return nil end
  return ("they reach %.0f TFLOP/s on this device, by three products of halves each, too little beside the %.0f of a library without them"):format(own / 1e12, plain / 1e12)
end

return M

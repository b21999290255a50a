-- eager: seconds of one operator as eager PyTorch executes it: what kernels.lua says, else one pass over its tensors at the rate of its kind.

local kernels = require "cawb.torch.kernels"
local single = require "cawb.torch.single"

local M = {}

M.reached = { scan = 0.57 }          -- of memory's rate: a scan of rows takes turns

-- Seconds that a kernel takes beyond its launch and its bytes, however small: it waits for memory, and
-- its threads for one another.
M.waits = { matmul = 3e-6, convolution = 2.2e-5, reduction = 3.2e-6, normalization = 4.5e-6, scan = 2.6e-5 }

--- Seconds beyond the launch. `place`: where its tensors lie, as a task's memory has it, if it is known.
function M.seconds(op, rates, place)
  local own, wait = kernels.seconds(op, rates, place), single.by_kind(M.waits, op) or 0
  if own then return own + wait end
  local bytes = single.bytes_read(op) + op.bytes_written + single.reads_again(op, 2)
  return single.work(op, bytes / (rates.dram * (single.by_kind(M.reached, op) or 1)), rates) + wait
end

return M

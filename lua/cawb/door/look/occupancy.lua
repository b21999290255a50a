-- occupancy: how many warps a multiprocessor holds of a kernel, and what keeps it from holding more.

local M = {}

local function limits(m, figures)
  local threads = 32 * math.ceil(m.threads_per_block / 32)
  local list = { { "blocks", figures.blocks_sm }, { "threads", figures.threads_sm // threads } }
  if (m.registers or 0) > 0 then list[#list + 1] = { "registers", figures.registers_sm // math.floor(m.registers * threads) } end
  if (m.shared_bytes or 0) > 0 then list[#list + 1] = { "shared memory", figures.shared_sm // math.floor(m.shared_bytes + 1024) } end
  return list, threads
end

-- Of a grid that is smaller than the GPU its size is the limit.
local function tightest(list, blocks, sms)
  local most, why = math.huge, nil
  for _, one in ipairs(list) do if one[2] < most then most, why = one[2], one[1] end end
  local here = math.ceil(blocks / sms)
  if here < most then return here, "the grid" end
  return most, why
end

-- The launch that takes longest.
local function slowest(p)
  local best
  for _, k in ipairs(p.kernels) do
    if k.metrics.threads_per_block and (not best or (k.metrics.seconds or 0) > (best.metrics.seconds or 0)) then best = k end
  end
  return best
end

--- Of a profile on a device with these figures: { kernel =, share = of the warps that a multiprocessor can hold, limiter =, blocks = on each,
--- threads = of a block, registers =, shared =, grid =, limits = { { what, blocks } } }; nil where nothing was launched.
function M.of(p, figures)
  local k = figures and slowest(p)
  if not k then return nil end
  local m = k.metrics
  local list, threads = limits(m, figures)
  local most, why = tightest(list, m.blocks, figures.sms)
  most = math.max(1, most)
  return { kernel = k.kernel, share = math.min(1, most * threads / figures.threads_sm), limiter = why, blocks = most, threads = m.threads_per_block,
           registers = m.registers, shared = m.shared_bytes, grid = m.blocks, limits = list }
end

return M

-- profile: what a candidate did on the device, in counts. A simulated device
-- counts while it executes; its counts are exact for the PTX, its times modelled.

local execute = require "cawb.execute"

local M = {}

local function ratio(a, b) return b > 0 and a / b or 0 end

--- Counters of one run: { ok = true, source = "simulated", metrics = {...},
--- bound = {seconds by limit} }, a failure as data, or nil, message, name
--- ("unsupported" on a device that counts nothing).
function M.profile(task, candidate)
  local ran, message, name = execute.run(task, candidate)
  if not ran or not ran.ok then return ran, message, name end
  local m = ran.report
  if not m.counted then
    return nil, ("%s has no counters yet; profile on sim:h100")
      :format(task.device.info.name), "unsupported"
  end
  m.sectors_per_request = ratio(m.global_sectors, m.global_requests)
  m.wavefronts_per_request = ratio(m.shared_wavefronts, m.shared_requests)
  m.lanes_per_instruction = ratio(m.thread_instructions, m.warp_instructions)
  local bound, seconds = m.bound, m.seconds
  m.bound, m.seconds, m.counted = nil, nil, nil
  return { ok = true, source = "simulated", metrics = m, bound = bound, seconds = seconds,
           modelled = true }
end

return M

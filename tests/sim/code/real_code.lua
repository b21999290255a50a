-- real_code.lua - kernels for the simulated device without a task: compiled, launched, and the words that they leave.

local cawb = require "cawb"
local core = require "cawb.core"

local M = {}

-- Nothing comes from a task, and nothing goes back to one.
local nothing = { size = 0, ipc = ("00"):rep(64) }

--- A device that looks for findings; or, to see the same values there, the one that CAWB_REAL_DEVICE names.
function M.device()
  if os.getenv "CAWB_REAL_DEVICE" then return assert(cawb.device(os.getenv "CAWB_REAL_DEVICE")) end
  local simulate = { memory = cawb.defaults.simulate.memory, blocks = 0, sanitize = true, threads = 1 }
  return assert(cawb.device("sim:h100", { simulate = simulate }))
end

--- Run a plan whose first scratch tensor is `out`, `words` whole numbers of 32 bits: they, the report; or nil, why.
--- `run` has fields of the request besides, and may be nil.
function M.run(device, source, plan, words, run)
  local built = assert(cawb.compile { source = source, device = device })
  if not built.ok then return nil, "compile: " .. built.reason .. "\n" .. built.log end
  local whole = ("local out = scratch{ shape = { %d }, dtype = 'int32' }\n%s"):format(words, plan)
  local reply, message = device:call({ op = "load", ptx = built.ptx, cubin = built.cubin, plan = whole,
    inputs = {}, outputs = {}, params = {}, limits = cawb.defaults.plan }, nil, 60)
  if not reply then return nil, message end
  local request = { op = "run", poison = 0, inputs_share = nothing, outputs_share = nothing }
  for key, value in pairs(run or {}) do request[key] = value end
  reply, message = device:call(request, nil, 60)
  if not reply then return nil, message end
  local report = reply.report
  reply = assert(device:call({ op = "peek", scratch = 1, size = 4 * words }, nil, 60))
  local bytes = reply.bytes:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end)
  local list = {}
  for i = 1, words do list[i] = (string.unpack("<i4", bytes, 4 * i - 3)) end
  return list, report
end

return M

-- devices: the GPUs that can be simulated. Each is a table of figures in a file: those of
-- devices/ by name, anybody's own by path (sim:my/gpu.lua). "h100/16" is a sixteenth of one:
-- multiprocessors, L2, bandwidth and memory, as far as whole multiprocessors go.

local constants = require "cawb.gpu.time_constants"
local core = require "cawb.core"
local suggest = require "cawb.base.suggest"

local M = {}

local function folder() return core.home .. "/lua/cawb/gpu/devices" end

--- The names of the devices that cawb comes with, sorted.
function M.names()
  local list = {}
  for _, file in ipairs(core.fs.list(folder()) or {}) do
    list[#list + 1] = file:match "^(.*)%.lua$"
  end
  table.sort(list)
  return list
end

-- What a description must say, and what it may; the rest is taken from the constants.
local texts = { model = true, arch = true }
local needed = { "model", "arch", "sms", "memory", "l1", "l2", "shared_block", "shared_sm", "threads_block",
  "threads_sm", "blocks_sm", "registers_sm", "clock", "dram", "fp32", "tf32", "bf16", "fp16", "latency_dram",
  "latency_l2", "latency_l1", "latency_shared", "issue", "shared_wave", "pipe_fp32", "pipe_int", "pipe_fp64",
  "pipe_special" }

local function all_keys()
  local known = { l2_rate = true, pipe_tensor = true, mma_share = true }
  for _, key in ipairs(needed) do known[key] = true end
  for key in pairs(constants) do known[key] = true end
  local list = {}
  for key in pairs(known) do list[#list + 1] = key end
  return known, list
end

-- What is wrong with a description, or nil.
local function wrong(t)
  if type(t) ~= "table" then return ("must return a table of figures, got %s"):format(type(t)) end
  local known, list = all_keys()
  for key, value in pairs(t) do
    if not known[key] then
      return ("unknown figure '%s'%s"):format(tostring(key), suggest.hint(tostring(key), list))
    end
    local want = texts[key] and "string" or "number"
    if type(value) ~= want then return ("'%s' must be a %s, got %s"):format(key, want, type(value)) end
  end
  for _, key in ipairs(needed) do
    if t[key] == nil then return ("the figure '%s' is missing; devices/h100.lua shows all of them"):format(key) end
  end
  if not t.arch:match "^sm_%d+a?$" then return ("'arch' is like sm_90, not '%s'"):format(t.arch) end
end

local function complete(t)
  local all = {}
  for key, value in pairs(constants) do all[key] = value end
  for key, value in pairs(t) do all[key] = value end
  all.l2_rate = all.l2_rate or all.l2_rate_sm * all.sms * all.clock
  all.l2_rate_sm = nil
  -- An SM of Hopper multiplies 4096 halves a clock, or 2048 and adds them: others in proportion.
  all.pipe_tensor = t.pipe_tensor or all.fp16 / (all.sms * all.clock * 4096)
  all.mma_share = t.mma_share or 1     -- of that rate, what mma.sync reaches
  return all
end

-- A table from a file that may compute, and see nothing but arithmetic.
local function read(path)
  local chunk, message = loadfile(path, "t", { math = math })
  if not chunk then return nil, message end
  local ok, t = pcall(chunk)
  if not ok then return nil, tostring(t) end
  local why = wrong(t)
  if why then return nil, ("%s: %s"):format(path, why) end
  return complete(t)
end

local function path_of(name)
  if name:find "%.lua$" then
    if core.fs.kind(name) == "file" then return name end
    return nil, ("%s: there is no such file"):format(name)
  end
  local path = ("%s/%s.lua"):format(folder(), name)
  if name:match "^[%w_]+$" and core.fs.kind(path) == "file" then return path end
  return nil, ("no simulated device 'sim:%s'%s; there are %s, and files of your own (sim:my/gpu.lua)")
    :format(name, suggest.hint(name, M.names()), table.concat(M.names(), ", "))
end

-- What a part of the multiprocessors has a part of.
local divided = { "memory", "l2", "dram", "l2_rate", "fp32", "tf32", "bf16", "fp16" }

local function part(t, divisor)
  local sms = math.max(1, t.sms // divisor)
  local share = sms / t.sms
  for _, key in ipairs(divided) do t[key] = t[key] * share end
  t.sms, t.memory, t.l2 = sms, t.memory // 1, t.l2 // 1
  t.model = ("%s, 1/%d"):format(t.model, divisor)
  return t
end

--- The figures of "h100", "h100/16", "my/gpu.lua" or "my/gpu.lua/16": a table for the request
--- that opens a simulated device; or nil, message, "invalid".
function M.find(which)
  local name, divisor = which:match "^(.*)/(%d+)$"
  name, divisor = name or which, math.tointeger(tonumber(divisor or 1))
  local path, message = path_of(name)
  if not path then return nil, message, "invalid" end
  local t
  t, message = read(path)
  if not t then return nil, message, "invalid" end
  if not divisor or divisor < 1 then return nil, ("sim:%s: a part is 1/1 or less"):format(which), "invalid" end
  return divisor > 1 and part(t, divisor) or t
end

return M

-- ceilings: the most that a device was seen to do. Measured once by `cawb doctor
-- --calibrate` (door/calibrate.lua) and kept with the manifest of the stack; of a simulated
-- device they are its model's. What a kernel reaches is a share of them.

local kinds = require "cawb.gpu.kinds"
local manifest = require "cawb.gpu.manifest"
local cache = require "cawb.base.cache"

local M = {}

-- Bytes a second, operations a second, seconds.
local names = { "copy", "read", "fp32", "tf32", "bf16", "fp16", "launch" }
local again = "run cawb doctor --calibrate"

--- The names of the ceilings, in the order of a table of them.
M.names = names

local function of_model(device)
  local r = device.info.rates
  local m = manifest.of(device)
  return { copy = r.dram, read = r.dram, fp32 = r.fp32, tf32 = r.tf32, bf16 = r.bf16, fp16 = r.fp16,
           launch = r.launch, source = "modelled", manifest = m, manifest_key = manifest.key(m) }
end

-- Why a table that was stored is none of ceilings, or nil. A kind that could not be measured
-- is absent.
local function wrong(kept)
  for _, name in ipairs(names) do
    local x = kept[name]
    if x ~= nil and not (type(x) == "number" and x > 0 and x < math.huge) then
      return ("its '%s' is no positive number"):format(name)
    end
  end
  if type(kept.manifest) ~= "table" then return "it has no manifest" end
  return not (kept.copy and kept.launch) and "it has no 'copy' or no 'launch'" or nil
end

-- The newest that this GPU has on another stack.
local function earlier(now)
  local newest
  for _, other in ipairs(cache.all "ceilings") do
    local same = not wrong(other) and other.manifest.uuid == now.uuid
    if same and (not newest or tostring(other.date) > tostring(newest.date)) then newest = other end
  end
  return newest
end

--- What is known of a device: { copy =, read = bytes/s, a copy's being those read plus those
--- written; fp32 =, tf32 =, bf16 =, fp16 = FLOP/s; launch = s of the least that can be
--- timed; source = "measured"|"modelled", manifest_key =, manifest = }. Measured ones also
--- have step = s of each further kernel, call = s of one as its host sees it, date =,
--- details = { what was measured }. Or nil and why there is nothing; "unsupported" behind it where
--- there never will be, on a processor.
function M.of(device)
  local none, unsupported = kinds.refusal(device, "ceilings")
  if none then return nil, none, unsupported end
  if kinds.of(device).ceilings == "model" then return of_model(device) end
  local now = manifest.of(device)
  local key = manifest.key(now)
  local kept, why = cache.get("ceilings", key)
  local bad = kept and wrong(kept)
  if kept and not bad then return kept end
  if bad then why = ("%s: %s"):format(cache.path("ceilings", key), bad) end
  if why ~= "nothing is stored" then return nil, ("%s; it is ignored: %s"):format(why, again) end
  local other = earlier(now)
  if not other then return nil, "its ceilings were never measured: " .. again end
  return nil, ("its ceilings are of another stack: measured with %s: %s")
    :format(table.concat(manifest.changes(now, other.manifest), "; with "), again)
end

--- The file that they are kept in.
function M.path(ceilings) return cache.path("ceilings", ceilings.manifest_key) end

--- Keep what calibrate.measure returned. Returns true, or nil, message, name.
function M.keep(ceilings)
  local bad = wrong(ceilings)
  if bad then return nil, "these are no ceilings: " .. bad, "invalid" end
  return cache.put("ceilings", ceilings.manifest_key, ceilings)
end

return M

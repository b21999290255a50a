-- manifest: the stack that numbers were measured on. What nvidia-smi tells (clocks,
-- power limit, ECC) is left out where there is none.

local core = require "cawb.core"

local M = {}

local asked = { "driver_version", "vbios_version", "clocks.max.sm", "clocks.max.memory",
                "clocks.applications.graphics", "power.limit", "ecc.mode.current",
                "persistence_mode", "mig.mode.current" }

-- What changes how long things take: stored times are for others with the same.
local timing = { "model", "uuid", "driver", "cuda", "cudnn", "torch", "clocks.max.sm", "clocks.max.memory",
                 "clocks.applications.graphics", "power.limit", "ecc.mode.current",
                 "mig.mode.current", "cawb" }

--- The fields of one line of `nvidia-smi --query-gpu=FIELDS --format=csv,noheader`, by
--- name; what the card does not tell is left out.
function M.parse(line, fields)
  local values, i = {}, 0
  for text in (line .. ","):gmatch "%s*(.-)%s*," do
    i = i + 1
    if fields[i] and text ~= "" and not text:find "N/A" and not text:find "Not Supported" then
      values[fields[i]] = text
    end
  end
  return values
end

local function from_smi(uuid)
  if not core.fs.which "nvidia-smi" or not uuid:match "^GPU%-[%x-]+$" then return {} end
  local pipe = io.popen(("nvidia-smi -i %s --query-gpu=%s --format=csv,noheader 2>/dev/null")
    :format(uuid, table.concat(asked, ",")))
  local line = pipe and pipe:read "l"
  if pipe then pipe:close() end
  return line and M.parse(line, asked) or {}
end

--- The manifest of a device, and of the task host that answered `python` (its hello):
--- a table of texts and numbers. It is asked for once per device.
function M.of(device, python)
  python = python or {}
  local info = device.info
  device.smi = device.smi or (info.modelled and {} or from_smi(info.uuid))
  local m = { device = info.name, model = info.model, modelled = info.modelled, sms = info.sms,
    memory = info.memory, l2 = info.l2, cawb = core.version, torch = python.torch,
    cuda = python.cuda, cudnn = python.cudnn, python = python.python }
  if info.uuid ~= "" then m.uuid = info.uuid end
  if info.driver ~= "" then m.driver = info.driver end
  for key, value in pairs(device.smi) do m[key] = value end
  return m
end

--- A hash of what changes how long things take.
function M.key(manifest)
  local parts = {}
  for i, key in ipairs(timing) do parts[i] = ("%s=%s"):format(key, tostring(manifest[key])) end
  return core.hash.sha256(table.concat(parts, "\n"))
end

--- What differs between two manifests in what changes times: { "driver: 1, was 2", ... }.
function M.changes(now, was)
  local list = {}
  for _, key in ipairs(timing) do
    if now[key] ~= was[key] then
      list[#list + 1] = ("%s: %s, was %s"):format(key, tostring(now[key]), tostring(was[key]))
    end
  end
  return list
end

return M

-- manifest: the stack that numbers were measured on. The driver API does not know clocks,
-- power limit and ECC; nvidia-smi does, comes with every driver, and a process of its own
-- that hangs or crashes on a sick GPU takes nobody along. Without it they are left out.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

local library, build

local function hash_folder(folder, parts)
  for _, name in ipairs(core.fs.list(folder) or {}) do
    local path = folder .. "/" .. name
    local kind = core.fs.kind(path)
    if kind == "folder" then hash_folder(path, parts)
    elseif kind == "file" and not name:match "%.md$" then
      local text = file.read(path)
      parts[#parts + 1] = text and path:sub(#core.home + 1) .. " " .. core.hash.sha256(text) or nil
    end
  end
end

--- A hash of what cawb does beyond its program: Lua files, kernels, configurations.
function M.library()
  if library then return library end
  local parts = {}
  for _, name in ipairs { "lua", "python/cawb_host", "kernels", "configs", "strategies" } do hash_folder(core.home .. "/" .. name, parts) end
  library = core.hash.sha256(table.concat(parts, "\n")):sub(1, 16)
  return library
end

--- A hash of the program itself.
function M.build()
  if build then return build end
  local program = file.read(core.program)
  build = program and core.hash.sha256(program):sub(1, 16) or "unknown"
  return build
end

-- What nvidia-smi is asked, and the field that the answer becomes.
local asked = {
  { "driver_version", "driver" }, { "vbios_version", "vbios" },
  { "clocks.sm", "sm_clock" }, { "clocks.mem", "memory_clock" },
  { "clocks.max.sm", "sm_clock_max" }, { "clocks.max.memory", "memory_clock_max" },
  { "clocks.applications.graphics", "application_clock" }, { "power.limit", "power_limit" },
  { "ecc.mode.current", "ecc" }, { "persistence_mode", "persistence" },
  { "mig.mode.current", "mig" },
}

-- What changes how long things take: of the device, and of the Python beside it. Stored
-- times are for others with the same.
local of_device = { "model", "uuid", "driver", "sm_clock_max", "memory_clock_max",
                    "application_clock", "power_limit", "ecc", "mig", "cawb" }
local of_python = { "torch", "cuda", "cudnn" }

local scale = { Hz = 1.0, kHz = 1e3, MHz = 1e6, GHz = 1e9, W = 1.0 }

-- "1980 MHz" is 1.98e9, "Enabled" true; "[N/A]" and other excuses nothing.
local function value_of(text)
  local number, unit = text:match "^([%d.]+) (%a+)$"
  if number and scale[unit] then return tonumber(number) * scale[unit] end
  if text == "Enabled" then return true elseif text == "Disabled" then return false end
  if text ~= "" and not text:find "^%[" and not text:find "N/A" then return text end
end

--- One line of `nvidia-smi --query-gpu=... --format=csv,noheader` as a table: clocks in Hz,
--- watts, and what is enabled. `fields` is a list of { question, name }. What the card does
--- not tell is left out; of a line with another number of values nothing is believed.
function M.parse(line, fields)
  local values, i = {}, 0
  for text in (line .. ","):gmatch "%s*(.-)%s*," do
    i = i + 1
    if fields[i] then values[fields[i][2]] = value_of(text) end
  end
  return i == #fields and values or {}
end

local function without(fields, question)
  local list = {}
  for _, f in ipairs(fields) do
    if f[1] ~= question then list[#list + 1] = f end
  end
  return list
end

local function query(program, uuid, fields)
  local questions = {}
  for i, f in ipairs(fields) do questions[i] = f[1] end
  local pipe = io.popen(("timeout 10 '%s' -i %s --query-gpu=%s --format=csv,noheader 2>&1")
    :format(program, uuid, table.concat(questions, ",")))
  local line = pipe and pipe:read "l" or ""
  return pipe and pipe:close() and M.parse(line, fields) or nil, line
end

--- What nvidia-smi says of a GPU, as M.parse; {} where it says nothing. A question that this
--- release does not know would spoil the answer to all others, so it is left out.
function M.ask(uuid, program)
  program = program or core.fs.which "nvidia-smi"
  if not program or not uuid:match "^GPU%-[%x-]+$" then return {} end
  local fields = asked
  while #fields > 0 do
    local values, line = query(program, uuid, fields)
    if values then return values end
    local fewer = without(fields, line:match 'Field "(.-)" is not a valid field')
    if #fewer == #fields then break end
    fields = fewer
  end
  return {}
end

-- Which NVRTC compiles for a device; asked for once. A machine without one says so when
-- something is compiled.
local function nvrtc_of(device)
  if device.ask_compiler and not device.nvrtc then
    local reply = device:ask_compiler { op = "version" }
    device.nvrtc = reply and reply.nvrtc
  end
  return device.nvrtc
end

--- The manifest of a device: texts, numbers (bytes, Hz, W) and booleans. With `python`, what
--- a task host said of itself, of the whole stack that a run uses. nvidia-smi is asked
--- once per device.
function M.of(device, python)
  local info = device.info
  device.smi = device.smi or (info.modelled and {} or M.ask(info.uuid))
  local m = { device = info.name, model = info.model, modelled = info.modelled, sms = info.sms,
    memory = info.memory, l2 = info.l2, cawb = core.version, build = M.build(), library = M.library() }
  for key, value in pairs(device.smi) do m[key] = value end
  if info.uuid ~= "" then m.uuid = info.uuid end
  if info.driver ~= "" then m.driver = info.driver end
  if not python then return m end
  m.nvrtc = nvrtc_of(device)
  m.python, m.torch, m.cuda, m.cudnn, m.triton = python.python, python.torch, python.cuda, python.cudnn, python.triton
  return m
end

-- A value as text, the same before it was stored and after.
local function text_of(value)
  return type(value) == "number" and ("%.12g"):format(value) or tostring(value)
end

--- A hash of what changes how long things take; without Python's part, of the device alone.
function M.key(manifest)
  local parts = {}
  for _, list in ipairs { of_device, of_python } do
    for _, key in ipairs(list) do
      parts[#parts + 1] = ("%s=%s"):format(key, text_of(manifest[key]))
    end
  end
  return core.hash.sha256(table.concat(parts, "\n"))
end

--- What differs between two manifests in what changes times: { "driver 1, this is 2", ... }.
--- Of the Python's part only where both have one.
function M.changes(now, was)
  local list = {}
  local function compare(keys)
    for _, key in ipairs(keys) do
      local a, b = text_of(was[key]), text_of(now[key])
      if a ~= b then
        list[#list + 1] = ("%s %s, this is %s"):format(key, was[key] == nil and "unknown" or a,
          now[key] == nil and "unknown" or b)
      end
    end
  end
  compare(of_device)
  if now.torch and was.torch then compare(of_python) end
  return list
end

-- What is another one at every look, and says nothing.
local passing = { sm_clock = true, memory_clock = true, name = true, device = true }

--- Everything that differs between two manifests: { { field =, was =, now =, times = whether it changes
--- how long things take }, ... }, in the order of names.
function M.differences(now, was)
  local names, list, timed = {}, {}, {}
  for _, keys in ipairs { of_device, of_python } do
    for _, key in ipairs(keys) do timed[key] = true end
  end
  for _, m in ipairs { now, was } do
    for key in pairs(m) do names[key] = true end
  end
  for key in pairs(names) do
    if not passing[key] and text_of(now[key]) ~= text_of(was[key]) then
      list[#list + 1] = { field = key, was = was[key] == nil and "unknown" or text_of(was[key]),
                          now = now[key] == nil and "unknown" or text_of(now[key]), times = timed[key] or false }
    end
  end
  table.sort(list, function(a, b) return a.field < b.field end)
  return list
end

return M

-- Tasks on their own inputs and on mixed ones: what compose makes of them should take as long on both. Times are modelled on a
-- simulated device, where tasks are shrunk to fit.
--   cawb bench/mixed.lua DEVICE FOLDER [TASK,TASK...]
-- FOLDER/dev.jsonl has KernelBench's tasks; a TASK is level/number. Without any, those that compose_h200.md has far slower on mixed inputs.

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.base.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local mixed = dofile "bench/mixed_inputs.lua"

local name, folder, asked = ...
asked = asked or "1/55,1/57,1/61,1/65,1/67,1/69,2/1,2/5,2/11,2/17,2/19,2/31,2/35,2/43,2/47,2/61,2/77,2/91,2/93"

local device <close> = assert(cawb.device(name or "auto"))
local host, hello = assert(python.start(cawb.defaults.deadlines.start))

local all = options.copy(cawb.defaults)
all.verify.battery, all.measure.budget = {}, 0.5
if device.info.modelled then all.scale.mode, all.deadlines.run, all.deadlines.measure = "fit", 300, 300 end

local function open(code, o)
  local path = os.tmpname()
  local f = assert(io.open(path, "w"))
  f:write(code)
  f:close()
  local task, message = cawb.task(path, { device = device, host = { host, hello }, options = o })
  os.remove(path)
  return task, message
end

-- Seconds, or nil and why not. `o`: options, which know the fitted sizes from the first task on.
local function seconds(code, o)
  local task <close>, message = open(code, o)
  if not task then return nil, message end
  local made, why = compose.make(task, { arch = device.info.arch })
  if not made then return nil, why end
  local m = assert(cawb.measure(task, cawb.candidate { source = made.source, plan = made.plan }, { against = {}, options = all }))
  if not m.ok then return nil, m.reason end
  return m.time_s
end

local function first_line(text) return tostring(text):gsub("\n.*", ""):sub(1, 60) end

local wanted, rows = {}, {}
for id in asked:gmatch "[^,]+" do wanted[id] = true end
for line in io.lines(folder .. "/dev.jsonl") do
  local entry = core.json.decode(line)
  local id = ("%d/%d"):format(entry.level, entry.problem_id)
  if wanted[id] then
    local o = options.copy(all)
    local own, why = seconds(entry.code, o)
    local other, reason = seconds(mixed.task(entry.code), o)
    rows[#rows + 1] = { id, own and display.interval(own) or first_line(why), other and display.interval(other) or first_line(reason),
                        own and other and ("%.2fx"):format(other.median / own.median) or "-" }
    io.stderr:write(table.concat(rows[#rows], "  "), "\n")
  end
end

print(("%s%s, %s"):format(device.info.model, device.info.modelled and "; tasks shrunk to fit, times are modelled" or "", os.date "!%Y-%m-%d"))
for _, line in ipairs(display.table({ "task", "its own inputs", "mixed inputs", "times as long" }, rows)) do print(line) end

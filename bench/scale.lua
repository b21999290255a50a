-- cawb bench/scale.lua FOLDER [DEVICE]: what --scale fit makes of KernelBench's tasks: how many
-- fit, and which sizes it chose. FOLDER/dev.jsonl holds one task a line.

local core = require "cawb.core"
local cawb = require "cawb"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
local scale = require "cawb.judge.task.scale"

local folder, name = ...
assert(folder, "usage: cawb bench/scale.lua FOLDER [DEVICE]")
local device <close> = assert(cawb.device(name or "sim:h100"))
local host, hello = python.start(120.0)
if not host then error(hello, 0) end
local path = os.tmpname()

local rows, fit, as_they_are, unknown = {}, 0, 0, 0
for line in io.lines(folder .. "/dev.jsonl") do
  local entry = core.json.decode(line)
  local f = assert(io.open(path, "wb"))
  f:write(entry.code)
  f:close()
  local from = core.clock.now()
  local s, why = scale.fit(host, path, device, options.copy(cawb.defaults))
  local verdict = not s and "unknown" or not s.fits and "too large" or #s.changes == 0 and "as it is" or "fits"
  if s and s.fits then fit = fit + 1 end
  if verdict == "as it is" then as_they_are = as_they_are + 1 end
  if not s then unknown = unknown + 1 end
  rows[#rows + 1] = { ("%d/%s"):format(entry.level, entry.name:sub(1, 44)), verdict,
    s and ("%.4g"):format(s.before.bytes / 1e6) or "-", s and ("%.4g"):format(s.after.bytes / 1e6) or "-",
    s and ("%.3g"):format(s.before.flops / 1e9) or "-", s and ("%.3g"):format(s.after.flops / 1e9) or "-",
    s and ("%.3g"):format(s.after.intensity / s.before.intensity) or "-", ("%.2f"):format(core.clock.now() - from),
    s and table.concat(s.changes, ", ") or why:match "[^\n]*":sub(-90) }
end
os.remove(path)
host:close()
for _, line in ipairs(display.table({ "task", "", "MB", "then", "GFLOP", "then", "intensity x", "s", "sizes" }, rows)) do
  print(line)
end
print(("\n%d tasks: %d fit %s, %d of them as they are; %d too large; %d whose sizes follow from data or that lack a package")
  :format(#rows, fit, device.info.name, as_they_are, #rows - fit - unknown, unknown))

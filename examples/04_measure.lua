-- cawb examples/04_measure.lua: how fast, against PyTorch, and how sure we are.
local cawb = require "cawb"
local display = require "cawb.display"
local here = arg[0]:match "^(.*)/" or "."

local device <close> = assert(cawb.device(... or "auto"))
local task <close> = assert(cawb.task(here .. "/softmax.py", { device = device }))
for _, version in ipairs { "v1_thread_per_row", "v2_block_per_row", "v5_registers" } do
  local candidate = assert(cawb.candidate(here .. "/../kernels/softmax/" .. version))
  local time = assert(cawb.measure(task, candidate))
  if not time.ok then error(time.reason, 0) end
  print(("%-18s %s  %s against eager%s"):format(version, display.interval(time.time_s),
    display.speedup(time.speedup.eager), time.modelled and "  (modelled)" or ""))
end

-- cawb examples/02_run.lua: run a candidate once and look at what it wrote.
local cawb = require "cawb"
local here = arg[0]:match "^(.*)/" or "."

local device <close> = assert(cawb.device(... or "auto"))
local task <close> = assert(cawb.task(here .. "/softmax.py", { device = device }))
local candidate = assert(cawb.candidate(here .. "/../kernels/softmax/v2_block_per_row"))

local run = assert(cawb.run(task, candidate))
if not run.ok then error(run.stage .. ": " .. run.reason, 0) end
for _, step in ipairs(run.steps) do
  print(("%s: %d blocks of %d threads"):format(step.kernel, step.grid[1], step.block[1]))
end
print("outputs   ", table.concat(task:peek { which = "outputs", count = 4 }, " "))
print("reference ", table.concat(task:peek { which = "reference", count = 4 }, " "))

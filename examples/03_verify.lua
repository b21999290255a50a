-- cawb examples/03_verify.lua: a right kernel, and the same kernel with one row left out.
local cawb = require "cawb"
local here = arg[0]:match "^(.*)/" or "."

local device <close> = assert(cawb.device(... or "auto"))
local task <close> = assert(cawb.task(here .. "/softmax.py", { device = device }))
local right = assert(cawb.candidate(here .. "/../kernels/softmax/v2_block_per_row"))
local wrong = cawb.candidate { source = right.source,
  plan = right.plan:gsub("grid = rows", "grid = rows - 1") }

for name, candidate in pairs { right = right, wrong = wrong } do
  local check = assert(cawb.verify(task, candidate))
  print(name, check.ok and ("passes, worst error %.2g"):format(check.error.worst) or check.reason)
end

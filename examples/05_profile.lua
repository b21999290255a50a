-- What a kernel did, what limits it, and what to try: cawb examples/05_profile.lua [DEVICE]
local cawb = require "cawb"

local device <close> = assert(cawb.device(arg[1] or "auto"))
local task <close> = assert(cawb.task("examples/softmax.py", { device = device, task = { rows = 256 } }))
for _, rung in ipairs { "v1_thread_per_row", "v5_registers" } do
  local p = assert(cawb.profile(task, assert(cawb.candidate("kernels/softmax/" .. rung)), { lines = true }))
  print(("%s (%s): %s"):format(rung, p.source, p.roofline.sentence))
  if p.lines[1] then print(("  line %d: %s"):format(p.lines[1].line, p.lines[1].text or "?")) end
  for _, one in ipairs(p.roofline.remedies) do print(("  try %s: %s"):format(one.skill, one.why)) end
end

-- compose: any task as fused kernels and library calls, without a model. One turn.

local cawb = require "cawb"
local compose = require "cawb.compose"

return {
  step = function(run)
    if run.memory.done then return false end
    run.memory.done = true
    local made, why = compose.make(run.task, { arch = run.task.device.info.arch })
    if not made then return run:give_up(why) end
    return run:evaluate(cawb.candidate { source = made.source, plan = made.plan, name = "compose" })
  end,
}

-- compose: any task as fused kernels and library calls, without a model. One turn; where that is not right,
-- which is a bug of compose, a second without any fusion and a third of kernels as plain as there are,
-- without tensor cores.

local cawb = require "cawb"
local compose = require "cawb.compose"

local ways = { { name = "compose" }, { name = "compose/unfused", fuse = false },
               { name = "compose/plain", fuse = false, libraries = false, plain = true } }

-- What the task became, once, on the screen.
local function show(run, made)
  for _, line in ipairs(compose.table(made)) do run.report:note(line) end
end

return {
  step = function(run)
    local at = run.memory
    at.turn = (at.turn or 0) + 1
    local way = ways[at.turn]
    if not way or run.best then return false end
    local made, why = compose.make(run.task, { arch = not way.plain and run.task.device.info.arch or nil, fuse = way.fuse, libraries = way.libraries })
    if not made then return run:give_up(why) end
    if at.turn == 1 then show(run, made) end
    return run:evaluate(cawb.candidate { source = made.source, plan = made.plan, name = way.name,
                                         note = table.concat(compose.table(made), "\n") })
  end,
}

-- ladder: climb the kernel family that serves the task, one version a turn. No
-- model and no network. The runtime sweeps the tunables of each rung.

local families = require "cawb.families"

return {
  proposes = "kernels",
  step = function(run)
    local at = run.memory
    if not at.family then
      local why
      at.family, why = families.match(run.task)
      if not at.family then return run:give_up(why) end
    end
    at.rung = (at.rung or 0) + 1
    local candidate = at.family:rung(at.rung, run.task)
    return candidate and run:evaluate(candidate)
  end,
}

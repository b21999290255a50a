-- compose: any task as fused kernels and library calls, without a model. One turn. Where its candidate is not right,
-- which is a bug of compose, one without any fusion follows, and one of kernels as plain as there are, without
-- tensor cores. No ladder's kernel follows: none is faster (git show a54f197:bench/results/generators_h200.txt).

local cawb = require "cawb"
local ceilings = require "cawb.ceilings"
local compose = require "cawb.compose"
local variants = require "cawb.compose.variants"

-- What the task became, once, on the screen, with the time of each kernel.
local function show(run, made, candidate)
  if run.report.quiet then return end
  local known = ceilings.of(run.task.device)
  local profile = cawb.profile(run.task, candidate, { options = run.options, set = "quick" })
  for _, line in ipairs(compose.table(made, profile, known and known.copy)) do run.report:note(line) end
end

-- Why kernels of one size are of no use at this scale; nil where they are.
local function unusable(task)
  if task.own then
    return "kernels of compose are for one size, and --scale both times a candidate at another than it verifies: take --scale fit, which "
      .. "verifies, or --scale full, which times"
  end
  return task.sketched and "with --scale full the times above are all there is: nothing is verified. --scale fit verifies" or nil
end

return {
  proposes = "kernels",
  show = function(task, options, level)
    local lines = compose.levels[level]
    if type(lines) ~= "function" then
      return nil, ("--show takes %s"):format(table.concat(compose.levels.names, ", ")), "usage"
    end
    local made, why = variants.make(task, options, variants.list[1])
    if not made then return nil, why, "task" end
    return lines(made)
  end,
  glance = function(task, options)
    local made = variants.make(task, options, variants.list[1])
    if not made then return false end
    cawb.compile { source = made.source, device = task.device, options = made.options }      -- it waits in the cache
  end,
  step = function(run)
    local at = run.memory
    if run.best then return false end
    at.turn = (at.turn or 0) + 1
    local variant = variants.list[at.turn]
    if not variant then return false end
    local made, why = variants.make(run.task, run.options, variant)
    if not made then return run:give_up(why) end
    local candidate = cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = variant.name,
                                       note = table.concat(compose.table(made), "\n") }
    if at.turn == 1 then show(run, made, candidate) end
    local why_not = unusable(run.task)
    if why_not then return run:give_up(why_not) end
    return run:evaluate(candidate)
  end,
}

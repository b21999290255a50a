-- compose: any task as fused kernels and library calls, without a model. One turn. Where its candidate is not right,
-- which is a bug of compose, one without any fusion follows, and one of kernels as plain as there are, without
-- tensor cores. No ladder's kernel follows: none is faster (git show a54f197:bench/results/generators_h200.txt).

local cawb = require "cawb"
local ceilings = require "cawb.ceilings"
local compose = require "cawb.compose"
local variants = require "cawb.compose.variants"

-- What the task became, once, on the screen, with the time of each kernel: at its own sizes, where those are timed.
local function show(run, made, candidate)
  if run.report.quiet then return end
  local task = run.task.own or run.task
  local known = ceilings.of(task.device)
  local profile = cawb.profile(task, candidate, { options = run.options, set = "quick" })
  for _, line in ipairs(compose.table(made, profile, known and known.copy)) do run.report:note(line) end
end

-- A task, lowered one way: what was made and its candidate; or nil and why not.
local function lowered(task, options, variant, own)
  local made, why = variants.make(task, options, variant)
  if not made then return nil, why end
  return made, cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = variant.name, own = own,
                                note = table.concat(compose.table(made), "\n") }
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
    local shown, own
    if run.task.own then shown, own = lowered(run.task.own, run.options, variant) end
    if run.task.own and not shown then return run:give_up(own) end
    local made, candidate = lowered(run.task, run.options, variant, own)
    if not made then return run:give_up(candidate) end
    if at.turn == 1 then show(run, shown or made, own or candidate) end
    if run.task.sketched then
      return run:give_up "with --scale full the times above are all there is: nothing is verified. --scale both verifies at smaller sizes"
    end
    return run:evaluate(candidate)
  end,
}

-- compose: any task as fused kernels and library calls, without a model. One turn, and a second where a ladder
-- of kernels serves the whole task too. Where the first is not right, which is a bug of compose, one without any
-- fusion follows, and one of kernels as plain as there are, without tensor cores.

local cawb = require "cawb"
local ceilings = require "cawb.ceilings"
local compose = require "cawb.compose"
local families = require "cawb.families"
local ways = require "cawb.compose.ways"

-- What the task became, once, on the screen, with the time of each kernel.
local function show(run, made, candidate)
  if run.report.quiet then return end
  local known = ceilings.of(run.task.device)
  local profile = cawb.profile(run.task, candidate, { options = run.options, set = "quick" })
  for _, line in ipairs(compose.table(made, profile, known and known.copy)) do run.report:note(line) end
end

-- The last rung of a ladder that serves the task: tuned by hand, and its tunables are swept. Products are left
-- out: no ladder has them on tensor cores.
local function last_rung(task, made)
  for _, kernel in ipairs(made.kernels) do
    if kernel.kind == "product" or kernel.kind == "conv" then return nil end
  end
  local family = families.match(task)
  return family and family:rung(#family.versions, task)
end

local function climb(run)
  local at = run.memory
  if not at.made or at.climbed then return false end
  at.climbed = true
  local candidate = last_rung(run.task, at.made)
  return candidate and run:evaluate(candidate) or false
end

return {
  proposes = "kernels",
  glance = function(task, options)
    local made = ways.make(task, options, ways.list[1])
    if not made then return false end
    cawb.compile { source = made.source, device = task.device, options = made.options }      -- it waits in the cache
  end,
  step = function(run)
    local at = run.memory
    if run.best then return climb(run) end
    at.turn = (at.turn or 0) + 1
    local way = ways.list[at.turn]
    if not way then return false end
    local made, why = ways.make(run.task, run.options, way)
    if not made then return run:give_up(why) end
    at.made = made
    local candidate = cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = way.name,
                                       note = table.concat(compose.table(made), "\n") }
    if at.turn == 1 then show(run, made, candidate) end
    return run:evaluate(candidate)
  end,
}

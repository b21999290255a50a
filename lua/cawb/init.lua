-- cawb: the module that strategies and scripts require.
--
-- What a script may require besides it is listed below: `cawb.NAME`. Everything else under
-- lua/cawb/ belongs to the workbench itself (lua/cawb/README.md) and may change.

local M = {}

-- `require "cawb.chat"` and so on, wherever the room of it may be.
M.public = {
  ceilings = "gpu.ceilings",
  chat = "agent.chat",
  compare = "door.compare",
  compose = "compose.candidate",
  display = "base.display",
  families = "run.families",
  generation = "agent.generation",
  loop = "base.loop",
  manifest = "gpu.manifest",
  pointwise = "compose.operators.pointwise",
  proposals = "agent.proposals",
  short = "agent.short",
  session = "agent.session",
  stats = "base.stats",
  tools = "agent.tools",
  feedback = "agent.feedback",
}

for name, place in pairs(M.public) do
  package.preload["cawb." .. name] = function() return require("cawb." .. place) end
end

M.defaults = require "cawb.base.defaults"      -- the reference for every option

M.version = require("cawb.core").version

local function from(place, name)
  return function(...) return require(place)[name](...) end
end

-- The same for what works by the options of a run, which a script gives as `opts.options`; those
-- that nobody gives are the defaults.
local function by_options(place, name)
  return function(task, candidate, opts)
    local rest = {}
    for key, value in pairs(opts or {}) do rest[key] = value end
    rest.options = nil
    return require(place)[name](task, candidate, opts and opts.options or M.defaults, rest)
  end
end

local function run_once(task, candidate, opts)
  return require("cawb.judge.worker.execute").run(task, candidate, opts and opts.options or M.defaults)
end

M.ask       = from("cawb.agent.ask", "ask")
M.candidate = from("cawb.judge.task.candidate", "new")
M.compile   = from("cawb.gpu.compile", "compile")
M.device    = from("cawb.gpu.device", "open")
M.families  = from("cawb.run.families", "list")
M.judge     = by_options("cawb.judge.judge", "judge")
M.measure   = by_options("cawb.judge.time.measure", "measure")
M.profile   = by_options("cawb.judge.profile.profile", "profile")
M.sanitize  = by_options("cawb.judge.verify.sanitizer", "sanitize")
M.run       = run_once
M.task      = from("cawb.judge.task.task", "open")
M.verify    = by_options("cawb.judge.verify.verify", "verify")

return M

-- cawb: the module that strategies and scripts require.
--
-- What a script may require besides it is listed below: `cawb.NAME`. Everything else under
-- lua/cawb/ belongs to the workbench itself (lua/cawb/README.md) and may change.

local M = {}

-- `require "cawb.chat"` and so on, wherever the room of it may be.
M.public = {
  ceilings = "device.ceilings",
  chat = "agent.chat",
  compare = "door.compare",
  compose = "compose.candidate",
  display = "base.display",
  families = "run.families",
  generation = "agent.generation",
  loop = "base.loop",
  manifest = "device.manifest",
  pointwise = "graph.pointwise",
  proposals = "agent.proposals",
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

M.ask       = from("cawb.agent.ask", "ask")
M.candidate = from("cawb.task.candidate", "new")
M.compile   = from("cawb.device.compile", "compile")
M.device    = from("cawb.device.device", "open")
M.families  = from("cawb.run.families", "list")
M.measure   = from("cawb.time.measure", "measure")
M.profile   = from("cawb.look.profile", "profile")
M.sanitize  = from("cawb.judge.sanitizer", "sanitize")
M.run       = from("cawb.device.execute", "run")
M.task      = from("cawb.task.task", "open")
M.verify    = from("cawb.judge.verify", "verify")

return M

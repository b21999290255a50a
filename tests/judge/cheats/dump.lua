-- dump [PATTERN ...]: the fixtures of tier 1 whose name matches one, all without a pattern, one a line as JSON, as clients of `cawb serve` send them. For
-- tests/learn/test_serve_cheats.py.

local core = require "cawb.core"
local redteam = require "cawb.suite.redteam"

local function candidate(given)
  return { source = given.source, plan = given.plan, options = given.options and core.json.array { table.unpack(given.options) } or nil }
end

local function wanted(name)
  for _, pattern in ipairs(arg) do if name:find(pattern) then return true end end
  return #arg == 0
end

for _, f in ipairs(assert(redteam.fixtures(redteam.folder() .. "/tier1"))) do
  local here = not f.device or f.device == "sim:h100"
  if here and wanted(f.name) then
    local ok, line = pcall(core.json.encode, { name = f.name, task = f.task, path = f.path, caught = f.caught, cheat = candidate(f.cheat),
      look_alike = candidate(f.look_alike) })
    io.write(ok and line or core.json.encode { name = f.name, unsent = tostring(line) }, "\n")
  end
end

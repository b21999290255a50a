-- candidate: what is proposed. Device source and a launch plan; with tunables, a
-- family of which one member is chosen at a time.

local core = require "cawb.core"

local M = {}

---@class cawb.Candidate
local Candidate = {}
Candidate.__index = Candidate
Candidate.__name = "cawb.candidate"

local function read(path)
  local f, message = io.open(path, "rb")
  if not f then return nil, message, "missing" end
  local text = f:read "a"
  f:close()
  return text
end

local function require_text(t, key)
  if type(t[key]) ~= "string" then
    error(("candidate: '%s' must be a string, got %s"):format(key, type(t[key])), 3)
  end
end

local known = { source = true, plan = true, name = true, note = true, defines = true,
                tunables = true, options = true }

local function digest(c)
  return core.hash.sha256(core.json.encode { c.source, c.plan, c.defines, c.options })
end

--- A candidate from { source =, plan =, name =, note =, defines = {NAME = value},
--- options = {...}, tunables = {name = value} }, or from a path without its
--- ending: "kernels/softmax/v1_naive" reads that .cu and .lua.
--- Returns the candidate, or nil, message, name when a file cannot be read.
function M.new(spec)
  if type(spec) == "string" then
    local source, message, name = read(spec .. ".cu")
    if not source then return nil, message, name end
    local plan
    plan, message, name = read(spec .. ".lua")
    if not plan then return nil, message, name end
    spec = { source = source, plan = plan, name = spec:match "[^/]+/[^/]+$" or spec }
  end
  if type(spec) ~= "table" then error("candidate: a table or a path is expected", 2) end
  for key in pairs(spec) do
    if not known[key] then error(("candidate: unknown field '%s'"):format(key), 2) end
  end
  require_text(spec, "source")
  require_text(spec, "plan")
  local c = setmetatable({
    source = spec.source, plan = spec.plan, name = spec.name or "candidate",
    note = spec.note, defines = spec.defines or {}, options = spec.options or {},
    tunables = spec.tunables,
  }, Candidate)
  c.hash = digest(c)
  return c
end

--- The member of the family with these values, such as { block = 256 }.
function Candidate:with(tunables)
  return setmetatable({ tunables = tunables }, { __index = self })
end

--- All defines of this member, or of another one: its own, and its tunables with
--- upper-case names.
function Candidate:all_defines(tunables)
  local all = {}
  for name, value in pairs(self.defines) do all[name] = tostring(value) end
  for name, value in pairs(tunables or self.tunables or {}) do
    all[name:upper()] = tostring(value)
  end
  return all
end

--- "BLOCK=256 VEC=4", or "" without tunables. With `declared`, those that had a
--- choice: a plan may use a tunable of one value to compile a fact in.
function Candidate:label(declared)
  local one = {}
  for _, t in ipairs(declared or {}) do one[t.name] = #t.values == 1 end
  local words = {}
  for name, value in pairs(self.tunables or {}) do
    if not one[name] then words[#words + 1] = ("%s=%s"):format(name:upper(), value) end
  end
  table.sort(words)
  return table.concat(words, " ")
end

function Candidate:__tostring()
  return ("cawb.candidate (%s, %s)"):format(self.name, self.hash:sub(1, 8))
end

return M

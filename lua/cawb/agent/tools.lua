-- tools: what an agent can do, each a file in tools/ that returns
--   { name =, description =, parameters = { { name, type, what it is, optional = true }, ... },
--     run = function(session, arguments) -> text[, failed] }
-- The strategy react, `cawb mcp` and anybody's own loop use them through this file. What a tool
-- says is written for a model.

local core = require "cawb.core"
local loop = require "cawb.base.loop"
local schema = require "cawb.agent.ask.schema"
local suggest = require "cawb.base.suggest"
local feedback = require "cawb.agent.feedback"

local M = {}

local order = { "list", "read_file", "write_file", "edit_file", "search", "compile", "verify", "measure",
                "profile", "skill", "compose", "shell", "submit" }

-- By name: read once.
local loaded = {}

local function get(name)
  if not loaded[name] then
    local tool = require("cawb.agent.tools." .. name)
    loaded[name] = { name = name, description = tool.description, list = tool.parameters,
                     parameters = schema.of(tool.parameters), run = tool.run, enabled = tool.enabled }
  end
  return loaded[name]
end

--- The tools of a session: { name, description, parameters = a JSON schema, run }, or those of
--- `names`.
function M.list(session, names)
  local list = {}
  for _, name in ipairs(names or order) do
    local tool = get(name)
    if not tool.enabled or tool.enabled(session) then list[#list + 1] = tool end
  end
  return list
end

-- Why arguments do not fit, or nil.
local function wrong(tool, arguments)
  local known, names = {}, {}
  for _, p in ipairs(tool.list) do
    known[p[1]], names[#names + 1] = p, p[1]
    local value = arguments[p[1]]
    if value == nil and not p.optional then return ("'%s' is missing: %s"):format(p[1], p[3]) end
    if value ~= nil then
      local kind = math.type(value) == "integer" and "integer" or type(value)
      if kind ~= p[2] and not (p[2] == "number" and kind == "integer") then
        return ("'%s' must be a %s, got %s"):format(p[1], p[2], kind)
      end
    end
  end
  for key in pairs(arguments) do
    if not known[key] then return ("unknown argument '%s'%s"):format(tostring(key), suggest.hint(tostring(key), names)) end
  end
end

-- A tool's own mistake must not end the run; Ctrl-C must.
local function guarded(tool, session, arguments)
  local ok, text, failed = pcall(loop.exclusive, session.task.device, tool.run, session, arguments)
  if ok then return text, failed == true end
  if loop.asked() then error("interrupted", 0) end
  return "the tool failed: " .. tostring(text), true
end

--- Call a tool by name. Returns text and whether it failed; nothing that a model writes raises.
--- `session.turn` is the turn that it made, if it made one.
function M.call(session, name, arguments, names)
  local list, known = M.list(session, names), {}
  session.turn = nil
  for _, tool in ipairs(list) do
    known[#known + 1] = tool.name
    if tool.name == name then
      local why = type(arguments) ~= "table" and "arguments are an object" or wrong(tool, arguments)
      if why then return ("%s: %s"):format(name, why), true end
      local text, failed = guarded(tool, session, arguments)
      return feedback.cut(text, session.run.options.agent.result), failed
    end
  end
  return ("there is no tool '%s'%s"):format(tostring(name), suggest.hint(tostring(name), known)), true
end

return M

-- rules: opinions about candidates, each a file that returns { stage =, severity =, options =,
-- check = function(facts, options) }. A set (configs/rules-NAME.lua) switches and
-- parametrises them. A rule runs in a Lua state of its own on a copy of the facts: it can
-- say that a candidate is unacceptable, or that it cannot tell, and nothing else. A rule that fails, or
-- runs out of time or memory, cannot tell either: that is a flag with the reason, for everybody the same.

local bounded = require "cawb.base.bounded"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local file = require "cawb.base.file"
local facts_of = require "cawb.judge.rule_facts"
local suggest = require "cawb.base.suggest"

local M = {}

--- Where a rule may stand, in the order in which a candidate passes them.
M.stages = { "source", "compiled", "plan", "verify", "timing", "plausibility", "python", "work" }
local severities = { reject = true, flag = true, off = true }
local unknowns = { reject = true, flag = true }         -- what a rule that cannot tell counts as

local limits = { memory = 256 << 20, instructions = 100000000 }
local sets, files = {}, {}

local function contains(list, value)
  for _, x in ipairs(list) do if x == value then return true end end
  return false
end

-- A rule's table, read once: its text runs again, sealed, for every check.
local function load_rule(path)
  if files[path] then return files[path] end
  local text, message = file.read(path)
  if not text then return nil, message end
  local chunk
  chunk, message = load(text, "@" .. path, "t", setmetatable({}, { __index = _G }))
  if not chunk then return nil, message end
  local ok, rule = bounded.call(defaults.deadlines.rule, chunk)
  if not ok then return nil, tostring(rule) end
  if type(rule) ~= "table" or type(rule.check) ~= "function" then
    return nil, path .. ": a rule returns a table with a function 'check'"
  end
  if not contains(M.stages, rule.stage) then
    return nil, ("%s: 'stage' must be one of %s, got %s"):format(path, table.concat(M.stages, ", "),
      tostring(rule.stage))
  end
  files[path] = { path = path, text = text, stage = rule.stage, severity = rule.severity or "reject",
                  options = rule.options or {} }
  return files[path]
end

-- Where a rule stands: those about Python candidates, whose names begin so, have a folder of their own.
local function folder_of(name)
  return core.home .. "/lua/cawb/judge/rules" .. (name:find "^python_" and "/python" or "")
end

--- Names of the rules that cawb came with.
function M.names()
  local list = {}
  for _, dir in ipairs { folder_of "", folder_of "python_" } do
    for _, entry in ipairs(core.fs.list(dir) or {}) do list[#list + 1] = entry:match "^(.*)%.lua$" end
  end
  table.sort(list)
  return list
end

local function path_of(name, folder)
  if name:find "%.lua$" then return name:sub(1, 1) == "/" and name or folder .. "/" .. name end
  return ("%s/%s.lua"):format(folder_of(name), name)
end

-- The rule of a set with its options laid over its defaults, or nil and a message.
local function configured(name, given, source, folder)
  if not name:find "%.lua$" and not contains(M.names(), name) then
    return nil, ("%s: there is no rule '%s'%s"):format(source, name, suggest.hint(name, M.names()))
  end
  local rule, message = load_rule(path_of(name, folder))
  if not rule then return nil, message end
  if given == true then given = {} elseif given == false then given = { severity = "off" } end
  if type(given) ~= "table" then
    return nil, ("%s: rule '%s' is set to true, false or a table of options, got %s"):format(source, name, type(given))
  end
  local one = { name = name:match "([%w_-]+)%.lua$" or name, rule = rule, severity = rule.severity,
                unknown = "flag", options = {} }
  for key, value in pairs(rule.options) do one.options[key] = value end
  for key, value in pairs(given) do
    if key == "severity" then
      if not severities[value] then
        return nil, ("%s: rule '%s': severity is reject, flag or off, got '%s'"):format(source, name, tostring(value))
      end
      one.severity = value
    elseif key == "unknown" then
      if not unknowns[value] then
        return nil, ("%s: rule '%s': unknown is flag or reject, got '%s'"):format(source, name, tostring(value))
      end
      one.unknown = value
    elseif rule.options[key] == nil then
      local known = { "severity", "unknown" }
      for k in pairs(rule.options) do known[#known + 1] = k end
      return nil, ("%s: rule '%s' has no option '%s'%s"):format(source, name, tostring(key),
        suggest.hint(tostring(key), known))
    else
      one.options[key] = value
    end
  end
  return one
end

local function by_stage(list)
  local order = {}
  for i, stage in ipairs(M.stages) do order[stage] = i end
  table.sort(list, function(a, b)
    local x, y = order[a.rule.stage], order[b.rule.stage]
    if x ~= y then return x < y end
    return a.name < b.name
  end)
  return list
end

--- Where a set lies: a name of configs/rules-NAME.lua, or a path.
function M.path(name)
  if name:find "%.lua$" then return name end
  return ("%s/configs/rules-%s.lua"):format(core.home, name)
end

local function known_sets()
  local list = {}
  for _, entry in ipairs(core.fs.list(core.home .. "/configs") or {}) do
    list[#list + 1] = entry:match "^rules%-(.*)%.lua$"
  end
  return list
end

local function read_set(name, path)
  local chunk, message = loadfile(path, "t")
  if not chunk and not name:find "%.lua$" then
    return nil, ("rules '%s': there is no such set%s; sets are the files configs/rules-NAME.lua, or a path")
      :format(name, suggest.hint(name, known_sets()))
  end
  if not chunk then return nil, message end
  local ok, value = bounded.call(defaults.deadlines.rule, chunk)
  if not ok then return nil, tostring(value) end
  if type(value) ~= "table" or type(value.rules) ~= "table" then
    return nil, path .. ": a set of rules returns { rules = { name = true or a table of options } }"
  end
  return value
end

--- A set of rules: { name =, path =, list = rules by stage, protocol = { options that go with
--- it } }, or nil and a message that names the file.
function M.set(name)
  if sets[name] then return sets[name] end
  local path = M.path(name)
  local value, message = read_set(name, path)
  if not value then return nil, message end
  local set = { name = path:match "rules%-([%w_-]+)%.lua$" or path, path = path, list = {},
                protocol = value.protocol or {} }
  for rule, given in pairs(value.rules) do
    local one
    one, message = configured(tostring(rule), given, path, path:match "^(.*)/" or ".")
    if not one then return nil, message end
    if one.severity ~= "off" then set.list[#set.list + 1] = one end
  end
  by_stage(set.list)
  sets[name] = set
  return set
end

-- A rule that could not tell, and why.
local function unknown(why) return { unknown = true, reason = why } end

-- Its message with file and line, where it has none of its own.
local function placed(one, message)
  return message:find(one.rule.path, 1, true) and message or ("%s: %s"):format(one.rule.path, message)
end

-- What one rule says of facts that were read (core.sealed.data): nil, or { reason =, evidence =, unknown = }; or nil, message,
-- name on Ctrl-C.
local function ask(one, facts, seconds)
  local found, message, name = core.sealed.call { text = one.rule.text, name = one.rule.path, entry = "check",
    first = facts, arguments = core.json.array { one.options }, memory = limits.memory, instructions = limits.instructions,
    seconds = seconds }
  if name == "interrupted" then return nil, message, name end
  if message then return unknown(placed(one, message)) end
  if found == nil then return nil end
  if type(found) ~= "table" or type(found.reason) ~= "string" then
    return unknown(("%s: it must return nothing, or a table with a 'reason'"):format(one.rule.path))
  end
  return found
end

local function finding_of(one, found)
  return { rule = one.name, stage = one.rule.stage, severity = found.unknown and one.unknown or one.severity,
           reason = found.reason, evidence = found.evidence, unknown = found.unknown and true or nil }
end

--- Ask the rules of some stages about facts (rule_facts.lua), each for so many `seconds` at most.
--- Returns { rejected = finding or nil, flags = findings, asked = n }, a finding being { rule, stage,
--- severity, reason, evidence, unknown = true where the rule could not tell }. The first rejection
--- ends it. Returns nil, message, "interrupted" on Ctrl-C.
function M.judge(set, facts, stages, seconds)
  local result, read <close> = { flags = {}, asked = 0 }, core.sealed.data(facts)
  for _, one in ipairs(set.list) do
    if contains(stages, one.rule.stage) then
      local found, message, name = ask(one, read, seconds or defaults.deadlines.rule)
      if message then return nil, message, name end
      result.asked = result.asked + 1
      local finding = found and finding_of(one, found)
      if finding and finding.severity == "reject" then
        result.rejected = finding
        return result
      end
      if finding then result.flags[#result.flags + 1] = finding end
    end
  end
  return result
end

--- The rule that holds what a task's own file forbids. No set names it: it is asked where there is such a list.
M.of_the_task = "task_forbids"

-- The rules of a set, and that one. It knows classes of operators, namespaces and libraries as python_work has them.
local function with_the_task(set, task)
  if #(task.forbidden or {}) == 0 then return set end
  local work, message = load_rule(path_of "python_work")
  if not work then return nil, message end
  local own
  own, message = configured(M.of_the_task, { classes = work.options.classes, spaces = work.options.spaces, libraries = work.options.libraries }, task.path, ".")
  if not own then return nil, message end
  return { name = set.name, list = table.move(set.list, 1, #set.list, 2, { own }) }
end

--- Judge what is known of a task's candidate by a set (`options.rules`), and put the
--- outcome into `facts`: findings go to facts.rules; a rejection makes them a failure. Facts
--- that are a failure stay one. Returns true, or nil, message, name.
function M.apply(task, candidate, facts, stages, options)
  local set, message = M.set(options.rules)
  if set then set, message = with_the_task(set, task) end
  if not set then return nil, message, "strategy" end
  facts.rules = facts.rules or { set = set.name, flags = {}, asked = 0 }
  if #set.list == 0 then return true end
  local outcome, why, name = M.judge(set, facts_of.new(task, candidate, facts, stages, options), stages,
    options.deadlines.rule)
  if not outcome then return nil, why, name end
  facts.rules.asked = facts.rules.asked + outcome.asked
  for _, flag in ipairs(outcome.flags) do table.insert(facts.rules.flags, flag) end
  local bad = outcome.rejected
  if bad then
    facts.rules.rejected = bad
    facts.ok, facts.stage, facts.rule = false, bad.stage, bad.rule
    facts.reason = ("%s (rule %s)"):format(bad.reason, bad.rule)
  end
  return true
end

return M

-- options: the settings of a run, layered: defaults, strategy, --config files,
-- --set. The type of a default is the type of its option; what is not known is
-- an error that names the source and suggests.

local baseline_names = require "cawb.base.baseline_names"
local suggest = require "cawb.base.suggest"

local M = {}

-- Options whose keys are the user's own, and one that takes more than one type.
local free = { task = true, floors = true, sampling = true, extra_headers = true, price = true }
local also = { reward = "function" }

-- What a number may be, by its path: a least value, or a test with its words.
local positive = { function(v) return v > 0 end, "must be positive" }
local at_least_one = { function(v) return v >= 1 end, "must be at least 1" }
local not_negative = { function(v) return v >= 0 end, "must not be negative" }
local share = { function(v) return v >= 0 and v <= 1 end, "must lie between 0 and 1" }
local ranges = {
  ["turns"] = at_least_one, ["seconds"] = positive, ["verify.trials"] = at_least_one,
  ["tolerance.factor"] = positive, ["tolerance.battery_factor"] = positive,
  ["tolerance.allclose"] = positive, ["tolerance.allclose_half"] = positive,
  ["verify.battery_bytes"] = not_negative, ["verify.repeats"] = not_negative,
  ["tolerance.equal_error"] = at_least_one, ["measure.matrix_samples"] = at_least_one,
  ["measure.batch"] = at_least_one, ["measure.inputs_for"] = at_least_one, ["measure.rounds"] = at_least_one,
  ["measure.warmup"] = not_negative,
  ["measure.slice"] = positive, ["measure.resolution"] = not_negative, ["measure.slowest"] = share, ["measure.launches"] = not_negative,
  ["confirm.trials"] = at_least_one, ["sweep.budget"] = positive,
  ["measure.precision"] = positive, ["measure.budget"] = positive, ["measure.same"] = positive,
  ["measure.error_rate"] = { function(v) return v > 0 and v < 0.5 end, "must lie between 0 and 0.5" },
  ["sweep.variants"] = at_least_one, ["sweep.trials"] = at_least_one, ["sweep.samples"] = at_least_one,
  ["plan.memory"] = { function(v) return v >= 1 << 20 end, "must be at least 1048576 (1 MiB)" },
  ["plan.instructions"] = { function(v) return v >= 10000 end, "must be at least 10000" },
  ["compile.memory"] = { function(v) return v >= 1 << 30 end, "must be at least 1073741824 (1 GiB)" },
  ["simulate.memory"] = { function(v) return v >= 1 << 30 end, "must be at least 1073741824 (1 GiB)" },
  ["scale.memory"] = at_least_one, ["scale.operations"] = at_least_one, ["scale.share"] = share,
  ["scale.blocks"] = at_least_one, ["scale.both.memory"] = at_least_one, ["scale.both.operations"] = at_least_one,
  ["scale.both.blocks"] = at_least_one, ["compile.headers"] = not_negative, ["simulate.blocks"] = not_negative,
  ["simulate.threads"] = { function(v) return v >= 0 and v <= 256 end, "must lie between 0 and 256" },
  ["lines.period"] = { function(v) return v >= 5 and v <= 31 end, "must lie between 5 and 31" },
  ["lines.buffer"] = { function(v) return v >= 1 << 20 end, "must be at least 1048576 (1 MiB)" },
  ["model.connect"] = positive, ["model.first"] = positive, ["model.idle"] = positive,
  ["model.whole"] = positive, ["model.retries"] = not_negative, ["model.backoff"] = not_negative,
  ["model.backoff_most"] = not_negative, ["model.max_tokens"] = not_negative,
  ["model.context"] = at_least_one, ["model.limit"] = at_least_one,
  ["budget.replies"] = not_negative, ["budget.tokens"] = not_negative, ["budget.dollars"] = not_negative,
  ["budget.device_seconds"] = not_negative, ["budget.no_progress"] = not_negative,
  ["agent.result"] = { function(v) return v >= 500 end, "must be at least 500" }, ["agent.keep"] = at_least_one,
  ["agent.concurrent"] = at_least_one, ["agent.fence"] = at_least_one,
  ["tier2.memory"] = { function(v) return v >= 1 << 30 end, "must be at least 1073741824 (1 GiB)" },
  ["tier2.disk"] = at_least_one, ["tier2.processes"] = at_least_one, ["tier2.seconds"] = at_least_one,
  ["shell.seconds"] = positive, ["shell.disk"] = at_least_one, ["shell.file"] = at_least_one,
  ["shell.processes"] = at_least_one,
  ["shell.memory"] = { function(v) return v >= 64 << 20 end, "must be at least 67108864 (64 MiB)" },
  ["live.every"] = positive, ["lines.budget"] = not_negative, ["lines.most"] = at_least_one,
}
local words = { ["profile"] = { "none", "quick", "default" }, ["tolerance.protocol"] = { "errors", "allclose" },
  ["tier2.jail"] = { "auto", "namespaces", "landlock", "none" },
  ["shell.jail"] = { "auto", "namespaces", "landlock" },
  ["model.protocol"] = { "openai", "anthropic" }, ["model.tools"] = { "native", "text" },
  ["cassette.by"] = { "order", "hash" }, ["verify.relations"] = { "none", "linear", "rows", "all" }, ["verify.weights"] = { "drawn", "own" },
  ["scale.mode"] = { "auto", "none", "fit", "full", "both" } }
--- Options that had another name once, in the same group.
M.renamed = { ["deadlines.module"] = "deadlines.python" }
local lists = { ["measure.against"] = true, ["measure.matrix"] = true }   -- of baselines

local function copy(value)
  if type(value) ~= "table" or getmetatable(value) then return value end
  local t = {}
  for k, v in pairs(value) do t[k] = copy(v) end
  return t
end
M.copy = copy

local function keys(t)
  local list = {}
  for k in pairs(t) do list[#list + 1] = tostring(k) end
  return list
end

local function unknown(name, word, known)
  if M.renamed[name] then return ("option '%s' is called '%s' now"):format(name, M.renamed[name]) end
  return ("unknown option '%s'%s"):format(name, suggest.hint(word, known))
end

--- Raise unless every key of `given` is one of `known`: a misspelt option of a
--- function is the script's mistake. `level` as in error.
function M.known(given, known, what, level)
  for key in pairs(given or {}) do
    if not known[key] then
      error(("%s: unknown option '%s'%s"):format(what, tostring(key),
        suggest.hint(tostring(key), keys(known))), (level or 1) + 1)
    end
  end
end

local function check_type(default, value, name)
  local want, got = type(default), type(value)
  if want == got or also[name] == got then
    if want == "number" and math.type(default) == "integer"
       and not math.tointeger(value) then
      return ("option '%s' must be a whole number, got %s"):format(name, value)
    end
    return nil
  end
  return ("option '%s' must be a %s, got %s"):format(name, want, got)
end

local function check_range(value, name)
  if type(value) ~= "number" then return nil end
  if value ~= value or value == math.huge or value == -math.huge then
    return ("option '%s' must be a finite number"):format(name)
  end
  local range = ranges[name] or (name:match "^deadlines%." and positive)
  if range and not range[1](value) then
    return ("option '%s' %s, got %s"):format(name, range[2], value)
  end
end

local function check_word(value, name)
  for _, word in ipairs(words[name] or { value }) do
    if word == value then return nil end
  end
  return ("option '%s' is one of %s, not '%s'%s"):format(name, table.concat(words[name], ", "), value,
    suggest.hint(value, words[name]))
end

-- What is wrong with a value for the option `name`, or nil.
local function check(default, value, name)
  return check_type(default, value, name) or check_range(value, name) or check_word(value, name)
    or (lists[name] and baseline_names.check(value, name) or nil)
end

-- Lay `layer` over `base` in place. Returns nil, or what is wrong with it.
local function overlay(base, layer, prefix)
  for key, value in pairs(layer) do
    local name = prefix .. tostring(key)
    local default = base[key]
    if default == nil then return unknown(name, tostring(key), keys(base)) end
    local wrong = check(default, value, name)
    if wrong then return wrong end
    if free[key] and type(default) == "table" then   -- deadlines.task is a number
      for k, v in pairs(value) do default[k] = copy(v) end
    elseif type(default) == "table" and #default == 0 then
      wrong = overlay(default, value, name .. ".")
      if wrong then return wrong end
    else
      base[key] = copy(value)
    end
  end
end

--- Lay a table of options over `options`, in place. Returns true, or nil and a
--- message that begins with `source`, such as a file's name.
function M.overlay(options, layer, source)
  if type(layer) ~= "table" then
    return nil, ("%s: must return a table of options, got %s"):format(source, type(layer))
  end
  local wrong = overlay(options, layer, "")
  if wrong then return nil, ("%s: %s"):format(source, wrong) end
  return true
end

-- A group of options as it was stored, by today's names.
local function by_todays_names(group, stored, today)
  if type(stored) ~= "table" or next(today) == nil then return stored end
  local known = {}
  for name, value in pairs(stored) do
    local now = M.renamed[group .. "." .. name]
    name = now and now:match "[^.]+$" or name
    if today[name] ~= nil then known[name] = value end
  end
  return known
end

-- Baselines by their names; those that were candidates are none any more.
local function only_names(list)
  local names = {}
  for _, kind in ipairs(list) do
    if type(kind) == "string" then names[#names + 1] = kind end
  end
  return names
end

--- All options, out of those that a run's record holds; what is unknown today is left out, and
--- the reward, which may have been a function, and the strategy's settings are.
function M.restored(stored)
  local all = copy(require "cawb.base.defaults")
  for key, value in pairs(stored) do
    if key ~= "reward" and key ~= "settings" and all[key] ~= nil then
      if type(all[key]) == "table" then value = by_todays_names(key, value, all[key]) end
      if key == "measure" and type(value.against) == "table" then value.against = only_names(value.against) end
      M.overlay(all, { [key] = value }, "stored")
    end
  end
  return all
end

-- "true", "12", "1.5", "a,b" or a word, as what the option's default is.
local function parse(text, default)
  if type(default) == "boolean" then
    if text == "true" or text == "false" then return text == "true" end
    return nil, "must be true or false"
  elseif type(default) == "number" then
    local n = tonumber(text)
    if not n then return nil, "must be a number" end
    return math.tointeger(n) or n
  elseif type(default) == "table" then
    local list = {}
    for word in text:gmatch "[^,]+" do list[#list + 1] = word end
    return list
  end
  return text
end

-- A value for a key that has no default to tell its type.
local function guess(text)
  if text == "true" or text == "false" then return text == "true" end
  local n = tonumber(text)
  if n then return math.tointeger(n) or n end
  return text
end

--- Apply one --set key=value, where key is a dotted path such as verify.trials.
--- Returns true, or nil and a message.
function M.set(options, assignment)
  local path, text = assignment:match "^([%w_.]+)=(.*)$"
  if not path then
    return nil, ("--set '%s': write key=value, such as turns=5 or task.rows=64"):format(assignment)
  end
  local node, parent, name, seen = options, nil, nil, {}
  for word in path:gmatch "[^.]+" do
    if type(node) ~= "table" then
      return nil, ("--set %s: '%s' has no parts"):format(path, table.concat(seen, "."))
    end
    parent, name, seen[#seen + 1] = node, word, word
    if node[word] == nil and not free[seen[#seen - 1]] then
      return nil, "--set: " .. unknown(table.concat(seen, "."), word, keys(node))
    end
    node = node[word]
  end
  if type(node) == "table" and #node == 0 then
    local known = keys(node)
    return nil, ("--set %s: this is a group; set one of its parts%s"):format(path,
      #known > 0 and (", such as %s.%s=..."):format(path, known[1]) or "")
  end
  local value, why
  if node == nil then value = guess(text)    -- a free key, such as task.rows
  else value, why = parse(text, node) end
  if value == nil then return nil, ("--set %s: %s, got '%s'"):format(path, why, text) end
  local wrong = check(node == nil and value or node, value, path)
  if wrong then return nil, "--set: " .. wrong end
  parent[name] = value
  return true
end

return M

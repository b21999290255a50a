-- schema: whether a value that came from elsewhere is what a description says. A description
-- is a table { type =, ... } as core/protocol/README.md defines them; named types stand apart.
-- Bounds hold everywhere: a text, a list or a number without any of its own has the default.

local core = require "cawb.core"

local M = {}

local array = getmetatable(core.json.array {})

-- What bounds nothing else is said of.
local text_bytes, list_items, map_entries = 1024, 4096, 1024
local tree_depth, tree_values, tree_text = 16, 65536, 65536
local largest = 1 << 53                      -- a double holds every whole number up to here

local check

-- A value in a message: short, and in one line.
local function shown(value)
  if type(value) == "string" then
    local text = #value > 40 and value:sub(1, 40) .. "..." or value
    return ("a text of %d bytes, '%s'"):format(#value, (text:gsub("[^\32-\126]", "?")))
  end
  if value == nil then return "nothing" end
  if value == core.json.null then return "null" end
  if type(value) ~= "table" then return tostring(value) end
  return (getmetatable(value) == array or value[1] ~= nil) and ("a list of %d"):format(#value) or "an object"
end

local function wrong(value, ...) return "", (...):format(select(2, ...)) .. ", not " .. shown(value) end

-- A key in a path.
local function step(key)
  if type(key) == "number" then return ("[%d]"):format(key) end
  if key:match "^[%a_][%w_]*$" and #key <= 64 then return "." .. key end
  return ("['%s']"):format(key:sub(1, 64):gsub("[^\32-\126]", "?"))
end

-- What is wrong within, said of the whole.
local function within(key, path, problem)
  if problem then return step(key) .. path, problem end
end

local function is_text(value, most) return type(value) == "string" and #value <= most and utf8.len(value) ~= nil end

local function is_list(value) return type(value) == "table" and (getmetatable(value) == array or value[1] ~= nil) end

local checks = {}

function checks.bool(spec, value)
  if type(value) ~= "boolean" then return wrong(value, "must be true or false") end
  if spec.values and spec.values[1] ~= value then return wrong(value, "must be %s", tostring(spec.values[1])) end
end

function checks.text(spec, value)
  local least, most = spec.least or 0, spec.most or text_bytes
  if not is_text(value, most) or #value < least then
    return wrong(value, "must be a text of %d to %d bytes in UTF-8", least, most)
  end
  if not spec.values then return nil end
  for _, known in ipairs(spec.values) do if known == value then return nil end end
  return wrong(value, "must be one of %s", table.concat(spec.values, ", "))
end

local words = { inf = true, ["-inf"] = true, nan = true }

function checks.number(spec, value)
  if spec.odd and (words[value] or value == core.json.null) then return nil end
  local least, most = spec.least or -math.huge, spec.most or math.huge
  local finite = type(value) == "number" and value == value and value > -math.huge and value < math.huge
  if finite and value >= least and value <= most then return nil end
  return wrong(value, "must be a finite number" .. (spec.least and " of %s or more" or "") .. (spec.most and " up to %s" or ""),
    tostring(spec.least or spec.most), tostring(spec.most))
end

function checks.whole(spec, value)
  local number, most = type(value) == "number" and math.tointeger(value), spec.most or largest
  if number and number >= (spec.least or 0) and number <= most then return nil end
  return wrong(value, "must be a whole number from %d to %d", spec.least or 0, most)
end

-- Up to 2^63, in which case it is a text.
function checks.seed(_, value)
  if is_text(value, 20) and (value:match "^%d+$" or value:match "^0x%x+$") then return nil end
  if not checks.whole({}, value) then return nil end
  return wrong(value, "must be a whole number, as a text where it is beyond 2^53")
end

function checks.list(spec, value, types)
  local least, most = spec.least or 0, spec.most or list_items
  if not is_list(value) and not (type(value) == "table" and next(value) == nil) then   -- Lua's own empty one
    return wrong(value, "must be a list")
  end
  if #value < least or #value > most then return wrong(value, "must be a list of %d to %d", least, most) end
  for i, item in ipairs(value) do
    local path, problem = check(spec.of, item, types)
    if problem then return within(i, path, problem) end
  end
end

function checks.map(spec, value, types)
  local count, most = 0, spec.most or map_entries
  if type(value) ~= "table" or is_list(value) then return wrong(value, "must be an object") end
  for key, item in pairs(value) do
    count = count + 1
    if count > most then return "", ("must have at most %d entries"):format(most) end
    if not is_text(key, 4096) then return "", "must have names in UTF-8, of at most 4096 bytes" end
    local path, problem = check(spec.of, item, types)
    if problem then return within(key, path, problem) end
  end
end

function checks.object(spec, value, types)
  if type(value) ~= "table" or is_list(value) then return wrong(value, "must be an object") end
  for name, field in pairs(spec.fields) do
    if value[name] ~= nil then
      local path, problem = check(field, value[name], types)
      if problem then return within(name, path, problem) end
    elseif not field.optional then
      return within(name, "", "is missing")
    end
  end
  for name, item in pairs(value) do
    if not spec.fields[name] then
      if not spec.others then return within(tostring(name), "", "is unknown") end
      local path, problem = check(spec.others, item, types)
      if problem then return within(name, path, problem) end
    end
  end
end

-- The first that fits; where none does, what is wrong with the one that came furthest.
function checks.either(spec, value, types)
  local path, problem
  for _, one in ipairs(spec.of) do
    local at, why = check(one, value, types)
    if not why then return nil end
    if not path or #at > #path then path, problem = at, why end
  end
  return path, problem
end

local function tree(value, depth, state)
  state.left = state.left - 1
  if depth > tree_depth then return "", ("must not be nested more than %d deep"):format(tree_depth) end
  if state.left < 0 then return "", ("must have at most %d values"):format(tree_values) end
  if type(value) == "string" then return checks.text({ most = tree_text }, value) end
  if type(value) == "number" then return checks.number({}, value) end
  if type(value) ~= "table" then return nil end
  for key, item in pairs(value) do
    if type(key) == "string" and not is_text(key, 4096) then return "", "must have names in UTF-8" end
    local path, problem = tree(item, depth + 1, state)
    if problem then return within(key, path, problem) end
  end
end

function checks.tree(_, value) return tree(value, 0, { left = tree_values }) end

function check(spec, value, types)
  local own = checks[spec.type]
  if own then return own(spec, value, types) end
  return check(types[spec.type] or error(("schema: there is no type '%s'"):format(spec.type)), value, types)
end

--- What is wrong with a value, "report.races must be a whole number from 0 to 8, not 1.5", or
--- nil where it fits. `types` holds the named types.
function M.check(spec, value, types)
  local path, problem = check(spec, value, types or {})
  if not problem then return nil end
  path = path:gsub("^%.", "")
  return path == "" and "it " .. problem or path .. " " .. problem
end

--- The words that a description may have as its type, beside the names of its own types.
M.kinds = {}
for kind in pairs(checks) do M.kinds[kind] = true end

return M

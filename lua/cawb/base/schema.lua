-- schema: whether a value that came from elsewhere is what a description says. A description
-- is a table { type =, ... } as core/base/protocol/README.md defines them; named types stand apart.
-- Bounds hold everywhere: a text, a list or a number without any of its own has the default.

local core = require "cawb.core"

local M = {}

local array = getmetatable(core.json.array {})

-- What bounds nothing else is said of.
local text_bytes, list_items, map_entries = 1024, 4096, 1024
local tree_depth, tree_values, tree_text = 16, 65536, 65536
local largest = 1 << 53                      -- a double holds every whole number up to here

local made

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

-- A description becomes a function of a value once: the answers of one candidate hold thousands of values. It returns nothing
-- where the value fits, else the path within it and what is wrong there.
local makers = {}

function makers.bool(spec)
  local only = spec.values and spec.values[1]
  return function(value)
    if type(value) ~= "boolean" then return wrong(value, "must be true or false") end
    if only ~= nil and only ~= value then return wrong(value, "must be %s", tostring(only)) end
  end
end

function makers.text(spec)
  local least, most, known = spec.least or 0, spec.most or text_bytes, nil
  if spec.values then
    known = {}
    for _, value in ipairs(spec.values) do known[value] = true end
  end
  return function(value)
    if not is_text(value, most) or #value < least then
      return wrong(value, "must be a text of %d to %d bytes in UTF-8", least, most)
    end
    if known and not known[value] then return wrong(value, "must be one of %s", table.concat(spec.values, ", ")) end
  end
end

local words = { inf = true, ["-inf"] = true, nan = true }

function makers.number(spec)
  local least, most, odd = spec.least or -math.huge, spec.most or math.huge, spec.odd
  return function(value)
    -- NaN is none of these.
    if type(value) == "number" and value >= least and value <= most and value > -math.huge and value < math.huge then return nil end
    if odd and (words[value] or value == core.json.null) then return nil end
    return wrong(value, "must be a finite number" .. (spec.least and " of %s or more" or "") .. (spec.most and " up to %s" or ""),
      tostring(spec.least or spec.most), tostring(spec.most))
  end
end

function makers.whole(spec)
  local least, most = spec.least or 0, spec.most or largest
  return function(value)
    local number = type(value) == "number" and math.tointeger(value)
    if number and number >= least and number <= most then return nil end
    return wrong(value, "must be a whole number from %d to %d", least, most)
  end
end

-- Up to 2^63, in which case it is a text.
function makers.seed()
  local whole = makers.whole {}
  return function(value)
    if is_text(value, 20) and (value:match "^%d+$" or value:match "^0x%x+$") then return nil end
    if not whole(value) then return nil end
    return wrong(value, "must be a whole number, as a text where it is beyond 2^53")
  end
end

function makers.list(spec, types)
  local least, most, item_check = spec.least or 0, spec.most or list_items, made(spec.of, types)
  return function(value)
    if not is_list(value) and not (type(value) == "table" and next(value) == nil) then   -- Lua's own empty one
      return wrong(value, "must be a list")
    end
    if #value < least or #value > most then return wrong(value, "must be a list of %d to %d", least, most) end
    for i = 1, #value do
      local path, problem = item_check(value[i])
      if problem then return within(i, path, problem) end
    end
  end
end

function makers.map(spec, types)
  local most, item_check = spec.most or map_entries, made(spec.of, types)
  return function(value)
    local count = 0
    if type(value) ~= "table" or is_list(value) then return wrong(value, "must be an object") end
    for key, item in pairs(value) do
      count = count + 1
      if count > most then return "", ("must have at most %d entries"):format(most) end
      if not is_text(key, 4096) then return "", "must have names in UTF-8, of at most 4096 bytes" end
      local path, problem = item_check(item)
      if problem then return within(key, path, problem) end
    end
  end
end

-- The names of an object's fields that must be there, and a function for each field.
local function fields_of(spec, types)
  local needed, own = {}, {}
  for name, field in pairs(spec.fields) do
    own[name] = made(field, types)
    if not field.optional then needed[#needed + 1] = name end
  end
  table.sort(needed)
  return needed, own
end

local UNKNOWN = "is unknown"

function makers.object(spec, types)
  local needed, own = fields_of(spec, types)
  local others = spec.others and made(spec.others, types)
  return function(value)
    if type(value) ~= "table" or is_list(value) then return wrong(value, "must be an object") end
    for i = 1, #needed do
      if value[needed[i]] == nil then return within(needed[i], "", "is missing") end
    end
    local unknown
    for name, item in pairs(value) do
      local field = own[name] or others
      if not field then unknown = tostring(name)
      else
        local path, problem = field(item)
        if problem then return within(name, path, problem) end
      end
    end
    if unknown then return within(unknown, "", UNKNOWN) end      -- what is wrong with one that is known says more
  end
end

-- How far a check came: one that met a field that it does not know was of another kind.
local function reach(at, why) return why == UNKNOWN and 0 or 1 + #at end

-- The first that fits; where none does, what is wrong with the one that came furthest.
function makers.either(spec, types)
  local list = {}
  for i, one in ipairs(spec.of) do list[i] = made(one, types) end
  return function(value)
    local path, problem
    for _, fits in ipairs(list) do
      local at, why = fits(value)
      if not why then return nil end
      if not path or reach(at, why) > reach(path, problem) then path, problem = at, why end
    end
    return path, problem
  end
end

local long_text, any_number = makers.text { most = tree_text }, makers.number {}

local function tree(value, depth, state)
  state.left = state.left - 1
  if depth > tree_depth then return "", ("must not be nested more than %d deep"):format(tree_depth) end
  if state.left < 0 then return "", ("must have at most %d values"):format(tree_values) end
  if type(value) == "string" then return long_text(value) end
  if type(value) == "number" then return any_number(value) end
  if type(value) ~= "table" then return nil end
  for key, item in pairs(value) do
    if type(key) == "string" and not is_text(key, 4096) then return "", "must have names in UTF-8" end
    local path, problem = tree(item, depth + 1, state)
    if problem then return within(key, path, problem) end
  end
end

function makers.tree()
  return function(value) return tree(value, 0, { left = tree_values }) end
end

-- A type may hold itself: what is made of it is looked up when a value is there.
local function named(name, types)
  local spec = types[name] or error(("schema: there is no type '%s'"):format(name))
  return function(value) return made(spec, types)(value) end
end

local known = setmetatable({}, { __mode = "k" })     -- types -> description -> its function
local no_types = {}

function made(spec, types)
  local all = known[types]
  if not all then
    all = setmetatable({}, { __mode = "k" })
    known[types] = all
  end
  local f = all[spec]
  if f then return f end
  local maker = makers[spec.type]
  f = maker and maker(spec, types) or named(spec.type, types)
  all[spec] = f
  return f
end

--- What is wrong with a value, "report.races must be a whole number from 0 to 8, not 1.5", or
--- nil where it fits. `types` holds the named types.
function M.check(spec, value, types)
  local path, problem = made(spec, types or no_types)(value)
  if not problem then return nil end
  path = path:gsub("^%.", "")
  return path == "" and "it " .. problem or path .. " " .. problem
end

--- The words that a description may have as its type, beside the names of its own types.
M.kinds = {}
for kind in pairs(makers) do M.kinds[kind] = true end

return M

-- schema: what the protocols share: tools as JSON schemas, calls and their arguments,
-- fields that nobody told us of.

local core = require "cawb.core"

local M = {}

--- A list of parameters, { { "path", "string", "what it is", optional = true }, ... }, as a
--- JSON schema.
function M.of(list)
  local properties, required = {}, core.json.array {}
  for _, p in ipairs(list) do
    properties[p[1]] = { type = p[2], description = p[3] }
    if not p.optional then required[#required + 1] = p[1] end
  end
  return { type = "object", properties = properties, required = required, additionalProperties = false }
end

--- A tool's parameters, a list or a JSON schema, as a JSON schema.
function M.parameters(tool)
  local given = tool.parameters or {}
  return given.type == "object" and given or M.of(given)
end

--- The same as a list, required ones first, then by name.
function M.list(tool)
  local given = tool.parameters or {}
  if given.type ~= "object" then return given end
  local needed, list = {}, {}
  for _, name in ipairs(given.required or {}) do needed[name] = true end
  for name, p in pairs(given.properties or {}) do
    list[#list + 1] = { name, p.type, p.description or "", optional = not needed[name] or nil }
  end
  table.sort(list, function(a, b)
    if needed[a[1]] ~= needed[b[1]] then return needed[a[1]] == true end
    return a[1] < b[1]
  end)
  return list
end

--- A call of a tool from its parts; arguments that are no JSON object are `bad`, with why.
function M.call(id, name, raw)
  local call = { id = id, name = name, raw = raw }
  local value, message = core.json.decode(raw:match "^%s*$" and "{}" or raw)
  if type(value) ~= "table" or raw:match "^%s*%[" then
    call.bad = "the arguments are no JSON object" .. (message and ": " .. message or "")
  else
    call.arguments = value
  end
  return call
end

--- Note the keys of `object` that are not among `known`, as "where.key", once each.
function M.note_unknown(notes, object, known, where)
  for key in pairs(object) do
    local name = where .. "." .. tostring(key)
    if not known[key] and not notes[name] then
      notes[name] = true
      notes[#notes + 1] = name
    end
  end
end

--- A set of words.
function M.set(text)
  local s = {}
  for word in text:gmatch "%S+" do s[word] = true end
  return s
end

--- A whole number, or 0: usage fields may be absent, null or of any type.
function M.count(value)
  return math.type(value) == "integer" and value >= 0 and value or 0
end

--- A field that should be a table: {} where it is anything else.
function M.object(value) return type(value) == "table" and value or {} end

--- A field that should be text: "" where it is anything else.
function M.text(value) return type(value) == "string" and value or "" end

return M

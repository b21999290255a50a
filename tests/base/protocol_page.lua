-- protocol_page: docs/reference/protocol.md as it follows from core/base/protocol/*.json. To write it
-- anew: `CAWB_WRITE_PAGES=1 cawb tests/base/test_protocol.lua`.

local wire = require "cawb.base.wire"

local head = [[
# The protocols

The processes of a run send each other these messages. Each process answers requests, one at a time. A request has `op` and `call`, a number that is
drawn for it. Its answer has the same `call`, and `ok`. If `ok` is false, `name` is the kind of failure and `message` the reason.

[core/base/protocol](../../core/base/protocol/README.md) has the types, bounds, units and meanings of the fields. Every message is checked
against it, and this page is made from it. A `?` marks an optional field, `[ ]` a list, `{ }` named entries. A word that begins with a capital is
a type at the end of its section.
]]

local function sorted(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function titled(name) return name:sub(1, 1):upper() .. name:sub(2) end

local fields

-- A description in words.
local function described(spec, types)
  if spec.type == "object" then return "{ " .. fields(spec.fields, types) .. " }" end
  if spec.type == "list" then return "[" .. described(spec.of, types) .. "]" end
  if spec.type == "map" then return "{" .. described(spec.of, types) .. "}" end
  if spec.type == "either" then
    local list = {}
    for i, one in ipairs(spec.of) do list[i] = described(one, types) end
    return table.concat(list, " or ")
  end
  return types[spec.type] and titled(spec.type) or spec.type
end

function fields(all, types)
  local list = {}
  for i, name in ipairs(sorted(all)) do
    list[i] = ("`%s`%s %s"):format(name, all[name].optional and "?" or "", described(all[name], types))
  end
  return #list > 0 and table.concat(list, ", ") or "-"
end

local function section(name)
  local p = wire.protocol(name)
  local lines = { ("\n## The %s\n"):format(p.process), ("%s Asked by %s; answered by %s.\n"):format(p.is, p.from, p.to),
                  "| operation | request | reply |", "|---|---|---|" }
  for _, op in ipairs(sorted(p.ops)) do
    local about = p.ops[op]
    lines[#lines + 1] = ("| `%s`: %s | %s | %s |"):format(op, about.is, fields(about.request, p.types), fields(about.reply, p.types))
  end
  lines[#lines + 1] = ("| every failure | | %s |"):format(fields(p.failure, p.types))
  if next(p.types) then lines[#lines + 1] = "\n| type | |\n|---|---|" end
  for _, word in ipairs(sorted(p.types)) do
    lines[#lines + 1] = ("| %s | %s |"):format(titled(word), described(p.types[word], p.types))
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The page's text.
return function(names)
  local parts = { head }
  for _, name in ipairs(names) do parts[#parts + 1] = section(name) end
  return table.concat(parts)
end

-- plain: tools for models that have none of their own. A call is written in the reply's
-- text, with every argument as it is, so that code needs no escapes:
--   <call tool="write_file">
--   <path>kernel.cu</path>
--   <text>
--   ...
--   </text>
--   </call>

local core = require "cawb.core"
local schema = require "cawb.agent.ask.schema"

local M = {}

local function describe_one(tool)
  local lines = { ("### %s\n%s"):format(tool.name, tool.description) }
  for _, p in ipairs(schema.list(tool)) do
    lines[#lines + 1] = ("- <%s> (%s%s): %s"):format(p[1], p[2], p.optional and ", optional" or "", p[3])
  end
  return table.concat(lines, "\n")
end

--- What to tell a model, behind its own instructions.
function M.describe(tools)
  local parts = { [[
# Tools

You call a tool by writing, on lines of their own, exactly this; several calls may follow each other:

<call tool="NAME">
<argument>its value, as it is, over as many lines as it needs</argument>
</call>

Nothing is escaped in a value. Stop writing after your calls: the results come in the next message.]] }
  for _, tool in ipairs(tools) do parts[#parts + 1] = describe_one(tool) end
  return table.concat(parts, "\n\n")
end

-- A value by its declared type; text that does not fit stays text, and the tool complains.
local function typed(value, kind)
  if kind == "string" then return (value:gsub("^\r?\n", "", 1):gsub("\r?\n$", "", 1)) end
  local bare = value:match "^%s*(.-)%s*$"
  if kind == "boolean" and (bare == "true" or bare == "false") then return bare == "true" end
  local n = tonumber(bare)
  if n and (kind == "number" or kind == "integer") then return math.tointeger(n) or n end
  return bare
end

-- The arguments in a call's body: each up to the first tag that closes it, so that a value
-- may hold what looks like another argument.
local function arguments_of(body, tool)
  local args, at = {}, {}
  for _, p in ipairs(schema.list(tool)) do
    local from, open = body:find("<" .. p[1] .. ">", 1, true)
    if from then at[#at + 1] = { from = from, open = open, name = p[1], kind = p[2] } end
  end
  table.sort(at, function(a, b) return a.from < b.from end)
  local behind = 0
  for _, one in ipairs(at) do
    if one.from > behind then               -- else it lies within the value before
      local close = "</" .. one.name .. ">"
      local first, last = body:find(close, one.open + 1, true)
      if not first then return nil, ("<%s> is not closed"):format(one.name) end
      args[one.name] = typed(body:sub(one.open + 1, first - 1), one.kind)
      behind = last
    end
  end
  return args
end

local function by_name(tools)
  local map = {}
  for _, tool in ipairs(tools) do map[tool.name] = tool end
  return map
end

--- The calls in a reply's text, and the text before the first of them.
function M.parse(text, tools)
  local known, calls, at, words = by_name(tools), {}, 1, nil
  while true do
    local from, open, name = text:find('<call tool="([%w_%-]+)">', at)
    if not from then break end
    words = words or text:sub(1, from - 1)
    local close, last = text:find("\n</call>", open, true)
    if not close then close, last = text:find("</call>", open, true) end
    local call = { id = "call_" .. #calls + 1, name = name, raw = "{}" }
    if not close then
      call.bad = "the call is not closed with </call>"
    elseif known[name] then
      call.arguments, call.bad = arguments_of(text:sub(open + 1, close), known[name])
      if call.arguments then call.raw = core.json.encode(call.arguments) end
    else
      call.arguments = {}                     -- an unknown tool: the caller says so
    end
    calls[#calls + 1] = call
    at = (last or #text) + 1
  end
  return calls, words or text
end

--- Messages without tools: calls stay in the text they were written in, results are words
--- of the user.
function M.messages(messages, tools)
  local out = {}
  for _, m in ipairs(messages) do
    if m.role == "tool" then
      out[#out + 1] = { role = "user", text = ('<result tool="%s">\n%s\n</result>'):format(m.name or m.id, m.text) }
    else
      out[#out + 1] = { role = m.role, text = m.written or m.text }
    end
  end
  local told = M.describe(tools)
  if out[1] and out[1].role == "system" then out[1].text = out[1].text .. "\n\n" .. told
  else table.insert(out, 1, { role = "system", text = told }) end
  local joined = {}                           -- roles take turns
  for _, m in ipairs(out) do
    local last = joined[#joined]
    if last and last.role == m.role then last.text = last.text .. "\n\n" .. m.text
    else joined[#joined + 1] = m end
  end
  return joined
end

return M

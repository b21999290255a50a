-- store: a graph as text, a line for each node, and back. Two graphs are equal when their texts are.
--   %3 = view float32[8, 16] %1[r1, r2 - 4] if r2 - 4 >= 0 else 0 {} @2
-- are a node, its kind, type and shape, its inputs or a view's pieces, its other fields, and its operator. @2 is a line further up.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local keys = require "cawb.compose.ir.keys"
local lists = require "cawb.base.lists"
local trees = require "cawb.compose.ir.tree.text"
local views = require "cawb.compose.ir.view"

local M = {}

-- ---- text of a node

-- Fields that have a place of their own in the line, or follow from the graph.
local known = { id = true, kind = true, shape = true, dtype = true, inputs = true, pieces = true, fill = true, users = true, from = true }

local function quoted(s) return (("%q"):format(s):gsub("\\\n", "\\n")) end

local value_text

local function table_text(t, without)
  local words = {}
  while t[#words + 1] ~= nil do words[#words + 1] = value_text(t[#words + 1]) end
  local n = #words
  for _, k in ipairs(keys(t, without)) do
    local is_listed = math.type(k) == "integer" and k >= 1 and k <= n
    local name = type(k) == "string" and k:find "^[%a_][%w_]*$" and k or ("[%s]"):format(type(k) == "string" and quoted(k) or k)
    if not is_listed then words[#words + 1] = name .. " = " .. value_text(t[k]) end
  end
  return #words > 0 and "{ " .. table.concat(words, ", ") .. " }" or "{}"
end

function value_text(v)
  if type(v) == "table" then return v.kind and "%" .. v.id or v.op and v.type and quoted(trees.write(v)) or table_text(v) end
  if type(v) == "string" then return quoted(v) end
  local text = math.type(v) == "float" and ("%.17g"):format(v) or tostring(v)
  return math.type(v) == "float" and not text:find "[.en]" and text .. ".0" or text
end

local function listed(expressions, more)
  return table.concat(lists.map(expressions, function(e) return index.text(e) .. (more or "") end), ", ")
end

local function piece_text(x, piece)
  local text = ("%%%d[%s]"):format(x.inputs[piece.input].id, listed(piece.at))
  return #piece.guards > 0 and text .. " if " .. listed(piece.guards, " >= 0") or text
end

function M.view(x)
  local words = lists.map(x.pieces, function(piece) return piece_text(x, piece) end)
  if x.fill ~= nil then words[#words + 1] = value_text(x.fill) end
  return table.concat(words, " else ")
end

local function named(nodes) return table.concat(lists.map(nodes, function(x) return "%" .. x.id end), ", ") end

-- A node without its number and its operator.
local function node_text(x)
  local inputs = x.kind == "view" and M.view(x) or "(" .. named(x.inputs) .. ")"
  return ("%s %s[%s] %s %s"):format(x.kind, x.dtype, table.concat(x.shape, ", "), inputs, table_text(x, known))
end

--- The text of a graph that `clean` has numbered.
function M.text(g)
  local lines, said = {}, {}
  for _, x in ipairs(g.nodes) do
    local number = x.from and x.from.number
    if number and not said[number] then lines[#lines + 1] = ("@%d = %s"):format(number, table_text(x.from)) end
    if number then said[number] = true end
    lines[#lines + 1] = ("%%%d = %s%s"):format(x.id, node_text(x), number and " @" .. number or "")
  end
  lines[#lines + 1] = "return " .. named(g.outputs)
  return table.concat(lines, "\n") .. "\n"
end

-- ---- and back: values and index expressions are Lua, apart from nodes, which are written as %3

local function fail(self, why) error(("line %d of the graph: %s"):format(self.number, why), 0) end

-- A node by its number: one of a line further down is empty until then.
local function node(self, id)
  self.nodes[id] = self.nodes[id] or {}
  return self.nodes[id]
end

-- A value as its text says; `names`: what the text may name besides nodes.
local function value(self, text, names)
  local function unknown(_, name) fail(self, ("'%s' means nothing"):format(name)) end
  local own = { node = function(id) return node(self, id) end }
  local chunk, why = load("return " .. text:gsub("%%(%d+)", "node(%1)"), "=graph", "t", setmetatable(own, { __index = names or unknown }))
  if not chunk then fail(self, why) end
  return chunk()
end

-- The pieces of a view, and its fill.
local function read_view(self, x, text)
  local names = setmetatable({}, { __index = function(_, name) fail(self, ("'%s' is no dimension of the view"):format(name)) end })
  for d, e in ipairs(views.variables(x.shape)) do names["r" .. d] = e end
  local function listed(list) return lists.map(value(self, "{" .. list .. "}", names), index.of) end
  x.pieces, x.inputs = {}, {}
  for piece in (text .. " else "):gmatch "(.-) else " do
    local id, at, guards = piece:match "^%%(%d+)%[(.-)%](.*)$"
    local k = #x.pieces + 1
    if id then
      x.inputs[k] = node(self, tonumber(id))
      x.pieces[k] = { input = k, at = listed(at), guards = listed((guards:gsub("^ if ", ""):gsub(" >= 0", ""))) }
    else x.fill = value(self, piece) end
  end
end

local function read_node(self, line)
  local id, kind, dtype, shape, inputs, fields, operator = line:match "^%%(%d+) = (%a+) ([%w_]+)(%b[]) ([^{]*) ({.*}) ?@?(%d*)$"
  if not id then fail(self, "a node, its kind, type, shape, inputs and fields are wanted") end
  local x = node(self, tonumber(id))
  x.kind, x.dtype, x.shape = kind, dtype, value(self, (shape:gsub("%[", "{"):gsub("%]", "}")))
  if kind == "view" then read_view(self, x, inputs) else x.inputs = value(self, "{" .. inputs:sub(2, -2) .. "}") end
  for name, field in pairs(value(self, fields)) do x[name] = field end
  if x.expression then x.expression = trees.read(x.expression, x.cast, x.casts) end
  x.from = self.operators[tonumber(operator)]
end

--- The graph of a text; raises where it is none.
function M.read(text)
  local g = graphs.new()
  local self = { nodes = g.nodes, operators = {}, number = 0 }
  for line in text:gmatch "[^\n]+" do
    self.number = self.number + 1
    local operator, about = line:match "^@(%d+) = (.*)$"
    if operator then self.operators[tonumber(operator)] = value(self, about)
    elseif line:find "^return " then g.outputs = value(self, "{" .. line:sub(8) .. "}")
    else read_node(self, line) end
  end
  for id, x in pairs(self.nodes) do
    if not x.kind then error(("%%%d is named in the graph and has no line"):format(id), 0) end
  end
  return g:clean()
end

return M

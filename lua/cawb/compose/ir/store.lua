-- store: a graph as text, a line for each node, and back. Two graphs are equal when their texts are.
--   %3 = view float32[8, 16] %1[r1, r2 - 4] if r2 - 4 >= 0 else 0 {} @2
-- are a node, its kind, type and shape, its inputs or a view's pieces, its other fields, and its operator. @2 is a line further up.

local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local keys = require "cawb.compose.ir.keys"
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
  local words = {}
  for k, e in ipairs(expressions) do words[k] = index.text(e) .. (more or "") end
  return table.concat(words, ", ")
end

local function piece_text(x, piece)
  local text = ("%%%d[%s]"):format(x.inputs[piece.input].id, listed(piece.at))
  return #piece.guards > 0 and text .. " if " .. listed(piece.guards, " >= 0") or text
end

--- What a view shows, in a line.
function M.view(x)
  local words = {}
  for k, piece in ipairs(x.pieces) do words[k] = piece_text(x, piece) end
  if x.fill ~= nil then words[#words + 1] = value_text(x.fill) end
  return table.concat(words, " else ")
end

local function inputs_text(x)
  local words = {}
  for k, input in ipairs(x.inputs) do words[k] = "%" .. input.id end
  return "(" .. table.concat(words, ", ") .. ")"
end

--- A node's fields besides its kind, shape, type, inputs and operator, and those of a set `without`.
function M.fields(x, without)
  return table_text(x, setmetatable(without or {}, { __index = known }))
end

--- A node without its number and its operator.
function M.node(x)
  return ("%s %s[%s] %s %s"):format(x.kind, x.dtype, table.concat(x.shape, ", "), x.kind == "view" and M.view(x) or inputs_text(x), M.fields(x))
end

--- The text of a graph that `clean` has numbered.
function M.text(g)
  local lines, said, outputs = {}, {}, {}
  for _, x in ipairs(g.nodes) do
    local number = x.from and x.from.number
    if number and not said[number] then lines[#lines + 1] = ("@%d = %s"):format(number, table_text(x.from)) end
    if number then said[number] = true end
    lines[#lines + 1] = ("%%%d = %s%s"):format(x.id, M.node(x), number and " @" .. number or "")
  end
  for k, x in ipairs(g.outputs) do outputs[k] = "%" .. x.id end
  lines[#lines + 1] = "return " .. table.concat(outputs, ", ")
  return table.concat(lines, "\n") .. "\n"
end

-- ---- and back: `at` is where in the line the reader is

local Reader = {}
Reader.__index = Reader

function Reader:fail(wanted)
  error(("line %d of the graph: %s is wanted at '%s'"):format(self.number, wanted, self.line:sub(self.at, self.at + 30)), 0)
end

-- What a pattern, which ends in (), finds here; nil where it does not match.
function Reader:take(pattern)
  local found, past = self.line:match("^%s*" .. pattern .. "()", self.at)
  if past then self.at = past end
  return past and found
end

function Reader:want(pattern, what) return self:take("(" .. pattern .. ")") or self:fail(what or pattern) end

-- A node by its number: one of a line further down is empty until then.
function Reader:node()
  local id = tonumber(self:want("%%%d+", "a node"):sub(2))
  self.nodes[id] = self.nodes[id] or {}
  return self.nodes[id]
end

-- { value, ..., name = value, [number] = value }
function Reader:table()
  local t = {}
  self:want "{"
  while not self:take "(})" do
    local name = self:take "([%a_][%w_]*)%s*=" or tonumber(self:take "%[(%d+)%]%s*=" or nil) or self:take '%[("[^"]*")%]%s*='
    if type(name) == "string" and name:sub(1, 1) == '"' then name = name:sub(2, -2) end
    local value = self:value()
    if name then t[name] = value else t[#t + 1] = value end
    self:take "(,)"
  end
  return t
end

function Reader:value()
  local first = self.line:match("^%s*(.)", self.at)
  if first == "{" then return self:table() end
  if first == "%" then return self:node() end
  if first == '"' then
    local past = self.line:match('^%s*"()', self.at)
    while self.line:sub(past, past) ~= '"' do past = past + (self.line:sub(past, past) == "\\" and 2 or 1) end
    local text = self.line:sub(self.at, past)
    self.at = past + 1
    return load("return " .. text, "=graph", "t", {})()
  end
  local word = self:want("[-%w.+]+", "a value")
  if word == "true" or word == "false" then return word == "true" end
  return tonumber(word) or self:fail "a value"
end

-- Index expressions, as index.text writes them.
function Reader:factor(of)
  local e
  if self:take "(%()" then
    e = self:expression(of)
    self:want("%)", "a bracket")
    return e
  end
  local number = self:take "(%d+)"
  if number then return index.const(math.tointeger(number)) end
  return of[self:want("r%d+", "a dimension")] or self:fail "a dimension of the view"
end

function Reader:product(of)
  local e = self:factor(of)
  while true do
    local sign = self:take "([*/%%])"
    if not sign then return e end
    local other = self:factor(of)
    if sign == "*" then e = index.scale(other, e.base)
    elseif sign == "/" then e = index.div(e, other.base) else e = index.mod(e, other.base) end
  end
end

function Reader:expression(of)
  local e = self:take "(-)" and index.scale(self:product(of), -1) or self:product(of)
  while true do
    local sign = self:take "([-+])"
    if not sign then return e end
    e = index.add(e, self:product(of), sign == "-" and -1 or 1)
  end
end

function Reader:listed(of, past)
  local list = {}
  if past and self:take(past) then return list end
  repeat
    list[#list + 1] = self:expression(of)
    if not past then self:want(">= 0", "'>= 0'") end
  until not self:take "(,)"
  if past then self:want("]", "a bracket") end
  return list
end

-- The pieces of a view, and its fill.
function Reader:view(x)
  local of = {}
  for d, e in ipairs(views.variables(x.shape)) do of["r" .. d] = e end
  x.pieces, x.inputs = {}, {}
  repeat
    if self.line:match("^%s*%%", self.at) then
      local k = #x.pieces + 1
      x.inputs[k] = self:node()
      self:want("%[", "a bracket")
      x.pieces[k] = { input = k, at = self:listed(of, "(])"), guards = self:take "(if)" and self:listed(of) or {} }
    else x.fill = self:value() end
  until not self:take "(else)"
end

function Reader:inputs()
  local list = {}
  self:want("%(", "a bracket")
  while not self:take "(%))" do
    list[#list + 1] = self:node()
    self:take "(,)"
  end
  return list
end

function Reader:shape()
  local shape = {}
  for n in self:want("%b[]", "a shape"):gmatch "%d+" do shape[#shape + 1] = math.tointeger(n) end
  return shape
end

function Reader:line_of_node(x)
  x.kind, x.dtype, x.shape = self:want("%a+", "a kind"), self:want("[%w_]+", "a type"), self:shape()
  if x.kind == "view" then self:view(x) else x.inputs = self:inputs() end
  for name, value in pairs(self:table()) do x[name] = value end
  if x.expression then x.expression = trees.read(x.expression, x.cast, x.casts) end
  local operator = self:take "@(%d+)"
  x.from = operator and self.operators[tonumber(operator)]
end

--- The graph of a text; raises where it is none.
function M.read(text)
  local g = graphs.new()
  local self = setmetatable({ nodes = g.nodes, operators = {}, number = 0 }, Reader)
  for line in text:gmatch "[^\n]+" do
    self.line, self.at, self.number = line, 1, self.number + 1
    local operator = self:take "@(%d+) ="
    if operator then self.operators[tonumber(operator)] = self:table()
    elseif self:take "(return)" then
      repeat g.outputs[#g.outputs + 1] = self:node() until not self:take "(,)"
    else
      local x = self:node()
      self:want "="
      self:line_of_node(x)
    end
  end
  for id, x in pairs(self.nodes) do
    if not x.kind then error(("%%%d is named in the graph and has no line"):format(id), 0) end
  end
  return g:clean()
end

return M

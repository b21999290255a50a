-- text: a tree as one line, and back. The line is infix, with the operands A, B, C, ... and the functions of ir/operations.lua:
--   A * (1.0 / B)      (A < 0 ? 0 : A)      exp(exact(A - B))      float16(A)      int64(A) % 4
-- `exact(A - B)` is rounded by itself, `approximate(A / B)` may be off by two places, a type's name converts. Operators
-- are written in it too (operators/expressions.lua). `maximum` and `minimum` are NaN if an operand is; `maximum_number` and
-- `minimum_number` are the other operand then.

local infix = require "cawb.compose.ir.tree.infix"
local operations = require "cawb.compose.ir.operations"
local tree = require "cawb.compose.ir.tree"
local types = require "cawb.torch.types"

local M = {}

-- ---- out

local style = {}

function style.argument(t) return string.char(64 + t.k) end

function style.constant(t)
  if t.type == "bool" then return tostring(t.value) end
  if types.is_float(t.type) then return infix.real(t.value) end
  return ("%d%s"):format(t.value, t.type == "int64" and "LL" or "")
end

function style.call(t, words) return ("%s%s(%s)"):format(t.op, t.nan == "loses" and "_number" or "", table.concat(words, ", ")) end

function style.marked(t, _, text) return ("%s(%s)"):format(t.exact and "exact" or "approximate", text) end

function style.convert(t, word) return ("%s(%s)"):format(t.type, word), operations.ATOM end

function M.write(t) return infix.write(t, style) end

--- The text of a number of a type, for a line.
function M.number(value, dtype)
  if not types.is_float(dtype) then return types.literal(value, dtype) end
  value = ({ inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0 })[value] or tonumber(value) + 0.0
  if value ~= value or value - value ~= 0 then return infix.real(value) end
  return infix.real(dtype == "float64" and value or tonumber(("%.9g"):format(value)) + 0.0)
end

-- ---- in: a state is { text, at, types = function(k), real = the type of numbers with a point }

local function refuse(s, what)
  error(("'%s' cannot be read at character %d: %s"):format(s.text, s.at, what), 0)
end

-- The match of a pattern where the reader stands, or nil.
local function take(s, pattern)
  local from, to, found = s.text:find("^%s*(" .. pattern .. ")", s.at)
  if not from then return nil end
  s.at = to + 1
  return found
end

local function need(s, sign)
  if not take(s, "%" .. sign) then refuse(s, ("'%s' is missing"):format(sign)) end
end

local choice

local function list_of(s)
  local list = { choice(s) }
  while take(s, ",") do list[#list + 1] = choice(s) end
  need(s, ")")
  return list
end

local marks = { exact = { exact = true }, approximate = { approximate = true } }

local extremes = { maximum = { "maximum", "wins" }, minimum = { "minimum", "wins" }, maximum_number = { "maximum", "loses" },
                   minimum_number = { "minimum", "loses" } }

local function call(s, name)
  local list = list_of(s)
  if marks[name] then return tree.node(list[1].op, { table.unpack(list[1]) }, marks[name]) end
  if extremes[name] then return tree.node(extremes[name][1], list, { nan = extremes[name][2] }) end
  if types.known(name) then return tree.node("convert", list, { type = name }) end
  if not operations.row(name) then refuse(s, ("there is no function '%s'"):format(name)) end
  return tree.node(name, list)
end

local words = { ["true"] = true, ["false"] = false, INFINITY = math.huge, NAN = 0 / 0 }

local function word(s, name)
  if #name == 1 and name:find "%u" then return tree.argument(name:byte() - 64, s.types(name:byte() - 64)) end
  local value = words[name]
  if value == nil then refuse(s, ("'%s' means nothing"):format(name)) end
  return tree.constant(value, type(value) == "boolean" and "bool" or s.real)
end

local function number(s, digits)
  if not digits:find "[.eE]" then return tree.constant(math.tointeger(tonumber(digits)), take(s, "LL") and "int64" or "int32") end
  return tree.constant(tonumber(digits) + 0.0, s.real)
end

local function negated(t)
  if t.op == "constant" and t.type ~= "bool" then return tree.constant(-t.value, t.type) end
  return tree.node("negate", { t })
end

local function atom(s)
  local sign = take(s, "[-!~]")
  if sign == "-" then return negated(atom(s)) end
  if sign then return tree.node(operations.of_sign(sign, 1), { atom(s) }) end
  local digits = take(s, "%d+%.?%d*[eE][-+]?%d+") or take(s, "%d+%.?%d*")
  if digits then return number(s, digits) end
  local name = take(s, "[%a_][%w_]*")
  if name then return take(s, "%(") and call(s, name) or word(s, name) end
  need(s, "(")
  local t = choice(s)
  need(s, ")")
  return t
end

local function sign_at(s)
  return s.text:match("^%s*([<>=!&|][<>=&|])", s.at) or s.text:match("^%s*([-+*/%%<>&^|])", s.at)
end

-- Operations of at least a level.
local function chain(s, level)
  local t = atom(s)
  while true do
    local sign = sign_at(s)
    local op = sign and operations.of_sign(sign, 2)
    local own = op and operations.row(op).level
    if not own or own < level then return t end
    s.at = s.text:find(sign, s.at, true) + #sign
    t = tree.node(op, { t, chain(s, own + 1) })
  end
end

function choice(s)
  local t = chain(s, 1)
  if not take(s, "%?") then return t end
  local yes = choice(s)
  need(s, ":")
  return tree.node("select", { t, yes, choice(s) })
end

local function whole(line, cast, casts)
  local s = { text = line, at = 1, real = cast == "float64" and cast or "float32" }
  function s.types(k) return casts and casts[k] or cast end
  local t = choice(s)
  if take(s, ".") then refuse(s, "there is more than a tree") end
  return t
end

-- Lines that were read, by their types.
local read = setmetatable({}, { __index = function(all, key)
  all[key] = {}
  return all[key]
end })

local function key_of(cast, casts)
  local words = { cast }
  for k = 1, 26 do words[k + 1] = casts[k] or "" end
  return table.concat(words, ";")
end

--- The tree of a line. Operands have the type `cast`, or the one that `casts` has for them; so have numbers with a point if it is float64.
function M.read(line, cast, casts)
  local known = read[casts and key_of(cast, casts) or cast]
  known[line] = known[line] or whole(line, cast, casts)
  return known[line]
end

return M

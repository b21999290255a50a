-- match: trees beside patterns. A pattern is a line of ir/tree/text.lua. Types do not count.

local text = require "cawb.compose.ir.tree.text"

local M = {}

local attributes = { "op", "k", "exact", "approximate", "nan" }

-- Whether two nodes do the same, whatever their operands and types.
local function alike(t, p)
  for _, name in ipairs(attributes) do
    if t[name] ~= p[name] then return false end
  end
  local same = t.value == p.value or t.value ~= t.value and p.value ~= p.value
  return same and #t == #p and (t.op ~= "convert" or t.type == p.type)
end

local function is(t, p)
  if not alike(t, p) then return false end
  for k, x in ipairs(t) do
    if not is(x, p[k]) then return false end
  end
  return true
end

--- Whether a tree is this line.
function M.is(t, line) return is(t, text.read(line, "float32")) end

--- The first of these lines that a tree is, or nil.
function M.one_of(t, lines)
  for _, line in ipairs(lines) do
    if M.is(t, line) then return line end
  end
end

local function match(t, p, found)
  if p.op == "argument" then
    local letter = string.char(64 + p.k)
    found[letter] = found[letter] or t
    return found[letter] == t
  end
  if not alike(t, p) then return false end
  for k, x in ipairs(t) do
    if not match(x, p[k], found) then return false end
  end
  return true
end

--- The trees that stand at the letters of a pattern, by letter; nil if the tree is not of its form.
function M.match(t, line)
  local found = {}
  return match(t, text.read(line, "float32"), found) and found or nil
end

--- The numbers of the operands that stand at a pattern's letters; nil if the tree is not of its form, or a letter is more than an operand.
function M.operands(t, line)
  local found, numbers = M.match(t, line), {}
  for letter, x in pairs(found or {}) do
    if x.op ~= "argument" then return nil end
    numbers[letter] = x.k
  end
  return found and numbers
end

return M

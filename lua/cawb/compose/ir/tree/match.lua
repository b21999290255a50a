-- match: trees beside patterns. A pattern is a line of ir/tree/text.lua. Types do not count.

local lists = require "cawb.base.lists"
local text = require "cawb.compose.ir.tree.text"

local M = {}

local attributes = { "op", "k", "exact", "approximate", "nan" }

-- Whether two nodes do the same, whatever their operands and types.
local function alike(t, p)
  if lists.any(attributes, function(name) return t[name] ~= p[name] end) then return false end
  local same = t.value == p.value or t.value ~= t.value and p.value ~= p.value
  return same and #t == #p and (t.op ~= "convert" or t.type == p.type)
end

-- Whether a tree is of a pattern's form; without `found`, which gets the trees at its letters, a letter is that operand.
local function match(t, p, found)
  if found and p.op == "argument" then
    local letter = string.char(64 + p.k)
    found[letter] = found[letter] or t
    return found[letter] == t
  end
  return alike(t, p) and lists.all(t, function(x, k) return match(x, p[k], found) end)
end

function M.is(t, line) return match(t, text.read(line, "float32")) end

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

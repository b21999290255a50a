-- match: trees beside patterns. A pattern is a line of ir/tree/text.lua. Types do not count.

local text = require "cawb.compose.ir.tree.text"

local M = {}

-- Whether two nodes do the same, whatever their operands and types.
local function alike(t, p)
  return t.op == p.op and t.k == p.k and (t.value == p.value or t.value ~= t.value and p.value ~= p.value) and t.exact == p.exact and t.approximate == p.approximate and #t == #p
    and (t.op ~= "convert" or t.type == p.type)
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

return M

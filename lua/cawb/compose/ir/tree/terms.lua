-- terms: a tree without an operand that is added to all the rest.

local lists = require "cawb.base.lists"
local tree = require "cawb.compose.ir.tree"

local M = {}

local function is(t, k) return t.op == "argument" and t.k == k end

local function count(t, k)
  return (is(t, k) and 1 or 0) + lists.sum(t, function(x) return count(x, k) end)
end

local rest

-- A sum with the rest of its n-th term in place of the term.
local function within(t, n, k)
  local left = rest(t[n], k)
  if not left then return nil end
  local both = { t[1], t[2] }
  both[n] = left
  return tree.node(t.op, both)
end

-- An exact sum is rounded for a reason, and stays.
function rest(t, k)
  if t.op ~= "add" and t.op ~= "subtract" or t.exact then return nil end
  if is(t[2], k) then return t[1] end
  if is(t[1], k) and t.op == "add" then return t[2] end
  return within(t, 1, k) or within(t, 2, k)
end

--- The tree without operand k, if the operand is added to all the rest or taken from it, and stands nowhere else; else nil. Later
--- operands move up.
function M.without(t, k)
  local left = count(t, k) == 1 and rest(t, k)
  return left and tree.changed(left, function(x) return x.op == "argument" and x.k > k and tree.argument(x.k - 1, x.type) or nil end) or nil
end

return M

-- values: what an element of a node is, as one tree. Maps and plain views below the node become a part of it; all other nodes are its
-- arguments, each with the indices of its element. Two elements that are computed alike have one tree.
--   local v = values.new()
--   v:of(node, indices)       the tree
--   v:source(t)               { node, at = indices } of an argument

local lists = require "cawb.base.lists"
local tree = require "cawb.compose.ir.tree"
local types = require "cawb.torch.types"
local views = require "cawb.compose.ir.view"

local M = {}

---@class cawb.Values
local Values = {}
Values.__index = Values

function M.new() return setmetatable({ sources = {}, numbers = {}, known = {} }, Values) end

function M.key(node, i)
  local words = { tostring(node.id) }
  for d, e in ipairs(i) do words[d + 1] = e.key end
  return table.concat(words, ";")
end

local function argument(self, node, i, key)
  local k = self.numbers[key]
  if not k then
    k = #self.sources + 1
    self.numbers[key], self.sources[k] = k, { node = node, at = i }
  end
  return tree.argument(k, node.dtype)
end

local words = { inf = math.huge, ["-inf"] = -math.huge }

-- The number that a leaf has everywhere, or nil.
local function number(node)
  if node.source ~= "fill" or type(node.value) == "boolean" or not types.is_float(node.dtype) then return nil end
  local value = words[node.value] or tonumber(node.value)
  return value and tree.constant(value + 0.0, types.register(node.dtype) == "double" and "float64" or "float32")
end

-- A value in another type; 16 bits are float32 in a register.
local function converted(t, to)
  return types.register(t.type) == types.register(to) and t or tree.node("convert", { t }, { type = to })
end

local function is_one(t) return t.op == "constant" and t.value == 1.0 end

-- What is multiplied with one is itself.
local function simple(t)
  if t.op ~= "multiply" then return t end
  return is_one(t[2]) and t[1] or is_one(t[1]) and t[2] or t
end

local function map(self, node, i)
  local operands = lists.map(node.inputs, function(x, k) return converted(self:of(x, i), node.casts and node.casts[k] or node.cast) end)
  return converted(tree.changed(node.expression, function(x) return x.op == "argument" and operands[x.k] or simple(x) end), node.dtype)
end

local function made(self, node, i, key)
  if node.kind == "map" then return map(self, node, i) end
  local piece = views.plain(node)
  if piece then return self:of(node.inputs[piece.input], views.at(piece, i)) end
  return node.kind == "leaf" and number(node) or argument(self, node, i, key)
end

function Values:of(node, i)
  local key = M.key(node, i)
  self.known[key] = self.known[key] or made(self, node, i, key)
  return self.known[key]
end

--- The node that an argument is, and its indices; nil of any other tree.
function Values:source(t) return t.op == "argument" and self.sources[t.k] or nil end

return M

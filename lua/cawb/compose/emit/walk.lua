-- walk: which nodes a kernel computes and loads at which indices, without text: what predicates about a kernel ask. A walk visits
-- what a body would (expression.lua), with the same variables in sight.

local bodies = require "cawb.compose.emit.body"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local types = require "cawb.torch.types"

local M = {}

---@class cawb.Walk: cawb.Body
local Walk = setmetatable({}, { __index = bodies.class })
Walk.__index = Walk

function M.new(kernel, vector) return setmetatable(expression.new(kernel, vector), Walk) end

function Walk:line() end
function Walk:store() end
function Walk:store_all() end
function Walk:open() self.scopes[#self.scopes + 1] = {} end
function Walk:close() self.scopes[#self.scopes] = nil end

-- Leaves and maps without their text; views, picks and reduces as a body has them.
local kinds = setmetatable({}, { __index = expression.kinds })
Walk.kinds = kinds

function kinds.leaf(self, node, i) return expression.is_number(node) and "" or self:load(node, i) end

function kinds.map(self, node, i)
  for _, x in ipairs(node.inputs) do self:value(x, i) end
  return ""
end

--- From here on `self.listed` has what is loaded whatever is computed, at places that follow from this variable alone: { node, place, width }.
function Walk:list(name) self.listed, self.by_alone = {}, { [name] = true } end

local function list(self, node, place, width)
  if not self.listed or self.guarded > 0 or #self.scopes > 1 or node.address or not index.only(place, self.by_alone) then return end
  self.listed[#self.listed + 1] = { node = node, place = place, width = width }
end

--- From here on `self.again` lists what several loops over a row load or compute at the same place, { key, bytes, computed } for a
--- step: it may stay on the chip. `how.name`: the variable of these loops.
function Walk:keep(how)
  self.again, self.seen, self.phase, self.by = {}, {}, 0, { name = how.name, set = { [how.name] = true, row = true } }
end

function Walk:next_phase() self.phase = self.phase + 1 end

local function note(self, key, place, bytes, computed)
  local by = self.by
  if not by or self.guarded > 0 or not index.uses(place, by.name) or not index.only(place, by.set) then return end
  local e = self.seen[key]
  if not e then
    self.seen[key] = { key = key, bytes = bytes, computed = computed, first = self.phase }
  elseif e.first ~= self.phase and not e.listed then
    e.listed, self.again[#self.again + 1] = true, e
  end
end

function Walk:on_chip_value(node, i, key) note(self, key, index.ravel(i, node.shape), bodies.bytes(node.dtype), true) end

function Walk:access(node, place, width)
  local key = bodies.access_key(node, place, width)
  if not self:recall(key) then
    note(self, key, place, width * types.size(node.dtype))
    list(self, node, place, width)
  end
  return self:remember(key, "")
end

return M

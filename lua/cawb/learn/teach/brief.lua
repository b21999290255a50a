-- brief: what one elementwise kernel computes, in a few lines that a small model reads: its tensors, its values, and the addresses that
-- a thread reads for one element, two or four. What to write of it, and how wide, is left to the reader.
--   x1 = inputs[1] float32 [64, 1024]        acc1 = max of x1 over 3        y2 = outputs[1] float32 [64, 512] = acc1
--   1: 128 blocks, x1[2 * t + r1] if - 2 * (t % 512) - r1 + 1023 >= 0

local expression = require "cawb.compose.emit.expression"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local plan = require "cawb.compose.plan.plan"
local trees = require "cawb.compose.ir.tree.text"
local views = require "cawb.compose.ir.view"
local walks = require "cawb.compose.emit.walk"

local M = {}

local BLOCK = 256

-- ---- addresses

-- Conditions of the views around an access, as text.
local function guard_text(guards)
  local words = {}
  for _, e in ipairs(guards) do words[#words + 1] = index.text(e) .. " >= 0" end
  return table.concat(words, " && ")
end

-- A walk that notes each access as it is first met: { text, guard }.
local function noting(kernel, vector)
  local w = walks.new(kernel, vector)
  w.noted, w.under = {}, {}
  w.kinds = setmetatable({}, { __index = w.kinds })
  function w.kinds.view(self, node, i)
    local list, whole = expression.possible(node, i)
    local alone = #list == 1 and whole
    if not alone then self.guarded = self.guarded + 1 end
    for _, one in ipairs(list) do
      if not alone then
        self:open()
        table.insert(self.under, guard_text(one.guards))
      end
      self:value(node.inputs[one.piece.input], views.at(one.piece, i))
      if not alone then
        self:close()
        table.remove(self.under)
      end
    end
    if not alone then self.guarded = self.guarded - 1 end
    return ""
  end
  function w.kinds.reduce(self, node, i)
    local at = {}
    for d, n in ipairs(expression.axes(node)) do
      local name = self:name "r"
      at[d] = n == 1 and index.const(0) or index.var(name, n)
    end
    self:open()
    self:value(node.inputs[1], expression.merged(node, i, at))
    self:close()
    return ""
  end
  function w:access(node, place, width)
    local key = ("@%d;%s;%s"):format(width, node.id, place.key)
    if self:recall(key) then return "" end
    local name, at = self:tensor(node), index.text(place)
    local text = width > 1 and ("%s + %s"):format(name, at) or ("%s[%s]"):format(name, at)
    local guard = table.concat(self.under, " && ")
    self.noted[#self.noted + 1] = guard ~= "" and ("%s if %s"):format(text, guard) or text
    self.single = self.single or width == 1
    return self:remember(key, "")
  end
  return w
end

-- The line of threads that take `v` elements each, and the names of tensors; nil where they would not read neighbours at once.
local function line(kernel, v)
  local root = kernel.roots[1]
  local n = graphs.numel(root.shape)
  if n % v ~= 0 then return nil end
  local w, t = noting(kernel, v), index.scale(index.var("t", n // v), v)
  for lane = 1, v do w:value(root, index.unravel(index.plus(t, lane - 1), root.shape)) end
  if v > 1 and (w.single or w.ends) then return nil end
  local threads = n // v
  local words = { ("%d: %d blocks"):format(v, (threads + BLOCK - 1) // BLOCK) }
  if threads % BLOCK ~= 0 then words[2] = ("t < %d"):format(threads) end
  table.move(w.noted, 1, #w.noted, #words + 1, words)
  return table.concat(words, ", "), w
end

-- ---- values

local function constant(x)
  while views.plain(x) do x = x.inputs[1] end
  return x.source == "fill" and trees.number(x.value, x.dtype) or nil
end

local function sizes(x)
  local list = {}
  for _, n in ipairs(expression.axes(x)) do if n > 1 then list[#list + 1] = tostring(n) end end
  return #list > 0 and table.concat(list, " x ") or "1"
end

local function filled(x)
  for _, piece in ipairs(x.pieces) do if #piece.guards > 0 then return (", else %s"):format(x.fill or 0) end end
  return ""
end

-- What a node is, of the names of its inputs; nil for a kind that has no words here.
local values = {}

function values.map(x, names)
  local text = trees.write(x.expression):gsub("%f[%w_]%u%f[^%w_(]", function(letter) return names[letter:byte() - 64] end)
  return x.dtype ~= x.cast and ("%s(%s)"):format(x.dtype, text) or text
end

function values.reduce(x, names) return ("%s of %s over %s"):format(x.op, names[1], sizes(x)) end

function values.view(x, names)
  if #x.inputs > 1 then return nil end
  return names[1] .. filled(x)
end

-- Lines of the nodes behind a root, in order, under the names that a kernel of one element gives them (emit/expression.lua): a reduce and
-- a view with guards are named ahead of what they are made of. nil where a node has no words. `named`: names of tensors by node.
local function describe(root, named)
  local lines, counts, fine = {}, { acc = 0, v = 0 }, true
  local function new(stem)
    counts[stem] = counts[stem] + 1
    return stem .. counts[stem]
  end
  local function name_of(x)
    local known = constant(x) or named[x]
    if known then return known end
    if not values[x.kind] then fine = false return "" end
    local own = x.kind == "reduce" and new "acc" or x.kind == "view" and filled(x) ~= "" and new "v"
    local names = {}
    for k, input in ipairs(x.inputs) do names[k] = name_of(input) end
    local text = values[x.kind](x, names)
    if x.kind == "map" then own = new "v" end
    if own and text then lines[#lines + 1] = ("%s = %s"):format(own, text) end
    fine, named[x] = fine and text ~= nil, own or names[1]
    return named[x]
  end
  local last = name_of(root)
  return fine and lines or nil, last
end

local function shape(x) return ("%s [%s]"):format(x.dtype, table.concat(x.shape, ", ")) end

--- The lines of a lowering (candidate.make) that is one elementwise kernel with one result, and the numbers of elements that a thread may
--- take, as a set; nil of any other.
function M.lines(made)
  local kernel = made.kernels[1]
  if #made.kernels ~= 1 or kernel.by ~= "stream" or #kernel.roots ~= 1 then return nil end
  local root = kernel.roots[1]
  local first, walk = line(kernel, 1)
  local list, named = {}, {}
  for _, entry in ipairs(walk.order) do
    list[#list + 1] = ("%s = %s %s"):format(entry.name, plan.leaf_name(entry.node), shape(entry.node))
    named[entry.node] = entry.name
  end
  local body, last = describe(root, named)
  if not body then return nil end
  table.move(body, 1, #body, #list + 1, list)
  list[#list + 1] = ("y%d = outputs[1] %s = %s"):format(#walk.order + 1, shape(root), last)
  local widths = {}
  for _, v in ipairs { 1, 2, 4 } do
    local text = v == 1 and first or line(kernel, v)
    if text then widths[v], list[#list + 1] = true, text end
  end
  return list, widths
end

return M

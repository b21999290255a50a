-- import: recorded operators become a graph of nodes. Operators that only view memory in another way are not needed: the record
-- says where each tensor lies. So a read is a view of the node that was written there, and a write into a slice joins the new and
-- the old.

local constant = require "cawb.compose.operators.constant"
local graphs = require "cawb.compose.ir.graph"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local operators = require "cawb.compose.operators.operators"

local M = {}

local function extent(t)
  return 1 + lists.sum(t.shape, function(size, d) return (size - 1) * t.strides[d] end)
end

-- Dimensions by stride, the largest first, without those that add nothing to an address.
local function by_stride(t)
  local list = lists.filter(lists.times(#t.shape, function(d) return d end), function(d) return t.shape[d] > 1 and t.strides[d] > 0 end)
  table.sort(list, function(a, b)
    if t.strides[a] ~= t.strides[b] then return t.strides[a] > t.strides[b] end
    return a < b
  end)
  return list
end

-- The indices in tensor t of an address, counted from t's first element; and the remainder.
local function decode(t, address)
  local i = lists.map(t.shape, function() return index.const(0) end)
  for _, d in ipairs(by_stride(t)) do i[d], address = address // t.strides[d], address % t.strides[d] end
  return i, address
end

local function same_layout(a, b)
  return a.offset == b.offset and graphs.same(a.shape, b.shape)
    and lists.all(a.shape, function(n, d) return n <= 1 or a.strides[d] == b.strides[d] end)
end

-- If t is h with its dimensions in another order, apart from dimensions of size one, returns the dimension of t for each dimension
-- of h. Else nil. So an index beyond a dimension's end, which a guard keeps out, stays an index of
-- that dimension.
local function reordered(h, t)
  local function is_long(n) return n > 1 end
  if h.offset ~= t.offset or #lists.filter(h.shape, is_long) ~= #lists.filter(t.shape, is_long) then return nil end
  local at = {}
  for d, n in ipairs(h.shape) do
    for e, m in ipairs(n > 1 and t.shape or {}) do
      if m == n and t.strides[e] == h.strides[d] then at[d] = e end
    end
    if n > 1 and not at[d] then return nil end
  end
  return at
end

-- A recorded tensor: its place in memory with its shape and type, and the node that was written there.
local function tensor(about, place, node)
  return { shape = about.shape, dtype = about.dtype, memory = place.memory, strides = place.strides, offset = place.offset, node = node }
end

-- The contents of a memory: tensors with their nodes, the latest last.
local function covering(held, t)
  for k = #held, 1, -1 do
    local h = held[k]
    if t.offset >= h.offset and t.offset + extent(t) <= h.offset + extent(h) then return h, k end
  end
end

--- The node of a tensor that is read.
local function read(self, t)
  local h = covering(self.memory[t.memory] or {}, t)
  if not h then return nil, "it reads memory that nothing was written to" end
  if h.dtype ~= t.dtype then return nil, ("it takes the bytes of %s for %s"):format(h.dtype, t.dtype) end
  if same_layout(h, t) then return h.node end
  local order = reordered(h, t)
  if order then
    return self.graph:view(h.node, t.shape, function(i)
      return lists.times(#h.shape, function(d) return order[d] and i[order[d]] or index.const(0) end)
    end)
  end
  return self.graph:view(h.node, t.shape, function(i)
    return (decode(h, index.place(i, t.strides, t.offset - h.offset)))
  end)
end

-- The old tensor h, where the new one t does not cover it.
local function partly(self, h, t)
  local function address(i) return index.place(i, h.strides, h.offset - t.offset) end
  local node = self.graph:join(h.shape, { { t.node, function(i) return (decode(t, address(i))) end, function(i)
    local j, rest = decode(t, address(i))
    return { address(i), -rest, table.unpack(lists.map(t.shape, function(n, d) return index.back(j[d], n) end)) }
  end }, { h.node, function(i) return i end } })
  return tensor(h, h, node)
end

local function write(self, t)
  local held = self.memory[t.memory] or {}
  self.memory[t.memory] = held
  local h, k = covering(held, t)
  local is_whole = not h or same_layout(h, t) or t.offset == h.offset and extent(t) == extent(h) and graphs.numel(t.shape) == graphs.numel(h.shape)
  held[k or #held + 1] = is_whole and t or partly(self, h, t)
end

local function leaf(self, base)
  local g = self.graph
  if base.source == "nothing" then return g:fill(0, base.shape, base.dtype) end   -- it may hold anything
  if base.source ~= "const" then
    return g:node { kind = "leaf", source = base.source, shape = base.shape, dtype = base.dtype,
                    strides = self.strides[base.source] or base.strides }
  end
  if base.values and #base.values > 0 then return constant.of(g, base) end
  return g:node { kind = "leaf", source = "const", values = base.values, shape = base.shape, dtype = base.dtype }
end

local function place_bases(self, memory)
  for _, base in ipairs(memory.bases) do
    self.memory[base.memory] = lists.append(self.memory[base.memory] or {}, { tensor(base, base, leaf(self, base)) })
  end
end

local function operands(self, entry, places)
  local x, by = {}, {}
  for k, about in ipairs(entry.inputs) do
    local node, why = read(self, tensor(about, places.inputs[k]))
    if not node then return nil, why end
    x[k], by[about.arg or k] = node, by[about.arg] or node
  end
  return x, by
end

local function shapes(list)
  return table.concat(lists.map(list, function(t) return ("%s[%s]"):format(t.dtype, table.concat(t.shape, ", ")) end), ", ")
end

-- The message for an operator that cannot be lowered, with its shapes and its line.
local function trouble(entry, places, why)
  return ("%s(%s)%s cannot be lowered: %s"):format(entry.op, shapes(entry.inputs),
    places.line and (", line %d of %s,"):format(places.line, places.file or "the task") or "", why)
end

-- Writes an operator's results. Those that were not made, for the reason `message`, may be anything where nobody needs them.
local function store(self, entry, places, made, message)
  for k, about in ipairs(entry.outputs) do
    local node = made[k] or self.graph:node { kind = "unknown", shape = about.shape, dtype = about.dtype,
      why = message or trouble(entry, places, ("its result %d is not computed here"):format(k)) }
    write(self, tensor(about, places.outputs[k], node))
  end
end

local function unknown(self, entry, places, why)
  local message = trouble(entry, places, why)
  self.unknown = self.unknown or message
  store(self, entry, places, {}, message)
end

-- Operators that give a number to the program: the record does not have its later use.
local asks = { _local_scalar_dense = true, item = true, is_nonzero = true, equal = true }

-- Whether a node follows from constants alone: then so does what the program does with it, and the record is right for every call.
local function is_known(x)
  return graphs.all(x, function(y) return y.kind ~= "unknown" and not (y.kind == "leaf" and y.source:find ":") end)
end

-- A number that the program took from a parameter or buffer: it serves where an operator's constructor fills a tensor with it. All
-- else that asks for the number raises.
local function refuse() error "a number is wanted" end
local Number = { __tostring = refuse, __index = refuse }

-- An argument: { item = tensor } stands for the number in it. `op.taken`: there is one.
local function argument(self, op, value)
  if type(value) ~= "table" or not value.item then return value end
  op.taken = true
  return setmetatable({ node = read(self, tensor(value.item, value.item)) }, Number)
end

-- The nodes of an operator; nil and why not.
local function build(self, op)
  if not op.taken then return operators.build(self.graph, op) end
  local ok, made, why = pcall(operators.build, self.graph, op)
  if ok then return made, why end
  return nil, "compose needs its number at once, and that is another one for other weights"
end

local function take(self, entry, places)
  self.graph.from = { number = entry.number, op = entry.op, name = entry.name, line = places.line, file = places.file }
  local x, by = operands(self, entry, places)
  if not x then return unknown(self, entry, places, by) end
  if asks[entry.name] then
    if lists.all(x, is_known) then return end
    self.asked = trouble(entry, places, "the program goes on as this number says, so what it does follows from data; "
      .. "where it only computes with it, leave it in its tensor")
    return
  end
  local op = { name = entry.name, args = {}, x = x, by = by, out = entry.outputs, given = places.given or {} }
  for name, value in pairs(entry.args or {}) do op.args[name] = argument(self, op, value) end
  local made, why
  if places.values then made = { constant.of(self.graph, { values = places.values, shape = op.out[1].shape, dtype = op.out[1].dtype }) }
  else made, why = build(self, op) end
  if not made then return unknown(self, entry, places, why) end
  store(self, entry, places, made)
end

local function strides_of(task)
  local found = {}
  for i, x in ipairs(task.inputs or {}) do
    if x.strides then found["input:" .. i] = x.strides end
  end
  for _, p in ipairs(task.params or {}) do found["param:" .. p.name] = p.strides end
  return found
end

--- The graph of a task: `task` has graph, memory, inputs, params, as cawb.task makes them.
--- Returns it, or nil and what cannot be lowered.
function M.graph(task, options)
  local self = { graph = graphs.new(), memory = {}, strides = strides_of(task) }
  local g = self.graph
  g.options = options
  place_bases(self, task.memory)
  for _, entry in ipairs(task.graph) do
    local places = task.memory.operators[entry.number]
    if not places then return nil, "the op graph is longer than what is recorded of its memory" end
    take(self, entry, places)
  end
  g.from = nil
  if self.asked then return nil, self.asked end
  for k, result in ipairs(task.memory.results) do
    local node, why = read(self, tensor(result, result))
    if not node then return nil, self.unknown or ("output %d: %s"):format(k, why) end
    g.outputs[k] = node
  end
  g:clean()
  for _, x in ipairs(g.nodes) do
    if x.kind == "unknown" then return nil, x.why end
    if x.kind == "leaf" and x.source == "const" and not x.values then
      return nil, "a constant tensor that is neither input, parameter nor buffer has no place in a plan (use register_buffer)"
    end
  end
  return g
end

return M

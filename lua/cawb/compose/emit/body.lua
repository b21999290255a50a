-- body: the inside of one kernel: statements in nested blocks, variables in sight that hold computed values, and the tensors that are
-- read and written. Neighbours of a stored node are loaded by 16 bytes.

local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local types = require "cawb.torch.types"
local values = require "cawb.compose.ir.values"

local M = {}

---@class cawb.Body
local Body = {}
Body.__index = Body
M.class = Body

--- A body for a kernel; `vector`: how many neighbours one access may take. `early` has lines that go ahead of all loops.
function M.new(kernel, vector)
  local inside = lists.set(lists.joined(kernel.roots or {}, kernel.members or {}))
  for x in pairs(kernel.within or {}) do inside[x] = true end
  return setmetatable({ kernel = kernel, inside = inside, held = kernel.held or {}, vector = vector or 1, lines = {}, depth = 1, guarded = 0,
                        scopes = { {} }, names = {}, order = {}, counts = {}, headers = {}, places = {},
                        selected = {}, early = {} }, Body)
end

--- A new name that begins with `stem`.
function Body:name(stem)
  self.counts[stem] = (self.counts[stem] or 0) + 1
  return stem .. self.counts[stem]
end

function Body:line(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. text
end

--- Begins a block; its variables are forgotten behind it.
function Body:open(text, ...)
  self:line(text, ...)
  self.depth = self.depth + 1
  self.scopes[#self.scopes + 1] = {}
end

--- End it; with a text, such as "} else {", the next one begins.
function Body:close(text)
  self.depth, self.scopes[#self.scopes] = self.depth - 1, nil
  if text and text:find "{$" then self:open(text) else self:line(text or "}") end
end

M.key = values.key

--- The name of the variable in sight under a key.
function Body:recall(key)
  for k = #self.scopes, 1, -1 do
    if self.scopes[k][key] then return self.scopes[k][key] end
  end
end

--- Until the block ends, this is in a variable. Returns its name.
function Body:remember(key, name)
  self.scopes[#self.scopes][key] = name
  return name
end

--- A variable holds the node's value at these indices.
function Body:know(node, i, name) self:remember(M.key(node, i), name) end

--- The name of a tensor that is read or written, as a parameter of the kernel. Slices of a tensor that are read are one parameter: a slice's
--- places are the tensor's own.
function Body:tensor(node, written)
  local whole = not written and node.slice_of or node
  local entry = self.names[node] or self.names[whole]
  if not entry then
    entry = { node = node, name = written and "y" .. (#self.order + 1) or "x" .. (#self.order + 1) }
    self.names[whole] = entry
    self.order[#self.order + 1] = entry
  end
  self.names[node] = entry
  entry.written = entry.written or written
  local header = types.header(node.dtype)
  if header then self.headers[header] = true end
  return entry.name
end

--- How many elements a stored tensor has from its beginning, gaps too.
function M.extent(node)
  return node.extent or 1 + (node.offset or 0) + lists.sum(node.shape, function(size, d) return (size - 1) * node.strides[d] end)
end

-- The first place of the pack that `place` belongs to, and the number of `place` in it; nil if the element has to be read alone. A
-- tensor whose size is no whole number of packs is never read by packs. One pack tells the compiler how the whole tensor is
-- aligned, and the compiler then also reads the rest as a pack, beyond the tensor's end. An element that all threads read, as the
-- norm of all elements, has no neighbours.
local function packed(self, node, place)
  local v = self.vector
  if v == 1 or self.guarded > 0 or v * types.size(node.dtype) > 16 or place.lo == place.hi then return nil end
  local lane = place.base % v
  local first = index.plus(place, -lane)
  if not index.divisible(first, v) then return nil end
  if node.address then return node.packs and first or nil, lane end
  local n = M.extent(node)
  if n % v ~= 0 or (place.hi // v + 1) * v > n then
    self.ends = true
    return nil
  end
  return first, lane
end

-- A place on the chip for a value that a loop needs at `place` and later loops read again: see `keep`. Returns the array's element,
-- and whether it is filled already. A long loop of two parts fills it in both. `from(place)` is C of what is loaded; nil where the value
-- is computed.
local function on_chip(self, key, place, kind, bytes, from)
  local keep = self.keeping
  if not keep or self.guarded > keep.guarded or not index.uses(place, keep.name) or not index.only(place, keep.by) then
    return nil
  end
  local old = keep.known[key]
  if old then return ("%s[%s]"):format(old.name, keep.slot), from ~= nil or old.phase ~= keep.phase end
  if not keep.wanted[key] then return nil end
  local name = self:name "kept"
  keep.known[key] = { name = name, phase = keep.phase }
  keep.list[#keep.list + 1] = { name = name, kind = kind, bytes = bytes, place = place, from = from }
  return ("%s[%s]"):format(name, keep.slot), keep.ahead and from ~= nil
end

local wide = { ["double"] = 8, ["long long"] = 8, ["bool"] = 1 }

function M.bytes(dtype) return wide[types.register(dtype)] or 4 end

--- The place on the chip for a computed value, and whether it is there already; nil where it does not stay.
function Body:on_chip_value(node, i, key)
  if not self.keeping then return nil end
  local kind = types.register(node.dtype)
  return on_chip(self, key, index.ravel(i, node.shape), kind, M.bytes(node.dtype))
end

--- The key of a load: of a pack of neighbours, or one element.
function M.access_key(node, place, width) return ("@%d;%s;%s"):format(width, node.address or node.id, place.key) end

--- A pack of neighbours, or one element, in a variable.
function Body:access(node, place, width)
  local key = M.access_key(node, place, width)
  local name = self:recall(key)
  if name then return name end
  local memory = types.memory(node.dtype)
  local kind = width > 1 and ("pack<%s, %d>"):format(memory, width) or memory
  local tensor = node.address or self:tensor(node)
  local function loaded_from(at)
    return width > 1 and ("*(const %s *)(%s + %s)"):format(kind, tensor, index.c(at)) or ("%s[%s]"):format(tensor, index.c(at))
  end
  local from = loaded_from(place)
  local held, there = on_chip(self, key, place, kind, width * types.size(node.dtype), loaded_from)
  if held and not there then self:line("%s = %s;", held, from) end
  if held and not self.keeping.ahead then return self:remember(key, held) end
  if held then from = held end
  name = self:name "p"
  self:line("const %s %s = %s;", kind, name, from)
  return self:remember(key, name)
end

-- The element at a place of a node, in its register type.
local function loaded(self, node, place)
  local first, lane = packed(self, node, place)
  local text
  if first then text = ("%s.at[%d]"):format(self:access(node, first, self.vector), lane)
  else text = self:access(node, place, 1) end
  return types.loaded(node.dtype, text)
end

-- Where a node's element lies. Operands of a map mostly lie alike: their places are computed once.
local function place_of(self, node, i)
  local words = { node.offset or 0 }
  for d, stride in ipairs(node.strides) do words[d + 1] = stride .. "*" .. i[d].key end
  local key = table.concat(words, ";")
  self.places[key] = self.places[key] or index.place(i, node.strides, node.offset)
  return self.places[key]
end

--- A stored node's element, as a register has it.
function Body:load(node, i) return loaded(self, node, place_of(self, node, i)) end

--- The same at a place from an `address` on, which is C, `packs` whether neighbours may be loaded together.
function Body:load_from(address, packs, dtype, place) return loaded(self, { address = address, packs = packs, dtype = dtype }, place) end

--- Write a node's element; its place is the node's.
function Body:store(node, i, text)
  local place = place_of(self, node, i)
  self:line("%s[%s] = %s;", self:tensor(node, true), index.c(place), types.stored(node.dtype, text))
end

--- One store of a pack of this type at an address.
function Body:put(kind, address, words)
  self:line("*(%s *)(%s) = %s{ { %s } };", kind, address, kind, table.concat(words, ", "))
end

--- Write neighbours: `texts` of the elements at `list` of indices. They go together where they lie together; past the caches where
--- `streams` is set, which is for more than caches hold.
function Body:store_all(node, list, texts)
  local v = #texts
  local first = place_of(self, node, list[1])
  local together = v > 1 and v * types.size(node.dtype) <= 16 and index.divisible(first, v)
  for k = 2, v do
    local place = place_of(self, node, list[k])
    together = together and place.key == index.plus(first, k - 1).key
  end
  if not together then
    for k, text in ipairs(texts) do self:store(node, list[k], text) end
    return
  end
  local words = lists.map(texts, function(text) return types.stored(node.dtype, text) end)
  if self.streams and v == 2 and node.dtype == "float32" then
    self:line("__stcs((float2 *)(%s + %s), make_float2(%s));", self:tensor(node, true), index.c(first), table.concat(words, ", "))
    return
  end
  if self.streams and v * types.size(node.dtype) == 16 then
    local kind, name = ("pack<%s, %d>"):format(types.memory(node.dtype), v), self:name "all"
    self:line("const %s %s = { { %s } };", kind, name, table.concat(words, ", "))
    return self:line("__stcs((uint4 *)(%s + %s), *(const uint4 *)&%s);", self:tensor(node, true), index.c(first), name)
  end
  self:put(("pack<%s, %d>"):format(types.memory(node.dtype), v), ("%s + %s"):format(self:tensor(node, true), index.c(first)),
    words)
end

--- From here on, values that loops load by the variable `how.name` and the row alone stay on the chip. They lie in arrays, at the
--- index `how.slot` of the loop, and later loops find them there. `how.wanted` is the set of keys to keep (Walk.again). With `how.ahead`
--- the arrays of loaded values are filled before the first loop, not by it. Returns the list of arrays, { name, kind, bytes, place, from }, which grows.
function Body:keep(how)
  self.keeping = setmetatable({ phase = 0, known = {}, list = {}, by = { [how.name] = true, row = true }, guarded = self.guarded },
    { __index = how })
  return self.keeping.list
end

--- The next loop over the same begins.
function Body:next_phase() self.keeping.phase = self.keeping.phase + 1 end

--- The parameters of the kernel, as a list of C declarations, and the nodes to pass, in order.
function Body:declarations()
  local words = lists.map(self.order, function(entry)
    return ("%s%s *__restrict__ %s"):format(entry.written and "" or "const ", types.memory(entry.node.dtype), entry.name)
  end)
  return words, lists.map(self.order, function(entry) return entry.node end)
end

--- The body as a kernel, with the nodes to pass. `bounds`: of its launch, as C; `front`: text ahead of it.
function Body:as_kernel(bounds, front)
  local words, nodes = self:declarations()
  return ("%sextern \"C\" __global__ void __launch_bounds__(%s)\n%s(%s) {\n%s\n}\n"):format(front or "", bounds, self.kernel.name, table.concat(words, ", "), self:text()), nodes
end

function Body:text() return table.concat(self.lines, "\n") end

return M

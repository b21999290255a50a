-- expression: nodes at given indices as C text. A body is the inside of one kernel: statements
-- in nested blocks, and the tensors that they read and write. What is stored is loaded, all else is
-- computed where it is asked for; nothing is computed twice where it is still in sight.

local expressions = require "cawb.compose.expressions"
local index = require "cawb.compose.index"
local types = require "cawb.compose.types"

local M = {}

---@class cawb.Body
local Body = {}
Body.__index = Body

--- A body for a kernel; `vector`: how many neighbours one access may take.
function M.new(kernel, vector)
  local inside = {}
  for _, list in ipairs { kernel.roots or {}, kernel.members or {} } do
    for _, x in ipairs(list) do inside[x] = true end
  end
  return setmetatable({ kernel = kernel, inside = inside, vector = vector or 1, lines = {}, depth = 1, guarded = 0,
                        scopes = { {} }, names = {}, order = {}, counts = {}, headers = {} }, Body)
end

--- A new name that begins with `stem`.
function Body:name(stem)
  self.counts[stem] = (self.counts[stem] or 0) + 1
  return stem .. self.counts[stem]
end

--- One statement.
function Body:line(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. text
end

--- Begin a block: what is computed in it is forgotten behind it.
function Body:open(text, ...)
  self:line(text, ...)
  self.depth = self.depth + 1
  self.scopes[#self.scopes + 1] = {}
end

--- End it; with a text, such as "} else {", the next one begins.
function Body:close(text)
  self.depth, self.scopes[#self.scopes] = self.depth - 1, nil
  self:line(text or "}")
  if text and text:find "{$" then
    self.depth = self.depth + 1
    self.scopes[#self.scopes + 1] = {}
  end
end

local function key_of(node, i)
  local words = { tostring(node.id) }
  for d, e in ipairs(i) do words[d + 1] = e.key end
  return table.concat(words, ";")
end

local function recall(self, key)
  for k = #self.scopes, 1, -1 do
    if self.scopes[k][key] then return self.scopes[k][key] end
  end
end

local function remember(self, key, name)
  self.scopes[#self.scopes][key] = name
  return name
end

--- A variable holds the node's value at these indices.
function Body:know(node, i, name) remember(self, key_of(node, i), name) end

-- A constant of a few values, declared once.
local function constants(self, node)
  local name = "c" .. node.id
  if self.names[node] then return name end
  self.names[node] = name
  return name
end

--- The name of a tensor that is read or written, as a parameter of the kernel.
function Body:tensor(node, written)
  local entry = self.names[node]
  if not entry then
    entry = { node = node, name = written and "y" .. (#self.order + 1) or "x" .. (#self.order + 1) }
    self.names[node] = entry
    self.order[#self.order + 1] = entry
  end
  entry.written = entry.written or written
  local header = types.header(node.dtype)
  if header then self.headers[header] = true end
  return entry.name
end

local function extent(node)
  local n = 1 + (node.offset or 0)
  for d, size in ipairs(node.shape) do n = n + (size - 1) * node.strides[d] end
  return n
end

-- The first of the neighbours that an access takes together, and which one this is; nothing where
-- it has to be alone.
local function packed(self, node, place)
  local v = self.vector
  if v == 1 or self.guarded > 0 or v * types.size(node.dtype) > 16 then return nil end
  local lane = place.base % v
  local first = index.plus(place, -lane)
  if not index.divisible(first, v) or (place.hi // v + 1) * v > extent(node) then return nil end
  return first, lane
end

-- Registers that hold what a loop loaded, for the loops behind it: see `keep`.
local function kept(self, node, key, place, width)
  local keep = self.keeping
  if not keep or self.guarded > keep.guarded or not index.uses(place, keep.name) or not index.only(place, keep.by) then
    return nil
  end
  local old = keep.known[key]
  if old then return ("%s[%s]"):format(old, keep.slot), true end
  local words = keep.size * width * math.max(1, types.size(node.dtype) // 4)
  if keep.room < words then return nil end
  keep.room = keep.room - words
  local name = self:name "kept"
  keep.known[key] = name
  local kind = width > 1 and ("pack<%s, %d>"):format(types.memory(node.dtype), width) or types.memory(node.dtype)
  keep.declared[#keep.declared + 1] = ("%s %s[%d];"):format(kind, name, keep.size)
  return ("%s[%s]"):format(name, keep.slot), false
end

-- A pack of neighbours, or one element, in a variable.
local function access(self, node, place, width)
  local key = ("@%d;%d;%s"):format(width, node.id, place.key)
  local name = recall(self, key)
  if name then return name end
  local memory = types.memory(node.dtype)
  local kind = width > 1 and ("pack<%s, %d>"):format(memory, width) or memory
  local from = width > 1 and ("*(const %s *)(%s + %s)"):format(kind, self:tensor(node), index.c(place))
    or ("%s[%s]"):format(self:tensor(node), index.c(place))
  local held, there = kept(self, node, key, place, width)
  if held then
    if not there then self:line("%s = %s;", held, from) end
    return remember(self, key, held)
  end
  name = self:name "p"
  self:line("const %s %s = %s;", kind, name, from)
  return remember(self, key, name)
end

local function load(self, node, i)
  local place = index.place(i, node.strides, node.offset)
  local first, lane = packed(self, node, place)
  local text
  if first then text = ("%s.at[%d]"):format(access(self, node, first, self.vector), lane)
  else text = access(self, node, place, 1) end
  return types.loaded(node.dtype, text)
end

local function leaf(self, node, i)
  if node.source == "fill" then return types.literal(node.value, node.dtype) end
  if node.source == "iota" then return ("(long long)(%s)"):format(index.c(i[1])) end
  if node.source ~= "const" then return load(self, node, i) end
  local words = {}
  for k, value in ipairs(node.values) do words[k] = types.literal(value, node.dtype) end
  local register, name = types.register(node.dtype), constants(self, node)
  if not recall(self, name) then
    self:line("const %s %s[%d] = { %s };", register, name, #words, table.concat(words, ", "))
    remember(self, name, name)
  end
  return ("%s[%s]"):format(name, index.c(index.ravel(i, node.shape)))
end

-- Text of one type where another is meant.
local function converted(text, from, to)
  from, to = types.register(from), types.register(to)
  if from == to then return text end
  return ("(%s)%s"):format(to, text:find "^[%w_.%[%]]+$" and text or "(" .. text .. ")")
end

-- What C makes of the letters: a negative number needs brackets.
local function filled(node, operands)
  local text = node.expression
  if node.cast == "float64" then text = expressions.widen(text) end
  return (text:gsub("%f[%w_][A-F]%f[^%w_]", function(letter)
    local word = operands[letter:byte() - 64] or error("no operand " .. letter .. " in " .. node.expression)
    return word:find "^[%w_.%[%]]+$" and word or "(" .. word .. ")"
  end))
end

local rounding = { float16 = "__half2float(__float2half(%s))", bfloat16 = "__bfloat162float(__float2bfloat16(%s))" }

local function map(self, node, i)
  local operands = {}
  for k, x in ipairs(node.inputs) do
    local to = node.casts and node.casts[k] or node.cast
    operands[k] = converted(self:value(x, i), x.dtype, to)
  end
  local text = filled(node, operands)
  local inner = text:match "^ROUND(%b())$"
  if inner then
    self.headers[types.header(node.dtype)] = true
    text = rounding[node.dtype]:format(inner)
  end
  local name = self:name "v"
  local register = types.register(node.dtype)
  local cast = register ~= types.register(node.cast) and ("(%s)(%s)"):format(register, text) or text
  self:line("const %s %s = %s;", register, name, cast)
  return name
end

-- Those guards that are not always so, as C; false where one never is.
local function conditions(guards)
  local words, seen = {}, {}
  for _, e in ipairs(guards or {}) do
    if e.hi < 0 then return false end
    if e.lo < 0 and not seen[e.key] then
      words[#words + 1] = index.c(e) .. " >= 0"
      seen[e.key] = true
    end
  end
  return words
end

-- The pieces that may hold, each with its conditions; behind one without any there is nothing.
local function possible(node, i)
  local list = {}
  for _, piece in ipairs(node.pieces) do
    local words = conditions(piece.guard and piece.guard(i))
    if words then list[#list + 1] = { piece = piece, words = words } end
    if words and #words == 0 then return list, true end
  end
  return list, false
end

local function view(self, node, i)
  local list, whole = possible(node, i)
  if #list == 0 then return types.literal(node.fill or 0, node.dtype) end
  if #list == 1 and whole then
    return self:value(node.inputs[list[1].piece.input], list[1].piece.index(i))
  end
  local name, register = self:name "v", types.register(node.dtype)
  self:line(whole and "%s %s;" or "%s %s = %s;", register, name, types.literal(node.fill or 0, node.dtype))
  self.guarded = self.guarded + 1
  local opened = 0
  for k, one in ipairs(list) do
    if #one.words > 0 then
      self:open((k > 1 and "else " or "") .. "if (%s) {", table.concat(one.words, " && "))
    else
      self:open "else {"
    end
    opened = opened + 1
    self:line("%s = %s;", name, self:value(node.inputs[one.piece.input], one.piece.index(i)))
    self:close()
  end
  self.guarded = self.guarded - 1
  return name
end

local function pick(self, node, i)
  local source, at = table.unpack(node.inputs)
  local n = source.shape[node.axis]
  local name = self:name "i"
  local raw = self:value(at, i)
  self:line("const long long %s_raw = %s;", name, raw)
  self:line("const int %s = (int)(%s_raw < 0 ? %s_raw + %d : %s_raw);", name, name, name, n, name)
  local j = { table.unpack(i) }
  j[node.axis] = index.var(name, n)
  return self:value(source, j)
end

--- How elements are joined: { start, join = function(a, b) }, both C, for a reduce of this type.
function M.joining(op, dtype)
  local float = types.is_float(dtype)
  local function extreme(sign)
    local least = float and types.literal(sign == ">" and "-inf" or "inf", dtype)
    if not float then
      local bits = { int64 = 63, int32 = 31, int16 = 15, int8 = 7, uint8 = 8, bool = 1 }
      local high = dtype == "int64" and math.maxinteger or (1 << bits[dtype]) - 1
      local low = (dtype == "uint8" or dtype == "bool") and 0 or dtype == "int64" and math.mininteger or -high - 1
      least = types.literal(sign == ">" and low or high, dtype)
    end
    return { start = least, join = function(a, b)
      return ("(%s %s %s || %s != %s ? %s : %s)"):format(b, sign, a, b, b, b, a)
    end }
  end
  if op == "max" then return extreme ">" elseif op == "min" then return extreme "<" end
  if op == "any" then return { start = "false", join = function(a, b) return a .. " || " .. b end } end
  if op == "all" then return { start = "true", join = function(a, b) return a .. " && " .. b end } end
  local start = types.literal(op == "prod" and 1 or 0, dtype)
  return { start = start, join = function(a, b) return a .. (op == "prod" and " * " or " + ") .. b end }
end

--- Statements that join an element into `best` and `at`, of argmax and argmin: the first of equals,
--- and the first NaN before all.
function Body:join_place(op, best, at, value, place)
  local sign = op == "argmax" and ">" or "<"
  self:line("if (%s %s %s || (%s != %s && %s == %s)) { %s = %s; %s = %s; }", value, sign, best, value, value, best, best,
    best, value, at, place)
end

-- The reduce's input at indices where its axes are these.
local function merged(node, i, at)
  local j, k, m = {}, 0, 0
  for d = 1, #node.inputs[1].shape do
    if node.axes[d] then
      m = m + 1
      j[d] = at[m]
    else
      k = k + 1
      j[d] = i[k]
    end
  end
  return j
end
M.merged = merged

--- The sizes of the axes that a reduce joins.
function M.axes(node)
  local list = {}
  for d, n in ipairs(node.inputs[1].shape) do
    if node.axes[d] then list[#list + 1] = n end
  end
  return list
end

local LONG = 32     -- terms of a sum that are added one after the other

-- Open the loops over the reduce's axes, from the d-th on; `inner` gets their variables. A long sum
-- of real numbers is one of short ones.
local function loops(self, node, sizes, d, at, into, how, inner)
  if d > #sizes then return inner(at, into) end
  local n, var = sizes[d], self:name "r"
  at[d] = index.var(var, n)
  local nested = node.op == "sum" and types.is_float(node.dtype) and (n > LONG or (d < #sizes and n > 1))
  if n == 1 then
    at[d] = index.const(0)
    return loops(self, node, sizes, d + 1, at, into, how, inner)
  end
  local register = types.register(node.dtype)
  if nested and n > LONG then
    local q, part = self:name "q", self:name "part"
    self:open("for (int %s = 0; %s < %d; %s += %d) {", q, q, n, q, LONG)
    self:line("%s %s = %s;", register, part, how.start)
    self:open("for (int %s = %s; %s < min(%s + %d, %d); %s++) {", var, q, var, q, LONG, n, var)
    loops(self, node, sizes, d + 1, at, part, how, inner)
    self:close()
    self:line("%s = %s;", into, how.join(into, part))
    return self:close()
  end
  self:open("for (int %s = 0; %s < %d; %s++) {", var, var, n, var)
  if nested then
    local part = self:name "part"
    self:line("%s %s = %s;", register, part, how.start)
    loops(self, node, sizes, d + 1, at, part, how, inner)
    self:line("%s = %s;", into, how.join(into, part))
  else
    loops(self, node, sizes, d + 1, at, into, how, inner)
  end
  self:close()
end

-- A whole reduce in one thread.
local function reduce(self, node, i)
  local x, sizes = node.inputs[1], M.axes(node)
  local place = node.op:find "^arg"
  local type = place and x.dtype or node.dtype
  local how = place and M.joining(node.op:sub(4), type) or M.joining(node.op, type)
  local acc, at = self:name "acc", nil
  self:line("%s %s = %s;", types.register(type), acc, how.start)
  if place then
    at = self:name "at"
    self:line("long long %s = 0;", at)
  end
  loops(self, node, sizes, 1, {}, acc, how, function(vars, into)
    local value = converted(self:value(x, merged(node, i, vars)), x.dtype, type)
    if place then
      local name = self:name "v"
      self:line("const %s %s = %s;", types.register(type), name, value)
      self:join_place(node.op, acc, at, name, index.c(vars[1]))
    else
      if not value:find "^[%w_]+$" then
        local name = self:name "v"
        self:line("const %s %s = %s;", types.register(type), name, value)
        value = name
      end
      self:line("%s = %s;", into, how.join(into, value))
    end
  end)
  return at or acc
end

local kinds = { leaf = leaf, map = map, view = view, pick = pick, reduce = reduce }

--- Refuse: a kernel of this kind cannot hold these nodes. Raises a table that `M.attempt` returns.
function M.refuse(why) error({ refused = why }, 0) end

--- C text for a node at indices, one for each of its dimensions, of its register's type.
function Body:value(node, i)
  if node.kind == "leaf" and node.source == "fill" then return leaf(self, node, i) end
  local key = key_of(node, i)
  local name = recall(self, key)
  if name then return name end
  if node.stored and not self.inside[node] then return load(self, node, i) end
  if self.known_only and self.known_only[node] then M.refuse(("node %d is needed at another place"):format(node.id)) end
  local kind = kinds[node.kind] or M.refuse(("a %s is computed by a kernel of its own"):format(node.kind))
  return remember(self, key, kind(self, node, i))
end

--- Write a node's element; its place is the node's.
function Body:store(node, i, text)
  local place = index.place(i, node.strides, node.offset)
  self:line("%s[%s] = %s;", self:tensor(node, true), index.c(place), types.stored(node.dtype, text))
end

--- Write neighbours: `texts` of the elements at `list` of indices. They go together where they lie together.
function Body:store_all(node, list, texts)
  local v = #texts
  local first = index.place(list[1], node.strides, node.offset)
  local together = v > 1 and v * types.size(node.dtype) <= 16 and index.divisible(first, v)
  for k = 2, v do
    local place = index.place(list[k], node.strides, node.offset)
    together = together and place.key == index.plus(first, k - 1).key
  end
  if not together then
    for k, text in ipairs(texts) do self:store(node, list[k], text) end
    return
  end
  local words = {}
  for k, text in ipairs(texts) do words[k] = types.stored(node.dtype, text) end
  local kind = ("pack<%s, %d>"):format(types.memory(node.dtype), v)
  self:line("*(%s *)(%s + %s) = %s{ { %s } };", kind, self:tensor(node, true), index.c(first), kind, table.concat(words, ", "))
end

--- From here on, what loops load by the variable `name` stays in registers, `room` of them at most, by
--- the number of the step, `slot`, of which there are `size`; later loops find it there. Returns
--- the list that declarations are added to.
function Body:keep(name, size, room, slot)
  self.keeping = { name = name, slot = slot, size = size, room = room, known = {}, declared = {}, by = { [name] = true, row = true }, guarded = self.guarded }
  return self.keeping.declared
end

--- The parameters of the kernel: text, and the nodes to pass, in order.
function Body:parameters()
  local words, nodes = {}, {}
  for k, entry in ipairs(self.order) do
    words[k] = ("%s%s *__restrict__ %s"):format(entry.written and "" or "const ", types.memory(entry.node.dtype), entry.name)
    nodes[k] = entry.node
  end
  return table.concat(words, ", "), nodes
end

--- The statements so far.
function Body:text() return table.concat(self.lines, "\n") end

--- Call a generator: what it returns, or nil and why it refused.
function M.attempt(f, ...)
  local ok, made, why = xpcall(f, function(e) return type(e) == "table" and e or debug.traceback(e, 2) end, ...)
  if ok then return made, why end
  if type(made) == "table" and made.refused then return nil, made.refused end
  error(made, 0)
end

return M

-- expression: nodes at given indices as C text, in a body. Stored nodes are loaded, others are computed where they are needed.
-- Nothing is computed twice while its variable is in sight.

local bodies = require "cawb.compose.emit.body"
local cuda = require "cawb.compose.ir.tree.cuda"
local lists = require "cawb.base.lists"
local selected_view = require "cawb.compose.emit.selected_view"
local index = require "cawb.compose.ir.index"
local literal = require "cawb.compose.ir.literal"
local views = require "cawb.compose.ir.view"
local types = require "cawb.torch.types"

local M = { new = bodies.new }

local Body = bodies.class

-- Whether a leaf is no tensor in memory: its elements are numbers of the text.
function M.is_number(node) return node.source == "fill" or node.source == "iota" or node.source == "const" end

local function leaf(self, node, i)
  if node.source == "fill" then return types.literal(node.value, node.dtype) end
  if node.source == "iota" then return ("(long long)(%s)"):format(index.c(i[1])) end
  if node.source ~= "const" then return self:load(node, i) end
  local words = lists.map(node.values, function(value) return types.literal(value, node.dtype) end)
  local register, name = types.register(node.dtype), "c" .. node.id
  if not self:recall(name) then
    self:line("const %s %s[%d] = { %s };", register, name, #words, table.concat(words, ", "))
    self:remember(name, name)
  end
  return ("%s[%s]"):format(name, literal.plain(index.c(index.ravel(i, node.shape))))
end

-- Text of one type where another is meant.
local function converted(text, from, to)
  from, to = types.register(from), types.register(to)
  if from == to then return text end
  return ("(%s)%s"):format(to, literal.plain(text):find "^[%w_.%[%]]+$" and text or "(" .. text .. ")")
end

local function map(self, node, i)
  local text = cuda.write(node.expression, lists.map(node.inputs, function(x, k)
    return converted(self:value(x, i), x.dtype, node.casts and node.casts[k] or node.cast)
  end))
  for _, header in ipairs(cuda.headers(node.expression)) do self.headers[header] = true end
  local name = self:name "v"
  local register = types.register(node.dtype)
  local cast = register ~= types.register(node.cast) and ("(%s)(%s)"):format(register, text) or text
  self:line("const %s %s = %s;", register, name, cast)
  return name
end

-- Those guards that are not always so; false where one never is.
local function conditions(guards)
  local list, seen = {}, {}
  for _, e in ipairs(guards) do
    if e.hi < 0 then return false end
    if e.lo < 0 and not seen[e.key] then list[#list + 1], seen[e.key] = e, true end
  end
  return list
end

--- The pieces of a view that may hold at indices: { piece, guards = expressions that must not be negative }; behind one without
--- guards there is nothing. And whether one of them surely holds.
function M.possible(node, i)
  local list = {}
  for _, piece in ipairs(node.pieces) do
    local guards = conditions(views.guards(piece, i))
    if guards then list[#list + 1] = { piece = piece, guards = guards } end
    if guards and #guards == 0 then return list, true end
  end
  return list, false
end

local function words(guards) return table.concat(lists.map(guards, function(e) return index.c(e) .. " >= 0" end), " && ") end

--- C of the condition that expressions are not negative; nil where they never are.
function M.conditions(guards)
  local doubtful = lists.filter(guards, function(e) return e.lo < 0 end)
  return #doubtful > 0 and words(doubtful) or nil
end

local function view(self, node, i)
  local list, whole = M.possible(node, i)
  if #list == 0 then return types.literal(node.fill or 0, node.dtype) end
  if #list == 1 and whole then
    return self:value(node.inputs[list[1].piece.input], views.at(list[1].piece, i))
  end
  local name, register = self:name "v", types.register(node.dtype)
  self:line(whole and "%s %s;" or "%s %s = %s;", register, name, types.literal(node.fill or 0, node.dtype))
  self.guarded = self.guarded + 1
  for k, one in ipairs(list) do
    self:open((k > 1 and "else " or "") .. (#one.guards > 0 and "if (%s) {" or "{"), words(one.guards))
    self:line("%s = %s;", name, self:value(node.inputs[one.piece.input], views.at(one.piece, i)))
    self:close()
  end
  self.guarded = self.guarded - 1
  return name
end

-- The element of a view of several tensors where the row alone says which one it is in: see selected_view.lua.
local function choose(self, node, i)
  if #node.pieces == 1 then return nil end
  local list, whole = M.possible(node, i)
  return whole and selected_view.load(self, node, list, i)
end

local function pick(self, node, i)
  local source, at = table.unpack(node.inputs)
  local n = source.shape[node.axis]
  local name = self:name "i"
  local raw = self:value(at, i)
  self:line("const long long %s_raw = %s;", name, raw)
  self:line("const int %s = (int)(%s_raw < 0 ? %s_raw + %d/**/ : %s_raw);", name, name, name, n, name)
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
  local better = self:name "better"
  self:line("const bool %s = %s %s %s || (%s != %s && %s == %s);", better, value, sign, best, value, value, best, best)
  self:line("%s = %s ? %s : %s, %s = %s ? %s : %s;", best, better, value, best, at, better, place, at)
end

--- The indices of a reduce's input where its axes are these.
function M.merged(node, i, at)
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

--- The sizes of the axes that a reduce joins.
function M.axes(node)
  return lists.filter(node.inputs[1].shape, function(_, d) return node.axes[d] end)
end

local LONG = 32     -- terms of a sum that are added one after the other

-- Open the loops over the reduce's axes, from the d-th on; `inner` gets their variables. A long sum
-- of real numbers is one of short ones.
local function loops(self, node, sizes, d, at, into, how, inner)
  if d > #sizes then return inner(at, into) end
  local n, var = sizes[d], self:name "r"
  at[d] = n == 1 and index.const(0) or index.var(var, n)
  if n == 1 then return loops(self, node, sizes, d + 1, at, into, how, inner) end
  local nested = node.op == "sum" and types.is_float(node.dtype) and (n > LONG or d < #sizes)
  local q, part = nested and n > LONG and self:name "q", into
  if q then self:open("for (int %s = 0; %s < %d; %s += %d) {", q, q, n, q, LONG)
  else self:open("for (int %s = 0; %s < %d; %s++) {", var, var, n, var) end
  if nested then
    part = self:name "part"
    self:line("%s %s = %s;", types.register(node.dtype), part, how.start)
  end
  if q then self:open("for (int %s = %s; %s < min(%s + %d, %d); %s++) {", var, q, var, q, LONG, n, var) end
  loops(self, node, sizes, d + 1, at, part, how, inner)
  if q then self:close() end
  if nested then self:line("%s = %s;", into, how.join(into, part)) end
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
    local value = converted(self:value(x, M.merged(node, i, vars)), x.dtype, type)
    if place then
      local name = self:name "v"
      self:line("const %s %s = %s;", types.register(type), name, value)
      self:join_place(node.op, acc, at, name, index.c(vars[1]))
    else
      if not literal.plain(value):find "^[%w_]+$" then
        local name = self:name "v"
        self:line("const %s %s = %s;", types.register(type), name, value)
        value = name
      end
      self:line("%s = %s;", into, how.join(into, value))
    end
  end)
  return at or acc
end

M.kinds = { leaf = leaf, map = map, view = view, pick = pick, reduce = reduce }
Body.kinds = M.kinds

local Refusal = { __tostring = function(e) return e.refused end }

--- Refuse: a kernel of this kind cannot hold these nodes. Raises a table that `M.attempt` returns.
function M.refuse(why) error(setmetatable({ refused = why }, Refusal), 0) end

--- C text for a node at indices, one for each of its dimensions, of its register's type.
function Body:value(node, i)
  if node.kind == "leaf" and node.source == "fill" then return leaf(self, node, i) end
  local key = bodies.key(node, i)
  local name = self:recall(key)
  if name then return name end
  if node.stored and not self.inside[node] then return self:load(node, i) end
  if self.known_only and self.known_only[node] then M.refuse(("node %d is needed at another place"):format(node.id)) end
  local kind = self.kinds[node.kind] or M.refuse(("a %s is computed by a kernel of its own"):format(node.kind))
  local loaded = self.selecting and node.kind == "view" and choose(self, node, i)
  if loaded then return self:remember(key, loaded) end
  local held, there
  if self.held[node] then held, there = self:on_chip_value(node, i, key) end
  if there then return self:remember(key, held) end
  name = kind(self, node, i)
  if held then self:line("%s = %s;", held, name) end
  return self:remember(key, name)
end

--- Calls a generator: its result, or nil and why it refused.
function M.attempt(f, ...)
  local ok, made, why = xpcall(f, function(e) return type(e) == "table" and e or debug.traceback(e, 2) end, ...)
  if ok then return made, why end
  if type(made) == "table" and made.refused then return nil, made.refused end
  error(made, 0)
end

--- Makes M a family of kernels (schedule/generators.lua). `describe(kernel, options, chip)` says how one is made, and raises a refusal where
--- it cannot be: M.accepts returns that, or nil and why not. `make(kernel, described, options, chip)`: the text and launches of M.generate.
function M.family(family, describe, make)
  function family.accepts(...) return M.attempt(describe, ...) end
  function family.generate(kernel, options, chip, accepted) return make(kernel, accepted or describe(kernel, options, chip), options, chip) end
  return family
end

return M

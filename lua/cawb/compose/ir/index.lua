-- index: whole-number expressions of variables with known ranges, for places in tensors. An
-- expression is a sum of atoms times constants; an atom is a variable, or the quotient or
-- remainder of an expression by a constant. Equal expressions mostly become equal while they are
-- built, so that a chain of reshapes and transposes simplifies.

local lists = require "cawb.base.lists"
local literal = require "cawb.compose.ir.literal"

local M = {}

---@class cawb.Index
---@field base integer  the constant term
---@field terms table   { { atom, factor }, ... }, by the atoms' keys
---@field lo integer    the least and
---@field hi integer    the largest value that it can have
---@field key string    equal for equal expressions; made when it is first asked for
local Index = {}

local function key_of(base, terms)
  local words = { base }
  for i = 1, #terms do words[i + 1] = terms[i][2] .. "*" .. terms[i][1].key end
  return table.concat(words, "+")
end

function Index:__index(name)
  if name ~= "key" then return nil end
  self.key = key_of(self.base, self.terms)
  return self.key
end

-- An expression from terms that are sorted and have no zeros.
local function make(base, terms)
  local lo, hi = base, base
  for k = 1, #terms do
    local t = terms[k]
    local a, f = t[1], t[2]
    if f > 0 then lo, hi = lo + f * a.lo, hi + f * a.hi else lo, hi = lo + f * a.hi, hi + f * a.lo end
  end
  return setmetatable({ base = base, terms = terms, lo = lo, hi = hi }, Index)
end

local function from_atom(atom)
  if atom.lo == atom.hi then return make(atom.lo, {}) end
  return make(0, { { atom, 1 } })
end

function M.const(n) return make(n, {}) end

--- A variable that runs from 0 to n - 1; its name is its name in C.
function M.var(name, n)
  return from_atom { kind = "var", name = name, key = name, lo = 0, hi = n - 1 }
end

local function single(a)
  if a.base == 0 and #a.terms == 1 and a.terms[1][2] == 1 then return a.terms[1][1] end
end

-- The atom of (b + x / n) / c, by (n b + x) / (n c); nil where there is no quotient in the sum, or more than an atom comes of it.
local function flattened(a, c)
  for k, t in ipairs(a.terms) do
    local inner = t[1]
    if inner.kind == "div" and t[2] == 1 then
      local rest = { table.unpack(a.terms) }
      table.remove(rest, k)
      return single(M.div(M.add(inner.of, make(a.base, rest), inner.by), inner.by * c))
    end
  end
end

-- Whether an atom is x / c, where `rest` is x % c.
local function is_quotient(other, rest)
  if other.kind ~= "div" then return false end
  if other.by == rest.by and other.of.key == rest.of.key then return true end
  if rest.flat == nil then rest.flat = flattened(rest.of, rest.by) or false end
  return rest.flat and rest.flat.key == other.key
end

-- The sum of x % c and another term, whose factor is c times its own: (x % c) + c (x / c) is x, and (x % c) + c (x / c % m) is
-- x % (c m).
local function whole_of(rest, other)
  if is_quotient(other, rest) then return rest.of end
  local inner = other.kind == "mod" and single(other.of)
  if inner and is_quotient(inner, rest) then return M.mod(rest.of, rest.by * other.by) end
end

-- Two terms whose sum is one term: the other terms, and the new one's factor and expression; or nothing.
local function joined(terms)
  for i = 1, #terms do
    local t = terms[i]
    local rest = t[1]
    for j = 1, rest.kind == "mod" and #terms or 0 do
      local u = terms[j]
      local whole = u[2] == t[2] * rest.by and whole_of(rest, u[1])
      if whole then return lists.filter(terms, function(_, n) return n ~= i and n ~= j end), t[2], whole end
    end
  end
end

-- Terms of both sums, the second's times `factor`, in order and without zeros.
local function merged(a, b, factor)
  local list, i, j = {}, 1, 1
  while a[i] and b[j] do
    local s, t = a[i], b[j]
    local x, y = s[1].key, t[1].key
    if x == y then
      local sum = s[2] + t[2] * factor
      if sum ~= 0 then list[#list + 1] = { s[1], sum } end
      i, j = i + 1, j + 1
    elseif x < y then list[#list + 1], i = s, i + 1
    else list[#list + 1], j = factor == 1 and t or { t[1], t[2] * factor }, j + 1 end
  end
  for k = i, #a do list[#list + 1] = a[k] end
  for k = j, #b do list[#list + 1] = factor == 1 and b[k] or { b[k][1], b[k][2] * factor } end
  return list
end

function M.add(a, b, factor)
  factor = factor or 1
  if #b.terms == 0 then return M.plus(a, factor * b.base) end
  local base, terms = a.base + factor * b.base, merged(a.terms, factor ~= 0 and b.terms or {}, factor)
  local left, k, x = joined(terms)
  if left then return M.add(make(base, left), x, k) end
  return make(base, terms)
end

-- A sum of terms in any order, each atom in one of them at most.
function M.sum(base, terms)
  terms = { table.unpack(terms) }
  table.sort(terms, function(a, b) return a[1].key < b[1].key end)
  return make(base, terms)
end

function M.plus(a, n)
  return setmetatable({ base = a.base + n, terms = a.terms, lo = a.lo + n, hi = a.hi + n }, Index)
end

function M.scale(a, k) return M.add(M.const(0), a, k) end

--- A number as an expression; expressions stay.
function M.of(a) return type(a) == "number" and M.const(a) or a end

-- In Lua's own signs, and `/` as M.text writes a quotient. A number stands ahead of a product, and behind a division.
function Index.__add(a, b) return M.add(M.of(a), M.of(b)) end
function Index.__sub(a, b) return M.add(M.of(a), M.of(b), -1) end
function Index.__unm(a) return M.scale(a, -1) end
function Index.__mul(n, a) return M.scale(a, n) end
function Index.__idiv(a, n) return M.div(a, n) end
function Index.__mod(a, n) return M.mod(a, n) end
Index.__div = Index.__idiv

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- a = c * whole + rest, with what is left in the rest small: every factor lies between -c and c,
-- and nothing in it can be negative.
local function split(a, c)
  local whole, rest = {}, {}
  for _, t in ipairs(a.terms) do
    local q = t[2] // c
    if t[2] < 0 and t[2] % c ~= 0 then q = q + 1 end
    if q ~= 0 then whole[#whole + 1] = { t[1], q } end
    if t[2] ~= q * c then rest[#rest + 1] = { t[1], t[2] - q * c } end
  end
  local r = make(a.base, rest)
  local shift = r.lo // c
  return make(shift, whole), make(r.base - shift * c, rest)
end

-- A factor g of c with a = g * big + small and small from 0 to g - 1. Then a / c is big / (c / g). Returns g, big, small; or
-- nothing.
local function halves(a, c)
  local by_size = { table.unpack(a.terms) }
  table.sort(by_size, function(s, t)
    local m, n = math.abs(s[2]), math.abs(t[2])
    if m ~= n then return m > n end
    return s[1].key < t[1].key
  end)
  for count = #by_size, 1, -1 do
    local g = c
    for i = 1, count do g = gcd(g, math.abs(by_size[i][2])) end
    if g > 1 then
      local big, small = {}, {}
      for i, t in ipairs(by_size) do
        if i <= count then big[#big + 1] = { t[1], t[2] // g } else small[#small + 1] = t end
      end
      local rest = M.sum(a.base % g, small)
      if rest.lo >= 0 and rest.hi < g then return g, M.sum(a.base // g, big), rest end
    end
  end
end

-- The quotient of the rest that `split` returned, as an expression.
local function quotient(a, c)
  if a.hi < c then return M.const(0) end
  local g, big = halves(a, c)
  if g then return M.div(big, c // g) end
  local atom = single(a)
  if atom and atom.kind == "div" then return M.div(atom.of, atom.by * c) end
  if atom and atom.kind == "mod" and atom.by % c == 0 then return M.mod(M.div(atom.of, c), atom.by // c) end
  return from_atom { kind = "div", of = a, by = c, key = ("(%s)/%d"):format(a.key, c), lo = a.lo // c, hi = a.hi // c }
end

--- n - 1 - a: the place a from the end of n.
function M.back(a, n) return M.plus(M.scale(a, -1), n - 1) end

--- What is not negative where a is between 0 and n - 1: guards of a view.
function M.inside(a, n) return { a, M.back(a, n) } end

--- Indices with another one along dimension d, and so on for more of both.
function M.with(i, d, e, ...)
  local j = { table.unpack(i) }
  j[d] = e
  if ... then return M.with(j, ...) end
  return j
end

function M.same(a, b)
  for d, e in ipairs(a) do
    if not b[d] or e.key ~= b[d].key then return false end
  end
  return #a == #b
end

--- Elements first to last of a list, and further ones.
function M.listed(i, first, last, ...)
  return lists.joined({ table.unpack(i, first, last) }, { ... })
end

-- Whether it is one of 0 to c - 1.
local function is_below(a, c) return a.lo >= 0 and a.hi < c end

--- floor(a / c), c a number above zero.
function M.div(a, c)
  if c == 1 then return a end
  if is_below(a, c) then return M.const(0) end
  local whole, rest = split(a, c)
  return M.add(whole, quotient(rest, c))
end

--- a - c * floor(a / c), c a number above zero.
function M.mod(a, c)
  if c == 1 then return M.const(0) end
  if is_below(a, c) then return a end
  local _, rest = split(a, c)
  if rest.hi < c then return rest end
  local g, big, small = halves(rest, c)
  if g then return M.add(small, M.mod(big, c // g), g) end
  local atom = single(rest)
  if atom and atom.kind == "mod" and atom.by % c == 0 then return M.mod(atom.of, c) end
  return from_atom { kind = "mod", of = rest, by = c, key = ("(%s)%%%d"):format(rest.key, c), lo = 0, hi = c - 1 }
end

--- The expression with others in place of variables: `values` by name.
function M.bind(a, values)
  local sum = M.const(a.base)
  for _, t in ipairs(a.terms) do
    local atom, e = t[1], nil
    if atom.kind == "var" then e = values[atom.name] or from_atom(atom)
    else e = M[atom.kind](M.bind(atom.of, values), atom.by) end
    sum = M.add(sum, e, t[2])
  end
  return sum
end

--- Its value, with numbers for its variables.
function M.evaluate(a, numbers)
  local values = {}
  for name, n in pairs(numbers) do values[name] = M.const(n) end
  return M.bind(a, values).base
end

--- How much it grows by when the variable grows by one, wherever that is; nil where that differs.
function M.stride(a, name)
  local sum = 0
  for _, t in ipairs(a.terms) do
    local atom = t[1]
    if atom.kind == "var" then
      if atom.name == name then sum = sum + t[2] end
    elseif M.uses(atom.of, name) then return nil end
  end
  return sum
end

function M.uses(a, name)
  for _, t in ipairs(a.terms) do
    local atom = t[1]
    if atom.kind == "var" and atom.name == name or atom.of and M.uses(atom.of, name) then return true end
  end
  return false
end

--- Whether all of its variables are in a set of names.
function M.only(a, names)
  return lists.all(a.terms, function(t) return t[1].kind == "var" and names[t[1].name] or t[1].of and M.only(t[1].of, names) end)
end

--- Whether it is a multiple of n whatever its variables are, as far as its factors tell.
function M.divisible(a, n)
  return a.base % n == 0 and lists.all(a.terms, function(t) return t[2] % n == 0 end)
end

--- Its number, where it is one; else nil.
function M.number(a)
  if #a.terms == 0 then return a.base end
end

-- The largest number that comes up on the way.
local function wide(a)
  local most, inner = math.abs(a.base), 0
  for _, t in ipairs(a.terms) do
    most = most + math.abs(t[2]) * t[1].hi
    if t[1].of then inner = math.max(inner, wide(t[1].of)) end
  end
  return math.max(most, inner)
end

local text

local function atom_text(atom, long)
  if atom.kind == "var" then return (long and "(long long)" or "") .. atom.name end
  local inner = text(atom.of, long)
  if #atom.of.terms > 1 or atom.of.base ~= 0 or atom.of.terms[1][2] ~= 1 then inner = "(" .. inner .. ")" end
  return ("%s %s %s"):format(inner, atom.kind == "div" and "/" or "%", literal.divisor(atom.by))
end

local function term_text(t, long)
  local a, f = atom_text(t[1], long), math.abs(t[2])
  if t[2] == 1 then return a end
  if t[1].kind ~= "var" then a = "(" .. a .. ")" end
  return f == 1 and a or ("%s * %s"):format(literal.free(f), a)
end

function text(a, long)
  local words = {}
  for _, t in ipairs(a.terms) do
    words[#words + 1] = (t[2] < 0 and "- " or #words > 0 and "+ " or "") .. term_text(t, long)
  end
  if a.base ~= 0 or #words == 0 then
    words[#words + 1] = #words > 0 and ("%s %s"):format(a.base < 0 and "-" or "+", literal.free(math.abs(a.base))) or literal.free(a.base)
  end
  return table.concat(words, " ")
end

function M.text(a) return literal.plain(text(a, false)) end

--- It in C, with marks (literal.lua): of type int, or long long where a part of it may be beyond int's range.
function M.c(a) return text(a, M.is_long(a)) end

--- Whether C needs more than an int for it.
function M.is_long(a) return wide(a) > 2147483647 end

--- The number of an element in a contiguous tensor of this shape.
function M.ravel(index, shape)
  local sum = M.const(0)
  for d, n in ipairs(shape) do sum = M.add(index[d], sum, n) end
  return sum
end

--- The opposite: indices of an element by its number.
function M.unravel(number, shape)
  local index = {}
  for d = #shape, 1, -1 do
    index[d] = d == 1 and number or M.mod(number, shape[d])
    if d > 1 then number = M.div(number, shape[d]) end
  end
  return index
end

--- Where an element lies: offset and strides times its indices.
function M.place(index, strides, offset)
  local sum = M.const(offset or 0)
  for d, s in ipairs(strides) do sum = M.add(sum, index[d], s) end
  return sum
end

return M

-- Index expressions: what is folded while they are built has the value of what was written, and
-- chains of reshapes and transposes fold back.

local check = dofile "tests/support/check.lua"
local index = require "cawb.compose.ir.index"
local literal = require "cawb.compose.ir.literal"

-- A small generator of numbers that are the same every time.
local state = 12345
local function random(n)
  state = (state * 1103515245 + 12345) % (1 << 31)
  return state // 65536 % n + 1
end

local names, sizes = { "a", "b", "c" }, { 5, 4, 6 }

-- A random expression, and the function of numbers that it is meant to be.
local function draw(depth)
  local pick = random(depth > 0 and 6 or 2)
  if pick == 1 then
    local n = random(3)
    return index.var(names[n], sizes[n]), function(v) return v[names[n]] end
  elseif pick == 2 then
    local k = random(9) - 5
    return index.const(k), function() return k end
  end
  local x, f = draw(depth - 1)
  if pick == 3 then
    local y, g = draw(depth - 1)
    local k = random(13) - 7
    return index.add(x, y, k), function(v) return f(v) + k * g(v) end
  elseif pick == 4 then
    local k = random(24) - 12
    return index.scale(x, k), function(v) return k * f(v) end
  end
  local c = random(12)
  if pick == 5 then return index.div(x, c), function(v) return f(v) // c end end
  return index.mod(x, c), function(v) return f(v) % c end
end

local function each(f)
  for a = 0, sizes[1] - 1 do
    for b = 0, sizes[2] - 1 do
      for c = 0, sizes[3] - 1 do f { a = a, b = b, c = c } end
    end
  end
end

check.test("2000 random expressions have the value of what was written, within their ranges", function()
  for _ = 1, 2000 do
    local e, f = draw(5)
    each(function(v)
      local got = index.evaluate(e, v)
      if got ~= f(v) then error(("%s is %d at %d %d %d, not %d"):format(e.key, got, v.a, v.b, v.c, f(v))) end
      assert(got >= e.lo and got <= e.hi, e.key .. " leaves its range")
    end)
  end
end)

-- C's quotients round towards zero, so nothing negative may be divided.
local function run_c(text, v)
  text = literal.plain(text):gsub("%(long long%)", ""):gsub("/", "//")
  return load("local a, b, c = ... return " .. text)(v.a, v.b, v.c)
end

local function no_negative(e)
  for _, t in ipairs(e.terms) do
    if t[1].of then
      assert(t[1].of.lo >= 0, t[1].key .. " may be negative")
      no_negative(t[1].of)
    end
  end
end

check.test("their C says the same, and divides nothing negative", function()
  for _ = 1, 500 do
    local e = draw(5)
    no_negative(e)
    each(function(v) check.equal(run_c(index.c(e), v), index.evaluate(e, v), e.key) end)
  end
end)

local function vars(shape)
  local list = {}
  for d, n in ipairs(shape) do list[d] = index.var("i" .. d, n) end
  return list
end

check.test("a reshape there and back is nothing", function()
  local shape = { 3, 4, 5, 7 }
  local i = vars(shape)
  local there = index.unravel(index.ravel(i, shape), { 12, 35 })
  local back = index.unravel(index.ravel(there, { 12, 35 }), shape)
  for d = 1, 4 do check.equal(back[d].key, i[d].key) end
  local other = index.unravel(index.ravel(i, shape), { 6, 10, 7 })
  back = index.unravel(index.ravel(other, { 6, 10, 7 }), shape)
  for d = 1, 4 do check.equal(back[d].key, i[d].key) end
end)

check.test("a row's number is its indices' again, whatever was between", function()
  local row, k = index.var("row", 231), index.var("k", 20)
  local at = index.unravel(row, { 3, 7, 11 })
  local full = index.unravel(index.ravel({ at[1], k, at[2], at[3] }, { 3, 20, 7, 11 }), { 3, 20, 7, 11 })
  for d, e in ipairs { at[1], k, at[2], at[3] } do check.equal(full[d].key, e.key) end
end)

check.test("the digits of a quotient are the quotient again", function()
  local q = index.div(index.var("t", 2352), 14)
  check.equal(index.ravel(index.unravel(q, { 8, 21 }), { 8, 21 }).key, q.key)
  check.equal(index.ravel(index.unravel(q, { 4, 2, 21 }), { 4, 2, 21 }).key, q.key)
end)

check.test("digits that were named before lanes took their places are one number again", function()
  local digits, lanes = index.unravel(index.var("i", 9216), { 256, 6, 6 }), index.scale(index.var("p", 1152), 8)
  for lane = 0, 7 do
    local i, at = index.plus(lanes, lane), {}
    for d, e in ipairs(digits) do at[d] = index.bind(e, { i = i }) end
    check.equal(index.ravel(at, { 256, 6, 6 }).key, i.key)
  end
end)

check.test("shuffled channels: reshape, transpose, reshape, and the way back", function()
  local i = vars { 2, 12, 5 }
  local function shuffle(j, groups)                -- (n, c, w) -> where it comes from
    local k = index.unravel(index.ravel(j, { 2, 12, 5 }), { 2, 12 // groups, groups, 5 })
    return index.unravel(index.ravel({ k[1], k[3], k[2], k[4] }, { 2, groups, 12 // groups, 5 }), { 2, 12, 5 })
  end
  check.equal(shuffle(shuffle(i, 3), 4)[2].key, i[2].key)
  assert(shuffle(i, 3)[2].key ~= i[2].key)
end)

check.test("a group's channel knows its group", function()
  local n, g, k = table.unpack(vars { 2, 8, 4 * 49 })
  local c = index.unravel(index.ravel({ n, g, k }, { 2, 8, 196 }), { 2, 32, 7, 7 })[2]
  check.equal(index.div(c, 4).key, g.key)
end)

check.test("lanes of a vector are known to be neighbours", function()
  local t = index.var("t", 100)
  for lane = 0, 3 do
    local i = index.unravel(index.plus(index.scale(t, 4), lane), { 5, 10, 8 })
    local place = index.place({ i[2], i[1], i[3] }, { 40, 8, 1 })
    assert(index.divisible(index.plus(place, -lane), 4), place.key)
  end
end)

check.test("strides are known where they are the same everywhere", function()
  local i = vars { 6, 8 }
  check.equal(index.stride(index.ravel(i, { 6, 8 }), "i1"), 8)
  check.equal(index.stride(index.div(i[1], 2), "i2"), 0)
  check.equal(index.stride(index.div(i[1], 2), "i1"), nil)
end)

check.test("C is told of numbers beyond an int", function()
  local i = vars { 65536, 65536 }
  local place = index.ravel(i, { 65536, 65536 })
  assert(index.is_long(place) and index.c(place):find "long long")
  assert(not index.is_long(i[1]))
end)

return check.done()

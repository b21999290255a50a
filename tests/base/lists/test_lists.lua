-- Lists: each function beside a loop's result, the empty list too.

local check = dofile "tests/support/check.lua"
local lists = require "cawb.base.lists"

local function is_even(n) return n % 2 == 0 end

local function text(list) return table.concat(list, " ") end

check.test("elements one by one: map, times, filter, first, least, sum", function()
  check.equal(text(lists.map({ 3, 5 }, function(x, k) return x * k end)), "3 10")
  check.equal(text(lists.times(3, function(k) return k * k end)), "1 4 9")
  check.equal(text(lists.filter({ 1, 2, 3, 4 }, is_even)), "2 4")
  check.equal(text(lists.filter({ 5, 6, 7 }, function(_, k) return k > 1 end)), "6 7")
  check.equal(lists.first({ 1, 4, 6 }, is_even), 4)
  check.equal(lists.first({ 1 }, is_even), nil)
  local best, least = lists.least({ 4, 2, 7, -2 }, function(x) return x ~= 7 and x * x or nil end)
  check.equal(best, 2)
  check.equal(least, 4)
  check.equal(lists.least({}, is_even), nil)
  check.equal(lists.sum({ 1, 2, 3 }, function(x) return x * x end), 14)
end)

check.test("questions: any and all, and of no elements", function()
  check.equal(lists.any({ 1, 2 }, is_even), true)
  check.equal(lists.any({ 1, 3 }, is_even), false)
  check.equal(lists.all({ 2, 4 }, is_even), true)
  check.equal(lists.all({ 2, 3 }, is_even), false)
  check.equal(lists.any({}, is_even), false)
  check.equal(lists.all({}, is_even), true)
  check.equal(lists.sum({}, is_even), 0)
end)

check.test("lists of lists: groups in the order of their first elements, joined, append; sets and copies", function()
  local groups = lists.groups({ 3, 2, 1, 4 }, is_even)
  check.equal(text(groups[1]) .. " | " .. text(groups[2]), "3 1 | 2 4")
  check.equal(text(lists.joined({ 1 }, {}, { 2, 3 })), "1 2 3")
  local to = { 1 }
  check.equal(lists.append(to, { 2, 3 }), to)
  check.equal(text(to), "1 2 3")
  check.equal(lists.set({ "a", "b" }).b, true)
  local from = { a = 1, 7 }
  local copy = lists.copy(from)
  assert(copy ~= from and copy.a == 1 and copy[1] == 7)
end)

check.done()

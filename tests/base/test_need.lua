-- Work that ends at its first failure: what was opened is closed, and a mistake in the program stays an error.

local check = dofile "tests/support/check.lua"
local needed = require "cawb.base.need"

check.test("a failure ends the work, closes what it had open, and comes back as nil, message, name", function()
  local closed = 0
  local function inner()
    local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
    needed.need(nil, "no such thing", "missing")
    error "not reached"
  end
  local value, message, name = needed.caught(function() return inner() end)
  check.equal(value, nil)
  check.equal(message .. "/" .. name .. "/" .. closed, "no such thing/missing/1")
  check.equal(select(3, needed.caught(needed.sound, nil, "wrong", "missing")), "usage")
end)

check.test("what succeeds comes back whole", function()
  check.equal(table.concat({ needed.caught(needed.need, 1, 2, 3, 4) }, " "), "1 2 3 4")
  check.equal(needed.caught(function() return false end), false)
end)

check.test("a mistake in the program is raised, with the place where it was made", function()
  local ok, message = pcall(needed.caught, function() local t = nil return t.field end)
  check.equal(ok, false)
  check.matches(message, "test_need%.lua:%d+: attempt to index.*stack traceback")
end)

return check.done()

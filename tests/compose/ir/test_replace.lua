-- Other words in long texts: as patterns would have it.

local check = dofile "tests/support/check.lua"
local replace = require "cawb.compose.ir.replace"

check.test("a word is replaced wherever it is, and is no pattern", function()
  check.equal(replace.word("a/**/b/**//**/", "/**/", ""), "ab")
  check.equal(replace.word("a.X.X", ".X", "%1"), "a%1%1")
  check.equal(replace.word("none", "X", "y"), "none")
  check.equal(replace.word("", "X", "y"), "")
end)

check.test("a name is replaced where it begins a word", function()
  for _, text in ipairs { "k1_mm(k1_mm_load, ak1_mm, _k1_mm, k12_mm, k1_k1_mm", "k1_mmk1_mm", " k1_m" } do
    check.equal(replace.name(text, "k1_mm", "k7_mm"), (text:gsub("%f[%w_]k1_mm", "k7_mm")))
  end
end)

check.test("numbers ahead of a mark are replaced by their number, and lose the mark", function()
  local function by(k) return k % 2 == 1 and "c" .. k or nil end
  local text = "12/**/ + x3/**/ * y/**/ + 4/**/5/**/ - 6"
  local k = 0
  check.equal(replace.numbers(text, "/**/", by), (text:gsub("(%d+)/%*%*/", function(number)
    k = k + 1
    return by(k) or number
  end)))
end)

return check.done()

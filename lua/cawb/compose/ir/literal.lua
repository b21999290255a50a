-- literal: whole numbers of a kernel's text that may become parameters of the kernel (plan/merge.lua). A generator marks them by a comment
-- behind the number, so that a text with marks is C as well. A number that a compiler makes faster code of has no mark: a size of an array,
-- an argument of a template, a count of an unrolled loop. The number of a division is a parameter only before the first call.

local replace = require "cawb.compose.ir.replace"

local M = {}

local FREE, DIVISOR = "/**/", "/*by*/"

--- A number that may become a parameter; in templates too it is written so.
function M.free(n) return n .. FREE end

--- A number that an index is divided by.
function M.divisor(n) return n .. DIVISOR end

function M.plain(text) return replace.word(replace.word(text, FREE, ""), DIVISOR, "") end

--- The text with marks for numbers that may be parameters alone: of divisors too, where the text runs `ahead` of the first call.
function M.marked(text, ahead) return replace.word(text, DIVISOR, ahead and FREE or "") end

--- The numbers that may become parameters, in order.
function M.numbers(text)
  local list = {}
  for number in text:gmatch "(%d+)/%*%*/" do list[#list + 1] = math.tointeger(number) end
  return list
end

--- The text with `by(k)`, a text, in place of its k-th such number; where that is nil the number stays.
function M.replaced(text, by) return replace.numbers(text, FREE, by) end

return M

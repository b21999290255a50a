-- affine: is an expression of a map, as text, a sum of multiples of some of its operands?

local M = {}

-- ---- a reader of C's arithmetic: sums, products, quotients, brackets. Each part returns its degree in the operands
-- that vary, and where the text goes on; nil where it is anything else.

local expression

local intrinsics = { __fsub_rn = math.max, __fadd_rn = math.max, __fmul_rn = function(a, b) return a + b end }

local function skip(text, at) return text:match("^%s*()", at) end

-- A difference or a product by its intrinsic: __fsub_rn(A, B), __fmul_rn(A, B). `together` makes one degree of two.
local function intrinsic(text, at, varies, together)
  local degree, past = expression(text, at, varies)
  if not degree or text:sub(past, past) ~= "," then return nil end
  local other
  other, past = expression(text, past + 1, varies)
  if not other or text:sub(past, past) ~= ")" then return nil end
  return together(degree, other), past + 1
end

local function atom(text, at, varies)
  at = skip(text, at)
  local name, inner = text:match("^(__f%l+_rn)%(()", at)
  if intrinsics[name] then return intrinsic(text, inner, varies, intrinsics[name]) end
  local head = text:sub(at, at)
  if head == "-" then return atom(text, at + 1, varies) end
  if head == "(" then
    local degree, past = expression(text, at + 1, varies)
    if not degree then return nil end
    past = skip(text, past)
    if text:sub(past, past) ~= ")" then return nil end
    return degree, past + 1
  end
  local letter, past = text:match("^(%u)()%f[^%w_]", at)
  if letter then return varies[letter] and 1 or 0, past end
  past = text:match("^%d+%.?%d*[eE]?[-+]?%d*f?()", at)
  if past then return 0, past end
end

local function factors(text, at, varies)
  local degree, past = atom(text, at, varies)
  while degree do
    at = skip(text, past)
    local sign = text:sub(at, at)
    if sign ~= "*" and sign ~= "/" then return degree, at end
    local other
    other, past = atom(text, at + 1, varies)
    if not other or sign == "/" and other > 0 then return nil end
    degree = degree + other
  end
end

function expression(text, at, varies)
  local degree, past = factors(text, at, varies)
  while degree do
    local sign = text:sub(past, past)
    if sign ~= "+" and sign ~= "-" then return degree, past end
    local other
    other, past = factors(text, past + 1, varies)
    degree = other and math.max(degree, other)
  end
end

--- Whether the text has degree one at most in the operands whose letters are in the set `varies`. Then the mean of its values is
--- its value at the operands' means.
function M.is(text, varies)
  local degree, past = expression(text, 1, varies)
  return degree ~= nil and degree <= 1 and skip(text, past) == #text + 1
end

return M

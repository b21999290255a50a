-- expression_shift: the shift of a map's value, given the shifts of its operands. The map's expression is a text. A shift is
-- { m = number, key = the constant that it is a multiple of }; nil is no shift. The shift is unknown if an operand's shift reaches
-- anything but sums, differences and multiples.

local M = {}

local UNKNOWN = { unknown = true }

local function sum(a, b, sign)
  if a == UNKNOWN or b == UNKNOWN then return UNKNOWN end
  if not b then return a end
  if not a then return { m = sign * b.m, key = b.key, of = b.of } end
  if a.key ~= b.key then return UNKNOWN end
  local m = a.m + sign * b.m
  if m == 0 then return nil end
  return { m = m, key = a.key, of = a.of }
end

-- A shift times a number or a constant.
local function product(a, b)
  if a.shift == UNKNOWN or b.shift == UNKNOWN or a.shift and b.shift then return UNKNOWN end
  if not a.shift and not b.shift then return nil end
  local shift, other = a.shift or b.shift, a.shift and b or a
  if other.number then return { m = shift.m * other.number, key = shift.key, of = shift.of } end
  return other.times and other.times(shift) or UNKNOWN
end

local function quotient(a, b)
  if not a.shift and not b.shift then return nil end
  if a.shift == UNKNOWN or b.shift or not b.number or b.number == 0 then return UNKNOWN end
  return { m = a.shift.m / b.number, key = a.shift.key, of = a.shift.of }
end

-- ---- a reader of C: each part returns { shift, number, times } and where the text goes on; nil where it is anything else

local expression

local function skip(text, at) return text:match("^%s*()", at) end

local function arguments(text, at, operands)
  local list, past = {}, at
  repeat
    local one
    one, past = expression(text, past, operands)
    if not one then return nil end
    list[#list + 1] = one
    local mark = text:sub(past, past)
    past = past + 1
    if mark ~= "," and mark ~= ")" then return nil end
  until mark == ")"
  return list, past
end

local function call(name, list)
  if name == "__fsub_rn" then return { shift = sum(list[1].shift, list[2].shift, -1) } end
  if name == "__fmul_rn" then return { shift = product(list[1], list[2]) } end
  for _, one in ipairs(list) do if one.shift then return { shift = UNKNOWN } end end
  return {}
end

local function atom(text, at, operands)
  at = skip(text, at)
  local name, inner = text:match("^([%l_][%w_]*)%(()", at)
  if name then
    local list, past = arguments(text, inner, operands)
    if list then return call(name, list), past end
    return nil
  end
  local head = text:sub(at, at)
  if head == "-" then
    local one, past = atom(text, at + 1, operands)
    return one and { shift = sum(nil, one.shift, -1), number = one.number and -one.number }, past
  end
  if head == "(" then
    local one, past = expression(text, at + 1, operands)
    if one and text:sub(past, past) == ")" then return one, past + 1 end
    return nil
  end
  local letter, past = text:match("^(%u)()%f[^%w_]", at)
  if letter then return operands[letter] or {}, past end
  local number
  number, past = text:match("^(%d+%.?%d*[eE]?[-+]?%d*)f?()", at)
  if number then return { number = tonumber(number) }, past end
end

local function factors(text, at, operands)
  local one, past = atom(text, at, operands)
  while one do
    at = skip(text, past)
    local sign = text:sub(at, at)
    if sign ~= "*" and sign ~= "/" then return one, at end
    local other
    other, past = atom(text, at + 1, operands)
    if not other then return nil end
    one = { shift = (sign == "*" and product or quotient)(one, other) }
  end
end

function expression(text, at, operands)
  local one, past = factors(text, at, operands)
  while one do
    local sign = text:sub(past, past)
    if sign ~= "+" and sign ~= "-" then return one, past end
    local other
    other, past = factors(text, past + 1, operands)
    one = other and { shift = sum(one.shift, other.shift, sign == "+" and 1 or -1) }
  end
end

--- The shift of the text's value, nil for none, and whether it is known. `operands`, by their letters:
--- { shift = the operand's own, number = its value if it is a number, times = function(shift) or nil, the shift times the operand }.
function M.of(text, operands)
  local one, past = expression(text, 1, operands)
  if not one or one.shift == UNKNOWN or skip(text, past) ~= #text + 1 then return nil, false end
  return one.shift, true
end


return M

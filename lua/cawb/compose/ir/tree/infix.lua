-- infix: a tree in one line, with signs between operands and brackets where C needs them or a reader does. What differs between texts is a
-- style: `argument(t)`, `constant(t)`, `call(t, words, row)` for functions, `marked(t, words, text)` for an exact or approximate operation
-- whose operands are `words`, and `convert(t, word)`, which returns its level too.

local lists = require "cawb.base.lists"
local operations = require "cawb.compose.ir.operations"

local M = {}

local SELECT, UNARY, ATOM = operations.SELECT, operations.UNARY, operations.ATOM

local write

-- Comparisons of comparisons, "and" within "or", and bits of anything stand in brackets, though C would not need all of them.
local function needs_brackets(row, of, level)
  if not of then return level == SELECT end
  return of.class == "compare" and row.class == "compare" or of.sign == "&&" and row.sign == "||"
    or (of.class == "bits" or row.class == "bits") and of.count == 2
end

-- An operand of a sign: `least` is the level below which it stands in brackets.
local function operand(t, row, least, style)
  local text, level = write(t, style)
  if level > SELECT and (level < least or needs_brackets(row, operations.row(t.op), level)) then return "(" .. text .. ")" end
  return text
end

-- A choice is in brackets, apart from a choice in a branch of another.
local function branch(t, style)
  local text = write(t, style)
  return t.op == "select" and text:sub(2, -2) or text
end

local function select(t, style)
  return ("(%s ? %s : %s)"):format((write(t[1], style)), branch(t[2], style), branch(t[3], style)), ATOM
end

-- The operands of a function. A choice needs no brackets there.
local function words(t, style) return lists.map(t, function(x) return branch(x, style) end) end

local function signed(t, row, style)
  if row.count == 1 then
    local text = operand(t[1], row, UNARY, style)
    return row.sign .. (text:sub(1, 1) == row.sign and "(" .. text .. ")" or text), UNARY         -- "--" is another sign
  end
  return ("%s %s %s"):format(operand(t[1], row, row.level, style), row.sign, operand(t[2], row, row.level + 1, style)), row.level
end

function write(t, style)
  if t.op == "argument" then return style.argument(t), ATOM end
  if t.op == "constant" then
    local text = style.constant(t)
    return text, text:find "^-" and UNARY or ATOM
  end
  if t.op == "select" then return select(t, style) end
  if t.op == "convert" then return style.convert(t, write(t[1], style)) end
  local row = operations.row(t.op)
  if not row.sign then return style.call(t, words(t, style), row), ATOM end
  if t.exact or t.approximate then return style.marked(t, words(t, style), (signed(t, row, style))), ATOM end
  return signed(t, row, style)
end

function M.write(t, style) return (write(t, style)) end

local words_of = { [math.huge] = "INFINITY", [-math.huge] = "-INFINITY" }

--- A number that is no whole one in the fewest digits that read back as it.
function M.real(value)
  if value ~= value then return "NAN" end
  if words_of[value] then return words_of[value] end
  local text
  for digits = 15, 17 do
    text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then break end
  end
  return text:find "[.e]" and text or text .. ".0"
end

return M

-- cuda: a tree as an expression of CUDA C.

local infix = require "cawb.compose.ir.tree.infix"
local operations = require "cawb.compose.ir.operations"
local tree = require "cawb.compose.ir.tree"
local types = require "cawb.torch.types"

local M = {}

local fast = { maximum = "fmax", minimum = "fmin" }
local intrinsics = { add = "add_rn", subtract = "sub_rn", multiply = "mul_rn" }

local function bracketed(word) return word:find "^[%w_.%[%]]+$" and word or "(" .. word .. ")" end

local function marked(t, words)
  local wide, text = t.type == "float64", table.concat(words, ", ")
  if t.approximate then return ("%s(%s)"):format(wide and "__ddiv_rn" or "__fdividef", text) end
  return ("__%s%s(%s)"):format(wide and "d" or "f", intrinsics[t.op], text)
end

-- A function's name has an f behind it where it computes float32.
local function call(t, words, row)
  local text = table.concat(words, ", ")
  if fast[t.op] then return ("%s%s(%s)"):format(fast[t.op], t.type == "float64" and "" or "f", text) end
  if row.body then return ("(%s(%s))"):format(row.body, text) end
  return ("%s%s(%s)"):format(row.c, t.type == "float64" and "" or "f", text)
end

local function constant(t)
  if t.type == "bool" then return tostring(t.value) end
  if not types.is_float(t.type) then return types.literal(t.value, t.type) end
  local text = infix.real(t.value)
  return t.type ~= "float64" and text:find "%d" and text .. "f" or text
end

-- A maximum or minimum as a choice. Where NaN loses, real numbers have an instruction.
local function chosen(t)
  local a, b = t[1], t[2]
  local strange = t.nan == "wins" and a or b
  local is_nan, is_better = tree.node("not_equal", { strange, strange }), tree.node(operations.row(t.op).compare, { a, b })
  return tree.node("select", { tree.node("or", { is_nan, is_better }), a, b })
end

local function plain(t)
  return fast[t.op] and not (t.nan == "loses" and types.is_float(t.type)) and chosen(t) or nil
end

-- There and back: a register holds narrow numbers as float.
local function convert(t, word)
  if types.is_narrow(t.type) then return types.loaded(t.type, types.stored(t.type, word)), operations.ATOM end
  return ("(%s)%s"):format(types.register(t.type), bracketed(word)), operations.UNARY
end

function M.headers(t)
  local list = {}
  tree.has(t, function(x)
    list[#list + 1] = x.op == "convert" and types.header(x.type) or nil
    return false
  end)
  return list
end

--- The expression, with `operands`, texts, in place of the arguments.
function M.write(t, operands)
  local function argument(x)
    return bracketed(operands[x.k] or error(("there is no operand %d"):format(x.k), 0))
  end
  return infix.write(tree.changed(t, plain), { argument = argument, constant = constant, call = call, marked = marked, convert = convert })
end

return M

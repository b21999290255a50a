-- types: what PyTorch's types are in C, in memory and in a register, and which type an
-- operator computes in.

local M = {}

-- In memory, in a register, what a register becomes in memory, and the other way.
local types = {
  float32 = { "float", "float" }, float64 = { "double", "double" },
  float16 = { "__half", "float", "__float2half(%s)", "__half2float(%s)" },
  bfloat16 = { "__nv_bfloat16", "float", "__float2bfloat16(%s)", "__bfloat162float(%s)" },
  int64 = { "long long", "long long" }, int32 = { "int", "int" }, int16 = { "short", "short" },
  int8 = { "signed char", "signed char" }, uint8 = { "unsigned char", "unsigned char" }, bool = { "bool", "bool" },
  float8_e4m3fn = { "unsigned char", "float", "eight_of<3>(%s)", "of_eight<3>(%s)" },
  float8_e5m2 = { "unsigned char", "float", "eight_of<2>(%s)", "of_eight<2>(%s)" },
}

local sizes = { float32 = 4, float64 = 8, float16 = 2, bfloat16 = 2, int64 = 8, int32 = 4, int16 = 2, int8 = 1,
                uint8 = 1, bool = 1, float8_e4m3fn = 1, float8_e5m2 = 1 }

-- From narrow to wide, by kind.
local order = { bool = 1, uint8 = 2, int8 = 3, int16 = 4, int32 = 5, int64 = 6, float16 = 7, bfloat16 = 7,
                float8_e4m3fn = 7, float8_e5m2 = 7, float32 = 9, float64 = 10 }

function M.known(dtype) return types[dtype] ~= nil end

function M.memory(dtype) return types[dtype][1] end

function M.register(dtype) return types[dtype][2] end

function M.size(dtype) return sizes[dtype] end

function M.is_float(dtype) return order[dtype] >= 7 end

--- Text for a register's value as it is stored, and for a stored one as a register has it.
function M.stored(dtype, text) return types[dtype][3] and types[dtype][3]:format(text) or text end

function M.loaded(dtype, text) return types[dtype][4] and types[dtype][4]:format(text) or text end

--- Whether a type is a float of less than 32 bits, which a register holds as a float32.
function M.is_narrow(dtype) return types[dtype][3] ~= nil end

--- The header that a type needs, or the part of compose; or nil.
function M.header(dtype)
  return dtype == "float16" and "cuda_fp16.h" or dtype == "bfloat16" and "cuda_bf16.h" or dtype:find "^float8" and "eight" or nil
end

--- The wider of two types, as PyTorch promotes tensors of equal standing.
function M.wider(a, b)
  if not a or not b or a == b then return a or b end
  if order[a] == order[b] then return "float32" end
  if a == "uint8" and b == "int8" or a == "int8" and b == "uint8" then return "int16" end
  return order[a] > order[b] and a or b
end

local function category(dtype) return order[dtype] >= 7 and 3 or order[dtype] >= 2 and 2 or 1 end

-- The widest of a standing.
local function widest(list)
  local all
  for _, dtype in ipairs(list) do all = M.wider(all, dtype) end
  return all
end

--- The type that operands are compared and computed in: tensors with dimensions decide, then
--- those without, then numbers, unless these are of a higher kind (whole, then real).
function M.promote(nodes, number)
  local dims, zero = {}, {}
  for _, x in ipairs(nodes) do
    local list = #x.shape > 0 and dims or zero
    list[#list + 1] = x.dtype
  end
  local all = widest(dims)
  local ranks = { widest(zero), number ~= nil and (type(number) == "boolean" and "bool"
    or math.type(number) == "integer" and "int64" or "float32") or nil }
  for i = 1, 2 do
    local next_one = ranks[i]
    if next_one and (not all or category(next_one) > category(all)) then all = next_one end
  end
  return all
end

local words = { inf = "INFINITY", ["-inf"] = "-INFINITY", nan = "NAN" }

--- A number as C of a register's type.
function M.literal(value, dtype)
  if value == true then value = 1 elseif value == false then value = 0 end
  if M.register(dtype) == "bool" then return value ~= 0 and "true" or "false" end
  if not M.is_float(dtype) then
    local whole = math.tointeger(value) or math.tointeger(value // 1)
    if whole == math.mininteger then return "(-9223372036854775807LL - 1)" end
    return dtype == "int64" and whole .. "LL" or tostring(whole)
  end
  if words[value] then return words[value] end
  if value ~= value then return "NAN" end
  if value == math.huge then return "INFINITY" elseif value == -math.huge then return "-INFINITY" end
  local digits = dtype == "float64" and ("%.17g"):format(value) or ("%.9g"):format(value)
  if not digits:find "[.e]" then digits = digits .. ".0" end
  return dtype == "float64" and digits or digits .. "f"
end

return M

-- text_conv: a convolution of one to three axes as a product. Rows are the output channels of a group, columns the places of the output in
-- all of the batch, k the channels of a group and the window. Elements of x are read where they lie. A transposed convolution is one
-- product for each remainder by its stride: the outputs of one remainder have the same taps, and no zeros between inputs are
-- multiplied.

local grids = require "cawb.compose.emit.grids"
local product = require "cawb.compose.emit.product.text"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.Conv: a description (template.lua), and
---@field type string          "float" or "double"
---@field batch integer
---@field groups integer
---@field channels integer     of x in a group
---@field each integer         of the result in a group
---@field size integer[]       of x: three numbers, as all that follow; missing axes are in front and of size one
---@field out integer[]
---@field window integer[]
---@field stride integer[]
---@field padding integer[]
---@field dilation integer[]
---@field transposed boolean?
---@field load string          returns the element of x at p (batch and channel), d, h, w
---@field weight string        returns the weight of output channel o and input channel c at t, the number of a place
---                            of the window. o is counted in all groups and c in its own; transposed: the other way round
---@field weight4 string?      not transposed: sets v[0..3] for o from r on, the number of channel and place
---@field store string         writes the epilogue of `value` to p, d, h, w of the result

local numel = grids.product

-- Sizes are arguments: these stand behind the description's own.
local sizes = { "int s1", "int s2", "int s3", "int s4", "int s5", "int s6" }

local function sized(d, columns)
  local parameters, arguments = { table.unpack(d.parameters) }, { table.unpack(d.arguments) }
  for k, name in ipairs(sizes) do
    parameters[#parameters + 1] = name
    arguments[#arguments + 1] = k <= 3 and d.size[k] or columns[k - 3]
  end
  return { name = d.name, parameters = parameters, arguments = arguments, type = d.type }
end

-- A column of the product is a place: its number in the batch, and those along the axes.
local place = [[
state.w = n % s6;
state.h = n / s6 % s5;
state.d = n / s6 / s5 % s4;
state.n = n / s6 / s5 / s4;]]

local read = [[
if (d < 0 || d >= s1 || h < 0 || h >= s2 || w < 0 || w >= s3) return 0;
return %s_load(%s, %s, d, h, w);]]

local function helpers(k, d)
  local at = { "long long p", "int d", "int h", "int w" }
  return { template.access(k, "load", d.type, at, d.load),
    template.access(k, "weight", d.type, { "int o", "int c", "int t" }, d.weight),
    template.access(k, "put", "void", { at[1], at[2], at[3], at[4], d.type .. " value" }, d.store) }
end

local function common(d, columns)
  local k = sized(d, columns)
  k.pass = template.names(k.parameters)
  k.helpers = helpers(k, d)
  k.fields, k.column = "int n, d, h, w;", place
  k.m, k.n, k.along_a, k.along_b = d.each, d.batch * numel(columns), "k", "n"
  return k
end

-- The three numbers of t in a box of this shape, in C.
local function three(t, box)
  return ("%s / %d"):format(t, box[2] * box[3]), ("%s / %d %% %d"):format(t, box[3], box[2]), ("%s %% %d"):format(t, box[3])
end

local function direct(d)
  local k, taps = common(d, d.out), numel(d.window)
  local a, b, c = three(("(k %% %d)"):format(taps), d.window)
  local lines = {}
  for axis, text in ipairs { a, b, c } do
    lines[axis] = ("const int %s = state.%s * %d - %d + %s * %d;"):format(("dhw"):sub(axis, axis), ("dhw"):sub(axis, axis),
      d.stride[axis], d.padding[axis], text, d.dilation[axis])
  end
  lines[4] = read:format(d.name, k.pass, ("((long long)state.n * %d + z) * %d + k / %d"):format(d.groups, d.channels, taps))
  k.batch, k.k = d.groups, d.channels * taps
  k.a = ("return %s_weight(%s, (int)z * %d + m, k / %d, k %% %d);"):format(d.name, k.pass, d.each, taps, taps)
  k.a4 = d.weight4 and ("const int o = (int)z * %d + m, r = k;\n%s"):format(d.each, d.weight4)
  k.b = table.concat(lines, "\n")
  k.store = ("%s_put(%s, ((long long)state.n * %d + z) * %d + m, state.d, state.h, state.w, value);"):format(d.name, k.pass,
    d.groups, d.each)
  return k
end

-- The places of the window that meet outputs of residue r along an axis: { place in the window, shift of x }, ...
local function met(d, axis, r) return grids.met(d.window[axis], d.stride[axis], d.padding[axis], d.dilation[axis], r) end

-- For each residue of all axes: { number in the window, shifts }, ...
local function residues(d)
  local all, most = {}, 1
  for r = 0, numel(d.stride) - 1 do
    local r0, r1, r2 = r // (d.stride[2] * d.stride[3]), r // d.stride[3] % d.stride[2], r % d.stride[3]
    local list = {}
    for _, a in ipairs(met(d, 1, r0)) do
      for _, b in ipairs(met(d, 2, r1)) do
        for _, c in ipairs(met(d, 3, r2)) do
          local t = (a[1] * d.window[2] + b[1]) * d.window[3] + c[1]
          list[#list + 1] = ("{ %d, %d, %d, %d }"):format(t, a[2], b[2], c[2])
        end
      end
    end
    all[r + 1], most = list, math.max(most, #list)
  end
  return all, most
end

local function tables(d, all, most)
  local counts, rows = {}, {}
  for r, list in ipairs(all) do
    counts[r], rows[r] = #list * d.channels, "  { " .. (#list > 0 and table.concat(list, ", ") or "{ 0 }") .. " }"
  end
  return ("// What meets the outputs of each residue of the stride: how many k, and of each tap its number and shifts.\n"
    .. "static __constant__ int %s_counts[%d] = { %s };\nstatic __constant__ short %s_taps[%d][%d][4] = {\n%s\n};\n\n")
    :format(d.name, #all, table.concat(counts, ", "), d.name, #all, most, table.concat(rows, ",\n"))
end

local function transposed(d)
  local columns = {}
  for axis = 1, 3 do columns[axis] = ceil(d.out[axis], d.stride[axis]) end
  local k, all, most = common(d, columns), residues(d)
  local count = #all
  local tap = ("const short *tap = %s_taps[z %% %d][k / %d];\n"):format(d.name, count, d.channels)
  local c = ("z / %d * %d + k %% %d"):format(count, d.channels, d.channels)
  local a, b, e = three(("(int)(z %% %d)"):format(count), d.stride)
  k.ahead, k.extent = tables(d, all, most), ("%s_counts[z %% %d]"):format(d.name, count)
  k.batch, k.k = d.groups * count, d.channels * most
  k.a = tap .. ("return %s_weight(%s, m, (int)(%s), tap[0]);"):format(d.name, k.pass, c)
  k.b = tap .. "const int d = state.d + tap[1], h = state.h + tap[2], w = state.w + tap[3];\n"
    .. read:format(d.name, k.pass, ("(long long)state.n * %d + %s"):format(d.groups * d.channels, c))
  k.store = ("const int d = state.d * %d + %s, h = state.h * %d + %s, w = state.w * %d + %s;\n"):format(d.stride[1], a,
    d.stride[2], b, d.stride[3], e)
    .. ("if (d < %d && h < %d && w < %d) %s_put(%s, ((long long)state.n * %d + z / %d) * %d + m, d, h, w, value);"):format(
    d.out[1], d.out[2], d.out[3], d.name, k.pass, d.groups, count, d.each)
  return k
end

--- Why there are no kernels of a convolution, or nil.
function M.refusal(d)
  if d.transposed and numel(d.stride) * numel(d.window) > 4096 then return "its table of taps is too large" end
  local places = d.batch * numel(d.out) // (d.transposed and numel(d.stride) or 1)
  return product.refusal { m = d.each, n = places, k = d.channels * numel(d.window) }
end

--- The kernels of a convolution; or nil and why not. `how`, `sms`: as of product.
---@param d cawb.Conv
---@return table? made  { text, launches }
---@return string? why
function M.generate(d, how, sms)
  local why = M.refusal(d)
  if why then return nil, why end
  return product.generate((d.transposed and transposed or direct)(d), how, sms)
end

return M

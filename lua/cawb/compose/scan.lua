-- scan: a running sum or product as the generator of scans takes it: how one element is computed, and
-- where the result goes.

local expression = require "cawb.compose.expression"
local index = require "cawb.compose.index"
local scans = require "cawb.compose.generate.scan"

local M = {}

local function sizes(x)
  local outer, inner = 1, 1
  for d, n in ipairs(x.shape) do
    if d < x.axis then outer = outer * n elseif d > x.axis then inner = inner * n end
  end
  return outer, x.shape[x.axis], inner
end

-- The indices of the element o, k, i.
local function place(x, outer, n, inner)
  local o, k, i = index.var("o", outer), index.var("k", n), index.var("i", inner)
  return index.unravel(index.ravel({ o, k, i }, { outer, n, inner }), x.shape)
end

-- A body that shares the tensors of another.
local function beside(kernel, first)
  local body = expression.new(kernel)
  if first then body.names, body.order, body.headers = first.names, first.order, first.headers end
  return body
end

local types_of_sums = { float32 = "float", float16 = "float", bfloat16 = "float", float64 = "double", int64 = "long long",
                        int32 = "int" }

--- See the README.
function M.generate(kernel, options)
  local x = kernel.roots[1]
  local outer, n, inner = sizes(x)
  local type = types_of_sums[x.dtype] or expression.refuse("no scan sums " .. x.dtype)
  local at = place(x, outer, n, inner)
  local load = beside(kernel)
  load:line("return %s;", load:value(x.inputs[1], at))
  local store = beside(kernel, load)
  store:store(x, at, "value")
  local parameters, nodes = load:parameters()
  local list = {}
  for word in parameters:gmatch "[^,]+" do list[#list + 1] = word:match "^%s*(.-)%s*$" end
  local made = scans.generate({ name = kernel.name, op = x.op, type = type, outer = outer, n = n, inner = inner,
    parameters = list, arguments = nodes, load = load:text(), store = store:text() }, options)
  made.headers = load.headers
  return made
end

return M

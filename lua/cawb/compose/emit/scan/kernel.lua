-- kernel: a running sum or product, with its prologue and epilogue, for the generator of scans.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local scans = require "cawb.compose.emit.scan.text"

local M = {}

local sums = { float32 = "float", float16 = "float", bfloat16 = "float", float64 = "double", int64 = "long long",
               int32 = "int" }

-- From the end: the k-th element of memory is that many from the end of the running sum.
local function counted(k, n, reverse) return reverse and index.plus(index.scale(k, -1), n - 1) or k end

-- The four neighbours from 4 t on.
local function four(n)
  local t, list = index.scale(index.var("t", n // 4), 4), {}
  for lane = 0, 3 do list[lane + 1] = index.plus(t, lane) end
  return list
end

local function describe(kernel, x, reverse)
  local outer, n, inner = accesses.around(x.shape, x.axis)
  local a = accesses.new(kernel, x)
  local d = { op = x.op, type = sums[x.dtype] or expression.refuse("no scan sums " .. x.dtype), outer = outer, n = n,
              inner = inner, reverse = reverse }
  local function at(k) return accesses.along(x.shape, x.axis, counted(k, n, reverse)) end
  local function root_at(k) return accesses.same_place(x, accesses.along(x.shape, x.axis, k)) end
  local k = index.var("k", n)
  d.load = a:value(x.inputs[1], at(k))
  d.store = a:write({ { x, at(k), "value" }, { x.inputs[1], at(k), "own" } }, root_at(k))
  if inner == 1 and n % 4 == 0 and n > 0 and (d.type == "float" or d.type == "int") then
    local list, known, roots = {}, {}, {}
    for lane, e in ipairs(four(n)) do
      list[lane], roots[lane] = at(e), root_at(e)
      known[2 * lane - 1] = { x, list[lane], ("v[%d]"):format(lane - 1) }
      known[2 * lane] = { x.inputs[1], list[lane], ("own[%d]"):format(lane - 1) }
    end
    local first = "const int t = k / 4;"
    d.load4, d.store4 = a:values(x.inputs[1], list, first), a:write(known, roots, first)
  end
  return a, d
end

--- See the README. The epilogue may reverse the axis: then the scan goes through memory from the end.
function M.generate(kernel, options)
  local x = accesses.anchor(kernel, { scan = true })
  accesses.alike(kernel, x)
  local made, why = expression.attempt(function()
    local a, d = describe(kernel, x, false)
    return a:finish(scans.generate(a:describe(d), options))
  end)
  if made then return made end
  local a, d = describe(kernel, x, true)
  return a:finish(scans.generate(a:describe(d), options), why)
end

return M

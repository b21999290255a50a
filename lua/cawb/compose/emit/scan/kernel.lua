-- kernel: a running sum or product, with its prologue and epilogue, for the generator of scans.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local scans = require "cawb.compose.emit.scan.text"

local M = {}

local sums = accesses.sums

-- From the end: the k-th element of memory is that many from the end of the running sum.
local function counted(k, n, reverse) return reverse and index.back(k, n) or k end

-- What is written of each element, and of four neighbours if there are packs of them: { known =, at = } as Accesses:write takes them.
local function writes(x, reverse)
  local _, n, inner = accesses.around(x.shape, x.axis)
  local function at(k) return accesses.along(x.shape, x.axis, counted(k, n, reverse)) end
  local function root_at(k) return accesses.same_place(x, accesses.along(x.shape, x.axis, k)) end
  local k, type = index.var("k", n), sums[x.dtype]
  local one, four = { known = { { x, at(k), "value" }, { x.inputs[1], at(k), "own" } }, at = { root_at(k) }, load = at(k) }, nil
  if inner == 1 and n % 4 == 0 and n > 0 and (type == "float" or type == "int") then
    four = { known = {}, at = {}, load = {} }
    for lane, e in ipairs(accesses.neighbours(n, 4)) do
      local i = at(e)
      four.load[lane], four.at[lane] = i, root_at(e)
      four.known[2 * lane - 1] = { x, i, ("v[%d]"):format(lane - 1) }
      four.known[2 * lane] = { x.inputs[1], i, ("own[%d]"):format(lane - 1) }
    end
  end
  return one, four
end

-- Refuses where the results cannot be written in this direction.
local function check(kernel, x, reverse)
  accesses.follow(kernel, x, writes(x, reverse))
  return { x = x, reverse = reverse }
end

-- The scan, and whether it goes through memory from the end because an epilogue reverses the axis; raises a refusal.
local function chosen(kernel)
  local x = accesses.anchor(kernel, { scan = true })
  if not sums[x.dtype] then expression.refuse("no scan sums " .. x.dtype) end
  return expression.attempt(check, kernel, x, false) or check(kernel, x, true)
end

function M.accepts(kernel) return expression.attempt(chosen, kernel) end

local FIRST = "const int t = k / 4;"

function M.generate(kernel, options, chip)
  local c = chosen(kernel)
  local x, one, four = c.x, writes(c.x, c.reverse)
  local a, outer, n, inner = accesses.new(kernel, x), accesses.around(x.shape, x.axis)
  local d = { op = x.op, type = sums[x.dtype], outer = outer, n = n, inner = inner, reverse = c.reverse, exclusive = x.exclusive }
  d.load, d.store = a:value(x.inputs[1], one.load), a:write(one)
  if four then d.load4, d.store4 = a:values(x.inputs[1], four.load, FIRST), a:write(four, FIRST) end
  return a:finish(scans.generate(a:describe(d), options, chip.sms))
end

return M

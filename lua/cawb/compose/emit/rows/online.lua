-- online: online softmax. In long rows the sum of exp(x - largest) is found in the same loop as the largest: when a larger element
-- comes, the sum is scaled. So a block loads the next row earlier: between a row's last element and its results there is only one
-- meeting.

local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local softmax = require "cawb.compose.ir.softmax"
local types = require "cawb.torch.types"

local M = {}

local function is_float(x) return types.register(x.dtype) == "float" end

-- Whether `sum` adds up exp(x - top) over the elements whose largest is `top`, in the same row.
local function follows(top, sum, inner, row)
  local e = sum.inputs[1]
  if top.op ~= "max" or sum.op ~= "sum" or e.stored or not (is_float(top.inputs[1]) and is_float(e) and is_float(sum)) then return false end
  return softmax.follows(top, sum, inner, index.unravel(row, top.shape))
end

--- The levels of a kernel, with online softmax: a sum that follows from a largest of the level before joins that level. It is in
--- `with`, { [largest] = sum }. A level whose reduces do not all join stays as it is.
function M.joined(levels, inner, row)
  local list, with = {}, {}
  for n, members in ipairs(levels) do
    local found, before = {}, list[#list] == levels[n - 1] and levels[n - 1] or {}
    for _, sum in ipairs(members) do
      for _, top in ipairs(before) do
        if not found[sum] and not with[top] and follows(top, sum, inner, row) then found[sum], with[top] = top, sum end
      end
    end
    if not lists.all(members, function(sum) return found[sum] end) then
      list[#list + 1] = members
      for _, top in pairs(found) do with[top] = nil end
    end
  end
  return list, with
end

--- Variables of a largest and its sum, on their way.
function M.begin(body, top, sum)
  local acc = { node = top, dtype = "float32", name = body:name "acc", base = body:name "base", less = softmax.is_exact(sum) and "__fsub_rn(%s, %s)" or "%s - %s" }
  acc.how = expression.joining("max", "float32")
  acc.how = { start = acc.how.start, join = function(a, b) return ("online_most(%s, %s)"):format(a, b) end }
  acc.sum = { dtype = "float32", name = body:name "acc", how = expression.joining("sum", "float32") }
  body:line("float %s = %s, %s = online_base(%s), %s = 0.0f;", acc.name, acc.how.start, acc.base, acc.how.start, acc.sum.name)
  return acc
end

--- Behind the largest of a step: sums move under a new base where it is above the old one. `into`: the largest so far and
--- the sum of this stretch. Returns what the step's exponentials are, of its `values`.
function M.step(body, acc, into, sum, values)
  body:open("if (!(%s <= %s)) {", into, acc.base)
  local high, less = body:name "high", body:name "less"
  body:line("const float %s = online_base(%s), %s = expf(%s - %s);", high, into, less, acc.base, high)
  body:line("%s *= %s;", sum, less)
  if sum ~= acc.sum.name then body:line("%s *= %s;", acc.sum.name, less) end
  body:line("%s = %s;", acc.base, high)
  body:close()
  return lists.map(values, function(value) return ("expf(%s)"):format(acc.less:format(value, acc.base)) end)
end

-- Which of the two places a join takes: not the one of the join before it, be that of the same row or of the last.
local function place(body, o)
  local n = body.online_joins or 0
  body.online_joins = n + 1
  if not o.stay then return tostring(n % 2) end
  return n % 2 == 1 and "turn ^ 1" or "turn"
end

--- One result for all lanes: C of the largest and of the sum.
function M.join(body, o, acc)
  local both, sum = body:name "both", body:name "all"
  body:line("const online %s = online_join<%d, %d>(online{ %s, %s }, %s);", both, o.cluster, o.threads, acc.name, acc.sum.name, place(body, o))
  body:line("const float %s = online_sum(%s);", sum, both)
  return both .. ".top", sum
end

return M

-- kernel: the places of a sort's or topk's elements, with an epilogue (their values, above all), for the generator of sorts.

local accesses = require "cawb.compose.emit.accesses"
local index = require "cawb.compose.ir.index"
local orders = require "cawb.compose.emit.order.text"
local types = require "cawb.torch.types"

local M = {}

--- See the README.
function M.generate(kernel, options)
  local x = accesses.anchor(kernel, { order = true })
  accesses.alike(kernel, x)
  local from = x.inputs[1]
  local outer, n, inner = accesses.around(from.shape, x.axis)
  local most = x.shape[x.axis]
  local a = accesses.new(kernel, x)
  local place = accesses.along(x.shape, x.axis, index.var("k", most))
  local d = { type = types.register(from.dtype), outer = outer, n = n, inner = inner, most = most, largest = x.largest }
  d.load = a:value(from, accesses.along(from.shape, x.axis, index.var("k", n)))
  d.store = a:write({ { x, place, "at" } }, accesses.same_place(x, place))
  return a:finish(orders.generate(a:describe(d), options))
end

return M

-- kernel: the places of a sort's or topk's elements, with an epilogue (their values, above all), for the generator of sorts.

local accesses = require "cawb.compose.emit.accesses"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local orders = require "cawb.compose.emit.order.text"
local types = require "cawb.torch.types"

local M = {}

-- The order, and what is written of its element k; raises a refusal.
local function chosen(kernel)
  local x = accesses.anchor(kernel, { order = true })
  local place = accesses.along(x.shape, x.axis, index.var("k", x.shape[x.axis]))
  local write = accesses.written(x, { place }, "at")
  accesses.follow(kernel, x, write)
  return { x = x, write = write }
end

function M.accepts(kernel) return expression.attempt(chosen, kernel) end

function M.generate(kernel, options)
  local c = chosen(kernel)
  local x, from = c.x, c.x.inputs[1]
  local outer, n, inner = accesses.around(from.shape, x.axis)
  local a = accesses.new(kernel, x)
  local d = { type = types.register(from.dtype), outer = outer, n = n, inner = inner, most = x.shape[x.axis], largest = x.largest }
  d.load = a:value(from, accesses.along(from.shape, x.axis, index.var("k", n)))
  d.store = a:write(c.write)
  return a:finish(orders.generate(a:describe(d), options))
end

return M

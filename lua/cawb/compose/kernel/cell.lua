-- cell: what follows from step to step in a recurrent layer, for the generator of the same name; where that does not serve,
-- by a block for each sequence (cell_block).

local accesses = require "cawb.compose.kernel.accesses"
local block = require "cawb.compose.kernel.cell_block"
local cells = require "cawb.compose.generate.cell"
local expression = require "cawb.compose.kernel.expression"
local index = require "cawb.compose.index"
local lanes = require "cawb.compose.kernel.lanes"

local M = {}

local function describe(kernel, x)
  local _, time, batch, hidden = table.unpack(x.shape)
  local a, n = accesses.new(kernel, x), x.gates * hidden
  local t, b, k, j = index.var("t", time), index.var("b", batch), index.var("k", hidden), index.var("j", hidden)
  local column = index.var("column", n)
  local d = { op = x.op, gates = x.gates, steps = time, batch = batch, hidden = hidden, reverse = x.reverse }
  d.share, d.weight = a:value(x.inputs[1], { t, b, column }), a:value(x.inputs[2], { k, column })
  d.bias, d.begin = a:value(x.inputs[3], { column }), a:value(x.inputs[4], { b, k })
  d.cell = x.inputs[5] and a:value(x.inputs[5], { b, k }) or "return 0.0f;"
  local known, places = {}, {}
  for part = 0, x.shape[1] - 1 do
    local at = { index.const(part), t, b, j }
    known[part + 1], places[part + 1] = { x, at, part == 0 and "next" or "c" }, accesses.same_place(x, at)
  end
  d.put = a:write(known, places)
  return a, d
end

local function persistent(kernel, x, chip, how)
  local a, d = describe(kernel, x)
  return a:finish(cells.generate(a:describe(d), chip, how))
end

--- See the README. `options`: blocks (that share a layer's units), sequences (of a group, at a time). `arch`, `sms`: of the device.
function M.generate(kernel, options, arch, sms)
  local x = kernel.roots[1]
  local chip = x.dtype == "float32" and sms and lanes.chip(arch)
  if not chip then return block.generate(kernel) end
  chip.sms = sms
  local made, why = expression.attempt(persistent, kernel, x, chip, options or {})
  if not made and options then expression.refuse(why) end
  return made or block.generate(kernel)
end

return M

-- cell: what follows from step to step in a recurrent layer, or in several that go on at the same time, for the generator of the
-- same name; where that does not serve, by a block for each sequence (cell_block).

local accesses = require "cawb.compose.kernel.accesses"
local block = require "cawb.compose.kernel.cell_block"
local cells = require "cawb.compose.generate.cell"
local expression = require "cawb.compose.kernel.expression"
local index = require "cawb.compose.index"
local lanes = require "cawb.compose.kernel.lanes"

local M = {}

-- The access functions of one cell, for a body of the kernel's that knows it alone.
local function functions(a, x)
  local _, time, batch, hidden = table.unpack(x.shape)
  local t, b, k, j = index.var("t", time), index.var("b", batch), index.var("k", hidden), index.var("j", hidden)
  local column, f = index.var("column", x.gates * hidden), {}
  f.share, f.weight = a:value(x.inputs[1], { t, b, column }), a:value(x.inputs[2], { k, column })
  f.bias, f.begin = a:value(x.inputs[3], { column }), a:value(x.inputs[4], { b, k })
  f.cell = x.inputs[5] and a:value(x.inputs[5], { b, k }) or "return 0.0f;"
  f.reverse = ("return %s;"):format(x.reverse and "true" or "false")
  local known, places = {}, {}
  for part = 0, x.shape[1] - 1 do
    local at = { index.const(part), t, b, j }
    known[part + 1], places[part + 1] = { x, at, part == 0 and "next" or "c" }, accesses.same_place(x, at)
  end
  f.put = a:write(known, places) .. "\nreturn;"
  return f
end

-- Those of all cells as one: cell z's.
local function describe(kernel)
  local x = kernel.roots[1]
  local a = accesses.new(kernel, x)
  local d = { op = x.op, cells = #kernel.roots, gates = x.gates, steps = x.shape[2], batch = x.shape[3], hidden = x.shape[4] }
  for z, root in ipairs(kernel.roots) do
    local own = accesses.new({ roots = { root }, members = {} }, root)
    own.names, own.order, own.headers = a.names, a.order, a.headers
    for name, text in pairs(functions(own, root)) do
      d[name] = (d[name] or "") .. (z < d.cells and ("if (z == %d) {\n%s\n}\n"):format(z - 1, text) or text)
    end
  end
  return a, d
end

local function persistent(kernel, chip, how)
  local a, d = describe(kernel)
  return a:finish(cells.generate(a:describe(d), chip, how))
end

--- See the README. `options`: blocks (that share a layer's units), sequences (of a group, at a time). `arch`, `sms`: of the device.
function M.generate(kernel, options, arch, sms)
  local x = kernel.roots[1]
  local chip = x.dtype == "float32" and sms and lanes.chip(arch)
  if not chip then return block.generate(kernel) end
  chip.sms = sms
  local made, why = expression.attempt(persistent, kernel, chip, options or {})
  if not made and options then expression.refuse(why) end
  if made then return made end
  made = block.generate(kernel)
  made.how = ("a block for each sequence reads all weights in each step: %s"):format(why)
  return made
end

return M

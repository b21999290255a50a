-- kernel: the steps of a recurrent layer, or of several layers at the same time, for the generator of the same name. If that cannot
-- make them, a block for each sequence does.

local accesses = require "cawb.compose.emit.accesses"
local cells = require "cawb.compose.emit.cell.text"
local expression = require "cawb.compose.emit.expression"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local template = require "cawb.compose.emit.template"
local waves = require "cawb.compose.emit.cell.wave"

local M = {}

-- The access functions of one cell, for a body that knows this cell alone; `reads_share`: also that of its inputs' contribution.
local function functions(a, x, reads_share)
  local _, time, batch, hidden = table.unpack(x.shape)
  local t, b, k, j = index.var("t", time), index.var("b", batch), index.var("k", hidden), index.var("j", hidden)
  local column, f = index.var("column", x.gates * hidden), {}
  f.share = reads_share and a:value(x.inputs[1], { t, b, column }) or nil
  f.weight = a:value(x.inputs[2], { k, column })
  f.bias, f.begin = a:value(x.inputs[3], { column }), a:value(x.inputs[4], { b, k })
  f.cell = x.op == "lstm" and a:value(x.inputs[5], { b, k }) or "return 0.0f;"
  f.reverse = ("return %s;"):format(x.reverse and "true" or "false")
  local parts = lists.times(x.shape[1], function(part) return { index.const(part - 1), t, b, j } end)
  local known = lists.map(parts, function(at, part) return { x, at, part == 1 and "next" or "c" } end)
  local places = lists.map(parts, function(at) return accesses.same_place(x, at) end)
  f.put = a:write { known = known, at = places } .. "\nreturn;"
  return f
end

-- The weights by which the layer below adds to a cell's gates.
local function of_below(a, x)
  local k, column = index.var("k", x.shape[4]), index.var("column", x.gates * x.shape[4])
  return { input = a:value(x.below.weight, { column, k }), input_bias = a:value(x.below.bias, { column }) }
end

-- One cell's functions as a case of those of all: cell z's.
local function add(d, z, list)
  for name, text in pairs(list) do
    d[name] = (d[name] or "") .. (z < d.cells and ("if (z == %d) {\n%s\n}\n"):format(z - 1, text) or text)
  end
end

local function sizes(kernel)
  local x, n = kernel.roots[1], #kernel.roots
  return { op = x.op, cells = n, layers = n, gates = x.gates, steps = x.shape[2], batch = x.shape[3], hidden = x.shape[4] }
end

-- Those of all cells as one.
local function describe(kernel)
  local d = sizes(kernel)
  local a = accesses.new(kernel, kernel.roots[1])
  for z, root in ipairs(kernel.roots) do
    local own = accesses.new({ roots = { root }, members = {} }, root)
    own.names, own.order, own.headers = a.names, a.order, a.headers
    local f = functions(own, root, z == 1 or not kernel.wave)
    if kernel.wave then d.share, f.share = d.share or f.share, nil end
    add(d, z, f)
    if kernel.wave and z > 1 then add(d, z, of_below(own, root)) end
  end
  return a, d
end

--- Seconds that a cell, or layers at the same time, should take with weights in registers; nil if these do not fit. `options`
--- as those of choose.generate.
function M.estimate(kernel, options)
  local chip, how = options.chip, options.kernels and options.kernels(kernel) or {}
  if kernel.roots[1].dtype ~= "float32" then return nil end
  local d = sizes(kernel)
  local h = kernel.wave and waves.divide(d, chip, how) or not kernel.wave and cells.divide(d, chip, how)
  return h and (kernel.wave and h.seconds or waves.apart(d, h, chip)) or nil
end

-- The steps by a block for each sequence, where the device has too few registers for the weights.
local block = {}

function block.made(d)
  local h = { THREADS = math.min(512, (d.hidden + 31) // 32 * 32) }
  cells.sizes(d, h)
  return { text = cells.fill(d, "cell/cell_block", h), launches = { template.launch(d, "", d.batch, h.THREADS) } }
end

-- Why that cannot be.
local function unfit(kernel)
  local x, hidden = kernel.roots[1], kernel.roots[1].shape[4]
  if #kernel.roots > 1 then return "a block has one sequence of one layer" end
  if x.dtype ~= "float32" then return "recurrent cells of " .. x.dtype end
  return hidden > 4000 and ("a state of %d does not fit a block"):format(hidden) or nil
end

-- The generator that makes a kernel, how it divides it, and why it is not the first one; raises a refusal. `how`: blocks (that share a layer's units), sequences
-- (of a group, at a time).
local function chosen(kernel, how, chip)
  local why
  if kernel.roots[1].dtype == "float32" then
    local by, h = kernel.wave and waves or cells, nil
    h, why = by.divide(sizes(kernel), chip, how or {})
    if h then return { by = by, h = h } end
    if kernel.wave or how then expression.refuse(why) end
  end
  local other = unfit(kernel)
  if other then expression.refuse(other) end
  return { by = block, why = why }
end

local function make(kernel, c)
  local a, d = describe(kernel)
  local made = c.by.made(a:describe(d), c.h)
  if c.why then made.how = ("a block for each sequence reads all weights in each step: %s"):format(c.why) end
  return a:finish(made)
end

return expression.family(M, chosen, make)

-- levels: a lowering at each of its levels, as lines: the graph that is computed, the kernels, the schedule, the text.

local graphs = require "cawb.compose.ir.graph"
local core = require "cawb.core"
local display = require "cawb.base.display"
local keys = require "cawb.compose.ir.keys"
local kernels = require "cawb.compose.schedule.kernels"
local lists = require "cawb.base.lists"
local schedule = require "cawb.compose.schedule.schedule"
local show = require "cawb.compose.plan.show"
local store = require "cawb.compose.ir.store"
local trees = require "cawb.compose.ir.tree.text"
local views = require "cawb.compose.ir.view"

local M = {}

local WIDTH = 100                     -- of a node's value

local function named(nodes) return table.concat(lists.map(nodes, function(x) return "%" .. x.id end), " ") end

-- The number that a node is everywhere, as text; nil where it is none.
local function constant(x)
  while views.plain(x) do x = x.inputs[1] end
  return x.source == "fill" and tostring(x.value) or nil
end

local function type_of(x) return ("%s[%s]"):format(x.dtype, table.concat(x.shape, ", ")) end

-- ---- what a node is, by its kind

local values = {}

function values.leaf(x)
  return constant(x) or x.source == "const" and "{ " .. table.concat(x.values, ", ") .. " }" or x.source
end

-- The tree of a map with its operands: their numbers, or the constants that they are.
function values.map(x)
  return (trees.write(x.expression):gsub("%f[%w_]%u%f[^%w_(]", function(letter)
    local input = x.inputs[letter:byte() - 64]
    return input and (constant(input) or "%" .. input.id)
  end))
end

function values.view(x)
  local text = store.view(x)
  for _, input in ipairs(x.inputs) do
    local number = constant(input)
    if number then text = text:gsub("%%" .. input.id .. "%b[]", number) end
  end
  return text
end

local function axes_of(x)
  local list = lists.filter(lists.times(#x.inputs[1].shape, function(d) return d end), function(d) return x.axes[d] end)
  return (#list > 1 and "dimensions " or "dimension ") .. table.concat(list, ", ")
end

function values.reduce(x) return ("%s of %%%d along %s"):format(x.op, x.inputs[1].id, axes_of(x)) end

function values.scan(x) return ("%s of %%%d so far along dimension %d%s"):format(x.op, x.inputs[1].id, x.axis, x.exclusive and ", itself left out" or "") end

function values.pick(x) return ("%%%d at %%%d along dimension %d"):format(x.inputs[1].id, x.inputs[2].id, x.axis) end

function values.order(x) return ("places of %%%d sorted along dimension %d%s"):format(x.inputs[1].id, x.axis, x.largest and ", the largest first" or "") end

local function biased(x) return x.inputs[3] and " + %" .. x.inputs[3].id or "" end

function values.product(x) return ("%%%d x %%%d%s"):format(x.inputs[1].id, x.inputs[2].id, biased(x)) end

function values.conv(x)
  local words = lists.map({ "stride", "padding", "dilation", "groups" }, function(name)
    local value = x.conv[name]
    return ("%s %s"):format(name, type(value) == "table" and table.concat(value, " ") or value)
  end)
  return ("%%%d * %%%d%s, %s%s"):format(x.inputs[1].id, x.inputs[2].id, biased(x), table.concat(words, ", "), x.conv.transposed and ", transposed" or "")
end

local function value_of(x)
  local write = values[x.kind]
  return write and write(x) or ("%s %s"):format(x.op or "of", named(x.inputs))
end

local function source(from)
  if not from then return "" end
  return from.line and ("%s, %s"):format(from.name, graphs.place(from)) or from.name
end

local function outputs_of(g)
  local number = {}
  for k, x in ipairs(g.outputs) do number[x] = number[x] and number[x] .. " " .. k or tostring(k) end
  return number
end

local function readers(x, outputs)
  local words = named(x.users)
  return outputs[x] and ("output %s %s"):format(outputs[x], words) or words
end

--- A line for each node that is no constant: its number, kind, type, value, readers and operator. In front: the rewrites that led to it.
function M.graph(made)
  local g, rows = made.graph, {}
  local outputs = outputs_of(g)
  for _, x in ipairs(g.nodes) do
    if outputs[x] or not constant(x) then
      rows[#rows + 1] = { "%" .. x.id, x.kind, type_of(x), display.shorten(value_of(x), WIDTH), readers(x, outputs), source(x.from) }
    end
  end
  return lists.joined(show.rewritten(made.rewrites), display.table({ "node", "kind", "type", "value", "read by", "operator" }, rows))
end

-- ---- kernels

local function family(kernel)
  if kernel.call then return kernel.kind == "conv" and "library: conv{}" or "library: gemm{}" end
  return kernel.as and "as " .. kernel.as or kernel.by
end

-- Launches of a kernel: grids, blocks and bytes of shared memory.
local function launches(kernel)
  local words = {}
  for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
    if launch.kernel then
      local text = ("%s x %s"):format(table.concat(launch.grid, "*"), table.concat(launch.block, "*"))
      if launch.shared and launch.shared > 0 then text = ("%s, %d kB"):format(text, launch.shared // 1024) end
      if launch.cluster then text = ("%s, clusters of %s"):format(text, table.concat(launch.cluster, "*")) end
      words[#words + 1] = launch.prepare and text .. ", once" or text
    end
  end
  return table.concat(words, "; ")
end

local function options_of(made, kernel)
  local own = made.schedule.kernels and made.schedule.kernels[schedule.key(kernel)] or {}
  local words = lists.map(keys(own), function(name) return ("%s=%s"):format(name, own[name]) end)
  if kernel.made and kernel.made.how then table.insert(words, 1, kernel.made.how) end
  return table.concat(words, ", ")
end

local function inner(kernel)
  local stored = lists.set(kernel.roots)
  return lists.filter(kernel.members, function(x) return not stored[x] end)
end

--- A line for each kernel: its name in schedules, its family, the nodes that it stores, computes on the way and reads, its launches as
--- blocks x threads, and how it goes about it.
function M.kernels(made)
  local rows = lists.map(made.kernels, function(kernel)
    return { schedule.key(kernel), kernel.name, family(kernel), named(kernel.roots), named(inner(kernel)), named(kernels.loads(kernel)), launches(kernel),
             options_of(made, kernel) }
  end)
  return display.table({ "key", "kernel", "family", "stores", "computes", "reads", "blocks x threads", "how" }, rows)
end

--- The schedule as text, and the fusions that it may cut.
function M.schedule(made)
  local lines = { schedule.text(made.schedule) }
  for _, edit in ipairs(schedule.legal(made)) do
    if edit.cut or edit.skip or edit.no_partial_sums then
      local name = edit.cut and "cuts" or edit.skip and "skip" or "no_partial_sums"
      lines[#lines + 1] = ("-- %s may have %s"):format(name, core.json.encode(edit.cut or edit.skip or edit.no_partial_sums))
    end
  end
  return lines
end

function M.text(made)
  local lines = {}
  for line in (made.source .. "\n// ---- plan.lua\n\n" .. made.plan):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

--- The names of the levels, in the order of a lowering.
M.names = { "graph", "kernels", "schedule", "text" }

return M

-- wave: layers of a recurrent net above one another become one kernel where that should be faster. A step of a layer waits only for
-- the same step of the layer below. The product of a layer's input weights with the layer below is then a part of the kernel.

local cell = require "cawb.compose.emit.cell.kernel"
local graphs = require "cawb.compose.ir.graph"
local partition = require "cawb.compose.schedule.partition"

local M = {}

local function alike(x, y) return x.op == y.op and x.dtype == y.dtype and graphs.same(x.shape, y.shape) end

-- The kernels of layers, each list from the lowest on.
local function chains(kernels, choice)
  local lists, of = {}, {}
  for _, k in ipairs(kernels) do
    local x = k.kind == "cell" and #k.roots == 1 and k.roots[1]
    local list = x and x.below and of[x.below.cell]
    if x and list and alike(x, x.below.cell) and #x.below.weight.shape == 2 and choice(list[#list], k) then
      list[#list + 1], of[x] = k, list
    elseif x then
      of[x] = { k }
      lists[#lists + 1] = of[x]
    end
  end
  return lists
end

local function together(list, first, last)
  local roots = {}
  for l = first, last do roots[#roots + 1] = list[l].roots[1] end
  return { kind = "cell", wave = #roots > 1 or nil, roots = roots, members = {} }
end

-- The fastest grouping of layers: for each number of layers, how many of the last ones run at the same time.
local function fastest(list, options)
  local best, many = { [0] = 0 }, {}
  for last = 1, #list do
    for n = 1, last do
      local time = cell.estimate(together(list, last - n + 1, last), options)
      if time and (not best[last] or best[last - n] + time < best[last]) then best[last], many[last] = best[last - n] + time, n end
    end
    if not best[last] then return nil end
  end
  return many
end

-- From here on a layer computes its product with the layer below by itself; nobody reads the separate product.
local function settle(both)
  for l = 2, #both.roots do
    local x = both.roots[l]
    x.inputs = { x.below.weight, table.unpack(x.inputs, 2) }
    x.inputs[#x.inputs + 1] = x.below.bias
  end
end

local function replaced(kernels, list, first, last, both)
  local gone, all = {}, {}
  for l = first, last do gone[list[l]] = true end
  for _, k in ipairs(kernels) do
    if k == list[last] then all[#all + 1] = both elseif not gone[k] then all[#all + 1] = k end
  end
  return all
end

-- Without kernels that nobody reads.
local function needed(kernels)
  local wanted, again, list = {}, false, {}
  for _, k in ipairs(kernels) do
    for _, x in ipairs(partition.reads(k)) do wanted[x] = true end
  end
  for _, k in ipairs(kernels) do
    local is_read = false
    for _, x in ipairs(k.roots) do is_read = is_read or wanted[x] or x.is_output ~= nil end
    if is_read then list[#list + 1] = k else again = true end
  end
  return again and needed(list) or list
end

local function join(kernels, list, options)
  local many, last = fastest(list, options), #list
  while many and last > 0 do
    local first = last - many[last] + 1
    local both = first < last and together(list, first, last)
    if both and cell.accepts(both, nil, options.chip) then
      settle(both)
      kernels = replaced(kernels, list, first, last, both)
    end
    last = first - 1
  end
  return kernels
end

--- The kernels, with such layers joined, in order; `options` as those of generators.generate, `choice(a, b)`: may layer b go on with layer a below?
function M.join(kernels, options, choice)
  local all = kernels
  for _, list in ipairs(chains(kernels, choice)) do
    if #list > 1 then all = join(all, list, options) end
  end
  return all == kernels and kernels or partition.ordered(needed(all))
end

return M

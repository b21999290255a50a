-- show: what a task became, as a table: a line for each kernel and library call, with what it computes
-- and the bytes that it reads and writes at least.

local display = require "cawb.base.display"
local graphs = require "cawb.compose.graph"
local plan = require "cawb.compose.plan"
local types = require "cawb.graph.types"

local M = {}

local units = { { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" } }

local function readable(bytes)
  for _, unit in ipairs(units) do
    if bytes >= unit[1] then return ("%.3g %s"):format(bytes / unit[1], unit[2]) end
  end
  return bytes .. " B"
end

local function size(x) return graphs.numel(x.shape) * types.size(x.dtype) end

-- Leaves and stored nodes that a kernel begins with.
local function begins(kernel)
  local found, seen = {}, {}
  local function visit(x)
    if seen[x] then return end
    seen[x] = true
    local in_memory = x.kind == "leaf" and x.source:find ":" or x.stored and not kernel.own[x]
    if in_memory then found[#found + 1] = x else
      for _, input in ipairs(x.inputs) do visit(input) end
    end
  end
  for _, list in ipairs { kernel.roots, kernel.members } do
    for _, x in ipairs(list) do visit(x) end
  end
  return found
end

local function bytes(kernel)
  local sum = 0
  for _, x in ipairs(begins(kernel)) do sum = sum + size(x) end
  for _, x in ipairs(kernel.roots) do sum = sum + size(x) end
  return sum
end

local function shape(kernel)
  local words = {}
  for k, x in ipairs(kernel.roots) do words[k] = "[" .. table.concat(x.shape, ", ") .. "]" end
  return table.concat(words, " ")
end

--- The lines of the table, for what compose made of a task.
function M.lines(made)
  local rows = {}
  for k, kernel in ipairs(made.kernels) do
    local what = kernel.call and (kernel.kind == "conv" and "conv{}" or "gemm{}") or kernel.kind
    rows[k] = { tostring(k), what, display.shorten(plan.about(kernel), 70), display.shorten(shape(kernel), 40),
                readable(bytes(kernel)) }
  end
  return display.table({ "step", "kind", "computes", "writes", "bytes" }, rows)
end

return M

-- graphs: what a task computes, as a text without names and sizes: two tasks with the same text differ
-- in their sizes at most.

local core = require "cawb.core"
local tasks = require "cawb.judge.task.task"

local M = {}

-- Arguments that change what is computed; sizes and numbers do not count.
local function words_of(args)
  local list = {}
  for name, value in pairs(args or {}) do
    if type(value) == "string" or type(value) == "boolean" then list[#list + 1] = ("%s=%s"):format(name, tostring(value)) end
  end
  table.sort(list)
  return list
end

local function writer(by_number)
  local seen, counts = {}, {}
  local write

  -- Inputs and parameters are numbered as they are met, by their kind.
  local function leaf(source)
    if not seen[source] then
      local kind = source:match "^(%a+):" or source
      counts[kind] = (counts[kind] or 0) + 1
      seen[source] = kind .. counts[kind]
    end
    return seen[source]
  end

  function write(source)
    local op = by_number[math.tointeger(tonumber(source:match "^op:(%d+)$"))]
    if not op then return leaf(source) end
    if seen[source] then return seen[source] end
    counts.op = (counts.op or 0) + 1
    seen[source] = "#" .. counts.op
    local parts = words_of(op.args)
    for _, input in ipairs(op.inputs) do parts[#parts + 1] = write(input.source) end
    return ("%s(%s)"):format(op.name, table.concat(parts, ","))
  end
  return write
end

--- The text of a graph without views; `results` are what made the outputs.
function M.text(graph, results)
  local by_number, parts = {}, {}
  for _, op in ipairs(graph) do by_number[op.number] = op end
  local write = writer(by_number)
  for i, result in ipairs(results) do parts[i] = write(result.source) end
  return table.concat(parts, ";")
end

--- A task's graph as it was sketched: { ops = without views, text =, key = its hash }.
function M.of(sketch)
  local ops, results = tasks.without_views(sketch.graph, sketch.sources)
  local text = M.text(ops, results)
  return { ops = ops, text = text, key = core.hash.sha256(text):sub(1, 16) }
end

return M

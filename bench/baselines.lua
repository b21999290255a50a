-- cawb bench/baselines.lua FOLDER RECORDED [DEVICE]: PyTorch's times as graph/modelled.lua has
-- them, against what was measured on a GPU. FOLDER/dev.jsonl holds KernelBench's tasks, one a
-- line, RECORDED what they took: { level, problem_id, eager_ms, compile_ms }. Memory-bound are
-- those without products and convolutions.

local core = require "cawb.core"
local baseline_model = require "cawb.graph.modelled"
local cawb = require "cawb"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
local task = require "cawb.task.task"
local traits = require "cawb.graph.traits"

local folder, recorded, name = ...
assert(recorded, "usage: cawb bench/baselines.lua FOLDER RECORDED [DEVICE]")
local device <close> = assert(cawb.device(name or "sim:h100"))
local host, hello = python.start(120.0)
if not host then error(hello, 0) end
local path = os.tmpname()

local function id(entry) return ("%d/%d"):format(entry.level, entry.problem_id) end

local measured = {}
for line in io.lines(recorded) do
  local entry = core.json.decode((line:gsub(": NaN", ": null"):gsub(": %-?Infinity", ": null")))   -- Python's
  if entry and entry.problem_id and entry.level then measured[id(entry)] = entry end
end

local function sketch(code)
  local f = assert(io.open(path, "wb"))
  f:write(code)
  f:close()
  return host:call({ op = "sketch", path = path, overrides = {}, init_seed = 42 }, { timeout = 120.0 })
end

local function is_bound_by_memory(graph)
  for _, op in ipairs(graph) do
    if traits.of(op, "products") then return false end
  end
  return true
end

local function quantile(list, q)
  table.sort(list)
  return list[math.max(1, math.ceil(q * #list))] or 0 / 0
end

local rows, errors = {}, { eager = {}, compile = {} }
local all = { eager = {}, compile = {} }
for line in io.lines(folder .. "/dev.jsonl") do
  local entry = core.json.decode(line)
  local m = measured[id(entry)]
  local s = m and sketch(entry.code)
  if s then
    local graph = task.without_views(s.graph)
    local bound, times = is_bound_by_memory(graph), baseline_model.times(graph, device.info.rates)
    local row = { id(entry) .. " " .. entry.name:sub(1, 40), bound and "memory" or "" }
    for _, kind in ipairs { "eager", "compile" } do
      local was, is = m[kind .. "_ms"], times[kind]
      local ratio = was and is and is * 1e3 / was
      if ratio then
        table.insert(all[kind], math.abs(ratio - 1))
        if bound then table.insert(errors[kind], math.abs(ratio - 1)) end
      end
      table.move({ was and ("%.4g"):format(was) or "-", is and ("%.4g"):format(is * 1e3) or "-",
        ratio and ("%.2f"):format(ratio) or "-" }, 1, 3, #row + 1, row)
    end
    rows[#rows + 1] = row
  end
end
os.remove(path)
host:close()
for _, line in ipairs(display.table({ "task", "", "eager, ms", "modelled", "ratio", "compile, ms", "modelled", "ratio" }, rows)) do
  print(line)
end
print(("\nmemory-bound: eager %d tasks, median error %.1f%%, 90%% of them within %.1f%%; compile %d, %.1f%%, %.1f%%")
  :format(#errors.eager, 100 * quantile(errors.eager, 0.5), 100 * quantile(errors.eager, 0.9), #errors.compile,
    100 * quantile(errors.compile, 0.5), 100 * quantile(errors.compile, 0.9)))
print(("all: eager %d tasks, median error %.1f%%, 90%% within %.1f%%; compile %d, %.1f%%, %.1f%%"):format(#all.eager,
  100 * quantile(all.eager, 0.5), 100 * quantile(all.eager, 0.9), #all.compile,
  100 * quantile(all.compile, 0.5), 100 * quantile(all.compile, 0.9)))

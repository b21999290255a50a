-- cawb bench/torch/baselines.lua FOLDER RECORDED [DEVICE] [REPORT]: PyTorch's times as graph/modelled.lua has
-- them, against what was measured on a GPU. FOLDER/dev.jsonl holds KernelBench's tasks, one a
-- line, RECORDED what they took: { level, problem_id, eager_ms, compile_ms }, or a suite's report in Markdown, whose
-- candidates' times and speed-ups say it to three digits. Memory-bound are
-- those without products and convolutions. The model's constants are fitted to every second task
-- (problem ids 1, 5, 9, ...); what is said of the others is what it is worth. REPORT is a suite's report in Markdown,
-- of candidates measured on the same kind of GPU: is a candidate by 5% faster, slower, or neither than the
-- better of eager and compile, by their measured times and by their modelled ones?

local core = require "cawb.core"
local baseline_model = require "cawb.torch.modelled"
local cawb = require "cawb"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"
local display = require "cawb.base.display"
local task = require "cawb.judge.task.task"
local traits = require "cawb.torch.traits"

local folder, recorded, name, report = ...
assert(recorded, "usage: cawb bench/torch/baselines.lua FOLDER RECORDED [DEVICE] [REPORT]")
local device <close> = assert(cawb.device(name or "sim:h100"))
local host, hello = python.start(120.0)
if not host then error(hello, 0) end
local path = os.tmpname()

local function id(entry) return ("%d/%d"):format(entry.level, entry.problem_id) end

local scale = { us = 1e-3, ms = 1, s = 1e3, ns = 1e-6 }

-- What a line of RECORDED says of a task, or nil.
local function entry_of(line)
  if not recorded:match "%.md$" then return core.json.decode((line:gsub(": NaN", ": null"):gsub(": %-?Infinity", ": null"))) end   -- Python's
  local level, number, value, unit, eager, compiled =
    line:match "^| (%d)/(%d+)_%S+ | [^|]*| [^|]*| ([%d.e+]+) ?%[?[^%]|]*%]? ?(%a+) | ([%d.]+)x[^|]*| ([%d.]+)x"
  local ms = level and scale[unit] and tonumber(value) * scale[unit]
  return ms and { level = math.tointeger(level), problem_id = math.tointeger(number), eager_ms = ms * eager, compile_ms = ms * compiled }
end

local measured = {}
for line in io.lines(recorded) do
  local entry = entry_of(line)
  if entry and entry.problem_id and entry.level then measured[id(entry)] = entry end
end

local function sketch(code)
  local f = assert(io.open(path, "wb"))
  f:write(code)
  f:close()
  return host:call({ op = "sketch", path = path, overrides = {}, init_seed = 42 }, { timeout = 600.0 })
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

-- ---- what it is worth

-- { task = ms } of what a report says of candidates that passed.
local function candidates(path)
  local found = {}
  for line in io.lines(path) do
    local task_id, value, unit = line:match "^| (%d/%d+)_%S+ | [^|]*| [^|]*| ([%d.e+]+) ?%[?[^%]|]*%]? ?(%a+) |"
    if task_id and scale[unit] then found[task_id] = tonumber(value) * scale[unit] end
  end
  return found
end

local function ranks(list)
  local order, rank = {}, {}
  for i in ipairs(list) do order[i] = i end
  table.sort(order, function(a, b) return list[a] < list[b] end)
  for r, i in ipairs(order) do rank[i] = r end
  return rank
end

-- Spearman's, without ties.
local function rank_correlation(pairs_)
  local a, b, n, sum = {}, {}, #pairs_, 0
  for i, p in ipairs(pairs_) do a[i], b[i] = p[1], p[2] end
  a, b = ranks(a), ranks(b)
  for i = 1, n do sum = sum + (a[i] - b[i]) ^ 2 end
  return 1 - 6 * sum / (n * (n * n - 1))
end

local function sign(speedup) return speedup >= 1 + stats.margin and "faster" or speedup <= 1 / (1 + stats.margin) and "slower" or "same" end

-- One line on a list of { measured, modelled }.
local function worth(label, pairs_)
  local ratios, off = {}, {}
  for i, p in ipairs(pairs_) do ratios[i], off[i] = p[2] / p[1], math.abs(math.log(p[2] / p[1])) end
  print(("%-38s %3d tasks   bias %5.2fx   median error %4.1f%%   90%% within %4.1f%%   rank correlation %.3f"):format(label,
    #pairs_, quantile(ratios, 0.5), 100 * (math.exp(quantile(off, 0.5)) - 1), 100 * (math.exp(quantile(off, 0.9)) - 1),
    rank_correlation(pairs_)))
end

local function agreement(label, list)
  local same, opposite = 0, 0
  for _, e in ipairs(list) do
    local was, is = sign(math.min(e.eager[1], e.compile[1]) / e.candidate), sign(math.min(e.eager[2], e.compile[2]) / e.candidate)
    if was == is then same = same + 1 elseif was ~= "same" and is ~= "same" then opposite = opposite + 1 end
  end
  print(("%-38s %3d tasks   the same of faster, slower, neither by 5%%: %d, %.0f%%   faster against slower: %.0f%%"):format(label, #list,
    same, 100 * same / math.max(1, #list), 100 * opposite / math.max(1, #list)))
end

local ran = report and candidates(report) or {}
local halves, together = { { "fitted to", {} }, { "not fitted to", {} } }, { "together", {} }
local rows, errors = {}, { eager = {}, compile = {} }
local all = { eager = {}, compile = {} }
for line in io.lines(folder .. "/dev.jsonl") do
  local entry = core.json.decode(line)
  local m = measured[id(entry)]
  local s, why
  if m then s, why = sketch(entry.code) end
  if m and not s then print(("left out: %s: %s"):format(id(entry), why)) end
  if s then
    local graph = task.without_views(s.graph)
    local bound, times = is_bound_by_memory(graph), baseline_model.times(graph, device.info.rates, device.info.sms, s.memory)
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
    if m.eager_ms and m.compile_ms and times.eager then
      table.insert(halves[entry.problem_id // 2 % 2 + 1][2], { candidate = ran[id(entry)],
        eager = { m.eager_ms, times.eager * 1e3 }, compile = { m.compile_ms, times.compile * 1e3 } })
    end
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

print()
for _, half in ipairs(halves) do table.move(half[2], 1, #half[2], #together[2] + 1, together[2]) end
for _, half in ipairs { halves[1], halves[2], together } do
  local label, list = table.unpack(half)
  local of, judged = { eager = {}, compile = {}, better = {} }, {}
  for _, e in ipairs(list) do
    table.insert(of.eager, e.eager)
    table.insert(of.compile, e.compile)
    table.insert(of.better, { math.min(e.eager[1], e.compile[1]), math.min(e.eager[2], e.compile[2]) })
    if e.candidate then judged[#judged + 1] = e end
  end
  for _, kind in ipairs { "eager", "compile", "better" } do
    worth(("%s: %s"):format(label, kind == "better" and "the better of both" or kind), of[kind])
  end
  if #judged > 0 then agreement(label .. ": measured candidates", judged) end
end

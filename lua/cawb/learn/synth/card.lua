-- card: what can be said of a set: the table of rejections, and the data card, which is Markdown.

local confirm = require "cawb.learn.synth.confirm"
local display = require "cawb.base.display"
local file = require "cawb.base.file"
local filters = require "cawb.learn.synth.filters"
local processor = require "cawb.base.processor"
local shell = require "cawb.base.shell"

local M = {}

local function percent(n, of) return of > 0 and ("%.1f%%"):format(100 * n / of) or "-" end

-- { key = how often }, and the keys, the most frequent first.
local function tally(rows, key_of)
  local counts, keys = {}, {}
  for _, row in ipairs(rows) do
    local found = key_of(row)
    for _, key in ipairs(type(found) == "table" and found or { found }) do
      if not counts[key] then keys[#keys + 1] = key end
      counts[key] = (counts[key] or 0) + 1
    end
  end
  table.sort(keys, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and tostring(a) < tostring(b) end)
  return counts, keys
end

--- Rows by status, kept ones apart: kept, { status = count }, all.
function M.counts(rows)
  local kept = {}
  for _, row in ipairs(rows) do if row.status == "kept" then kept[#kept + 1] = row end end
  return kept, (tally(rows, function(row) return row.status end)), #rows
end

local function generator_of(row) return row.data.generator or "compose" end

-- Rows of the table: filter, one column for each generator, what the filter means.
local function rejection_rows(rows)
  local _, generators = tally(rows, generator_of)
  table.sort(generators)
  local by = {}
  for _, g in ipairs(generators) do
    by[g] = tally(rows, function(row) return generator_of(row) == g and row.status or {} end)
  end
  local list = {}
  local function add(status, meaning)
    local cells = { status }
    for _, g in ipairs(generators) do
      local all = 0
      for _, n in pairs(by[g]) do all = all + n end
      local n = by[g][status] or 0
      cells[#cells + 1] = ("%d (%s)"):format(n, percent(n, all))
    end
    cells[#cells + 1] = meaning
    list[#list + 1] = cells
  end
  for _, filter in ipairs(filters.order) do add(filter[1], filter[2]) end
  add("kept", "passed all")
  local headings = { "draws rejected" }
  for _, g in ipairs(generators) do headings[#headings + 1] = g end
  if #generators == 0 then headings[2] = "draws" end
  headings[#headings + 1] = "because"
  return headings, list
end

--- The table of rejections as lines for a screen.
function M.table(rows) return display.table(rejection_rows(rows)) end

local function markdown(headings, list)
  local lines = { "| " .. table.concat(headings, " | ") .. " |", "|" .. ("---|"):rep(#headings) }
  for _, cells in ipairs(list) do lines[#lines + 1] = "| " .. table.concat(cells, " | "):gsub("\n", " ") .. " |" end
  return lines
end

local function quantiles(values)
  table.sort(values)
  local cells = {}
  for i, q in ipairs { 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1 } do
    local v = values[math.max(1, math.ceil(q * #values))]
    cells[i] = v and ("%.3g"):format(v) or "-"
  end
  return cells
end

local function counted(rows, key_of, most)
  local counts, keys = tally(rows, key_of)
  local list = {}
  for i = 1, math.min(most or #keys, #keys) do
    list[i] = { tostring(keys[i]), ("%d"):format(counts[keys[i]]), percent(counts[keys[i]], #rows) }
  end
  return list, #keys
end

local function numbers_of(kept)
  local list = {}
  local function add(name, value_of, factor)
    local values = {}
    for _, row in ipairs(kept) do
      local v = value_of(row.data)
      if v then values[#values + 1] = v * (factor or 1) end
    end
    if #values > 0 then list[#list + 1] = { name, table.unpack(quantiles(values)) } end
  end
  add("eager PyTorch, modelled, ms", function(d) return d.eager_modelled_s end, 1e3)
  add("torch.compile, modelled, ms", function(d) return d.compile_modelled_s end, 1e3)
  add("time drawn, ms", function(d) return d.target_s end, 1e3)
  add("inputs, parameters and outputs, GB", function(d) return d.bytes end, 1e-9)
  add("operations, GFLOP", function(d) return d.flops end, 1e-9)
  add("batch", function(d) return d.batch end)
  add("AST similarity to the nearest of the benchmark", function(d) return d.ast_similarity end)
  add("least share of elements that an operator changes", function(d) return d.idle end)
  return list
end

-- What differs between reasons of the same kind.
local function kind_of(reason)
  return (reason:gsub("[^%s:]*%.py", "TASK"):gsub("%d+", "N"):sub(1, 160))
end

local function of_compose(kept)
  local refused = {}
  for _, row in ipairs(kept) do
    if row.data.compose and row.data.compose.refused then refused[#refused + 1] = row end
  end
  return refused
end

local function again(about, shards)
  local words = { "cawb synth --out DIR --count N --device " .. about.device, "--seed " .. about.seed }
  if about.benchmark then words[#words + 1] = "--benchmark FILE" end
  if about.propose then words[#words + 1] = "--propose " .. about.propose end
  if shards then words[#words + 1] = shards end
  for key, value in pairs(about.changed or {}) do
    local word = ("synth.%s=%s"):format(key, tostring(value))
    words[#words + 1] = "--set " .. (word:find "%s" and shell.quoted(word) or word)
  end
  return table.concat(words, " ")
end

local function times_section(set, add)
  local rows = set.store:query("SELECT * FROM synth_times WHERE synth = ?", set.id)
  add("## Times on a GPU", "")
  if #rows == 0 then return add("None was measured: `cawb synth --confirm --device cuda:0` measures them. All times here are modelled.", "") end
  local counts, names = tally(rows, function(row) return row.device end)
  for _, name in ipairs(names) do
    local a = confirm.agreement(set, name)
    add(("%d tasks were timed on %s%s; see the columns `eager_s`, `compile_s`, `max_autotune_s`."):format(counts[name], name,
      a and (" and %d have a time of eager PyTorch: its rank correlation with the modelled one is %.3f, the median error %.1f%%")
        :format(a.tasks, a.rank or 0, 100 * a.error) or ""), "")
  end
end

--- The data card of a set as Markdown. `rows` as set:rows has them.
function M.markdown(set, rows)
  local kept = M.counts(rows)
  local about, lines = set.about, {}
  local function add(...) for _, line in ipairs { ... } do lines[#lines + 1] = line end end
  local function add_table(headings, list)
    for _, line in ipairs(markdown(headings, list)) do lines[#lines + 1] = line end
    lines[#lines + 1] = ""
  end
  add("# Synthesised tasks: data card", "",
    ("%d tasks, kept of %d draws. Each is a file in KernelBench's form (`Model`, `get_inputs`, `get_init_inputs`), drawn from PyTorch's own operators%s and filtered by execution.")
      :format(#kept, #rows, about.transformers and (" and module classes of transformers %s"):format(about.transformers) or ""), "",
    ("Made by `cawb synth` of cawb %s (code that draws and filters: %s) with PyTorch %s; this card was written on %s, on %s. "
      .. "Times are modelled for %s where no GPU measured them."):format(about.cawb, about.generator, about.torch, os.date "!%Y-%m-%d",
      ("%d cores of %s"):format(processor.cores(), processor.name()), about.device), "")
  add("## Make it again", "", "    " .. again(about), "",
    "The same seed gives the same rows, bit for bit, on the same versions of cawb and PyTorch and, since filters compute in floating point, a CPU of the same kind. "
      .. "A draw that crashed for its time alone may be kept on a faster machine. What a shard draws depends on its number; `cawb merge` joins shards.", "")
  add("## Rejections", "", "Filters in the order in which they are asked; shares are of all draws of a column.", "")
  add_table(rejection_rows(rows))
  add("## Operators", "")
  local sources = counted(kept, function(row) return row.data.data_source end)
  add_table({ "data_source", "tasks", "share" }, sources)
  local ops, distinct = counted(kept, function(row) return row.data.ops end, 40)
  add(("%d different operators; the 40 most frequent:"):format(distinct), "")
  add_table({ "operator", "uses", "per task" }, ops)
  add("## Sizes and times", "", "Quantiles over the kept tasks.", "")
  add_table({ "", "least", "5%", "25%", "median", "75%", "95%", "most" }, numbers_of(kept))
  add("## The benchmark", "")
  if about.benchmark then
    add(("No task has its operator graph (operators in order, without views and sizes) in common with one of the benchmark's %d tasks (hash %s; %d of them have no graph without data), and the similarity of syntax trees is below %g.")
      :format(about.benchmark_tasks, about.benchmark, about.benchmark_unreadable, about.similar), "")
  else add("No benchmark was given (`--benchmark FILE`), so nothing is said of what it has in common with one.", "") end
  local graphs = {}
  for _, row in ipairs(kept) do graphs[row.graph] = true end
  local n = 0
  for _ in pairs(graphs) do n = n + 1 end
  add(("Within the set %d tasks have %d different graphs."):format(#kept, n), "")
  add("## Lowering", "")
  local refused = of_compose(kept)
  add(("`compose` lowers %d of %d tasks to kernels at the small sizes that the filters run at%s"):format(#kept - #refused, #kept,
    #refused > 0 and "; why not the others:" or "."), "")
  if #refused > 0 then
    add_table({ "reason", "tasks", "share of those refused" }, (counted(refused, function(row) return kind_of(row.data.compose.refused) end)))
  end
  times_section(set, add)
  add("## Licences", "")
  add_table({ "licence of source that was taken over", "tasks", "share" },
    (counted(kept, function(row) return (row.data.licence or "none was taken over"):match "^[^:]+" end)))
  return table.concat(lines, "\n")
end

--- Tasks that compose does not lower: { { number, ops, reason }, ... }.
function M.not_lowered(rows)
  local list = {}
  for _, row in ipairs(of_compose((M.counts(rows)))) do
    list[#list + 1] = { row.number, table.concat(row.data.ops, ", "), row.data.compose.refused }
  end
  return list
end

return M

-- card: the data card of texts, as Markdown.

local display = require "cawb.base.display"
local split = require "cawb.learn.teach.split"
local stats = require "cawb.base.stats"

local M = {}

local function median(list, q)
  table.sort(list)
  return list[math.max(1, math.ceil((q or 0.5) * #list))] or 0 / 0
end

-- Of each split: tasks, texts, characters, how much slower the slowest text of a task is, share of tasks whose best beats torch.compile.
local function split_rows(found)
  local list = {}
  for _, name in ipairs(split.names) do
    local tasks, texts, bytes, slow, of, faster = 0, 0, {}, {}, {}, 0
    for _, task in ipairs(found.tasks) do
      if task.split == name then
        tasks, of[task.name] = tasks + 1, 1
        if task.compile_s and task.compile_s >= (1 + stats.margin) * task.best_s then faster = faster + 1 end
      end
    end
    for _, text in ipairs(found.texts) do
      if text.split == name then
        texts, bytes[#bytes + 1] = texts + 1, #text.completion[1].content
        of[text.task] = math.min(of[text.task], text.of_best)
      end
    end
    for _, share in pairs(of) do slow[#slow + 1] = 1 / share end
    list[#list + 1] = { name, tostring(tasks), tostring(texts), tasks > 0 and ("%.0f"):format(median(bytes)) or "-",
      tasks > 0 and ("%.0f"):format(median(bytes, 0.95)) or "-", tasks > 0 and ("%.2fx"):format(median(slow)) or "-",
      tasks > 0 and ("%.0f%%"):format(100 * faster / tasks) or "-" }
  end
  return list
end

local headings = { "split", "tasks", "texts", "bytes, median", "bytes, 95%", "slowest / fastest, median", "best is 5% faster than torch.compile" }

--- The table of splits as lines for a screen.
function M.table(found) return display.table(headings, split_rows(found)) end

local meanings = { train = "to learn on", families = "a whole family of operators that `train` does not have",
                   pairs = "a pair of families that no task of `train` has", sizes = "sizes of the first input that `train` does not have" }

local function markdown(list, cells)
  list[#list + 1] = "| " .. table.concat(cells, " | "):gsub("\n", " ") .. " |"
end

local function reasons(refused)
  local counts, keys = {}, {}
  for _, one in ipairs(refused) do
    local why = one[2]:gsub("[^%s:]*%.py", "TASK"):gsub("%d+", "N"):sub(1, 120)
    if not counts[why] then keys[#keys + 1] = why end
    counts[why] = (counts[why] or 0) + 1
  end
  table.sort(keys, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  return counts, keys
end

--- The card of what M.rows of corpus.lua found.
function M.markdown(set, found)
  local about, lines = set.about, {}
  local function add(...) for _, line in ipairs { ... } do lines[#lines + 1] = line end end
  add("# Kernels that a compiler wrote: data card", "",
    ("%d texts of %d tasks. Each text is a CUDA kernel and its launch plan for one PyTorch module, in the short form (docs/reference/candidate.md). "
      .. "`compose` wrote it under a schedule; it was read back as a model's reply, and judged right on fresh inputs on %s. Times are modelled.")
      :format(#found.texts, #found.tasks, about.device), "",
    "Columns `prompt` and `completion` are conversations of one message, as TRL reads them. `time_s` is the text's time, `eager` and `compile` its speed-up "
      .. "over PyTorch, `of_best` the time of the task's best text as a share of its own. `taught.jsonl` has the tasks, a suite for `cawb serve`.", "",
    "## Splits", "", "A split follows from the task's operators and sizes by a hash, so that sets made apart agree.", "")
  markdown(lines, headings)
  add("|" .. ("---|"):rep(#headings))
  for _, cells in ipairs(split_rows(found)) do markdown(lines, cells) end
  add("")
  for _, name in ipairs(split.names) do add(("* `%s`: %s"):format(name, meanings[name])) end
  add("", "No two tasks have the same operator graph and sizes, and no two rows the same message and text. A graph is taught at one or two sizes, "
    .. "which are of the same split. " .. (about.benchmark
    and ("No task has its operator graph in common with one of the benchmark's %d tasks (hash %s)."):format(about.benchmark_tasks, about.benchmark)
    or "No benchmark was given (`--benchmark FILE`), so nothing is said of what the set has in common with one."), "")
  add("## Tasks without a text", "", ("%d; why:"):format(#found.refused), "")
  local counts, keys = reasons(found.refused)
  for i = 1, math.min(20, #keys) do add(("* %d: %s"):format(counts[keys[i]], keys[i])) end
  add("", "The tasks are of `card.md`, which has their licences and how to draw them again.")
  return table.concat(lines, "\n")
end

return M

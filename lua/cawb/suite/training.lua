-- training: the log of a training run (python/cawb_learn/lm/agentic.py writes it: a JSON object a line, with `stage`, `step` and numbers) as
-- a plain table of curves for a page, Markdown or a spreadsheet. Stages stand behind one another. What a log does not have is
-- left out; a last line that was being written is not read.

local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

local array = core.json.array

M.window = 10                   -- steps over which the answer's means are taken

-- What is drawn together, first what one looks at first. Of a key that nobody planned a chart of its own is made.
local groups = {
  { title = "reward", what = "Mean of the best reward of each episode", keys = { "reward" } },
  { title = "entropy", what = "Entropy of the policy", keys = { "entropy" } },
  { title = "explained variance", what = "Share of the returns' variance that the critic explains; monte_carlo: of the plain sums",
    keys = { "explained", "explained_variance", "monte_carlo" } },
  { title = "clip ratio", what = "Share of importance ratios that were clipped", keys = { "clipped", "clip_ratio" } },
  { title = "importance ratio", what = "Percentiles of the importance ratio", log = true,
    keys = { "ratio_p1", "ratio_p50", "ratio_p99", "ratio_p99.9" } },
  { title = "right, unreadable, cut", what = "Shares of episodes with a right program and of cut ones, of programs that cannot be read",
    keys = { "right", "unreadable", "cut" } },
  { title = "loss", what = "Losses", keys = { "loss", "policy_loss", "value_loss" } },
}
local no_curve = { step = true, at = true }

-- ---- reading

local function decoded(path)
  local text, message, name = file.read(path)
  if not text then return nil, message, name end
  local rows, number = {}, 0
  for line, ended in text:gmatch "([^\n]*)(\n?)" do
    number = number + 1
    if line:find "%S" then
      local row, wrong = core.json.decode(line)
      if type(row) == "table" and type(row.stage) == "string" and math.type(row.step) then rows[#rows + 1] = row
      elseif ended == "\n" then
        return nil, ("%s:%d: no line of a training log: %s"):format(path, number, wrong or "'stage' and 'step' are expected"), "invalid"
      end
    end
  end
  if #rows == 0 then return nil, path .. ": there is no step in it yet", "usage" end
  return rows
end

local function is_number(v) return math.type(v) and v == v and v ~= math.huge and v ~= -math.huge end

-- The stages in their order, each with its first and last place, and what stands in lines without a step of their own.
local function stages_of(rows)
  local list, at, place = array {}, {}, 0
  for _, row in ipairs(rows) do
    local s = at[row.stage]
    if not s then
      s = { name = row.stage, steps = 0, told = array {} }
      at[row.stage], list[#list + 1] = s, s
    end
    if row.step < 0 then
      for key, v in pairs(row) do if is_number(v) and key ~= "step" then s.told[#s.told + 1] = { key, v } end end
      table.sort(s.told, function(a, b) return a[1] < b[1] end)
    else
      place = place + 1
      row.place, s.steps = place, s.steps + 1
      s.from, s.to = s.from or place, place
    end
  end
  return list
end

local function points_of(rows, key)
  local list = array {}
  for _, row in ipairs(rows) do
    if row.place and is_number(row[key]) then list[#list + 1] = { row.place, row[key], row.step, row.stage } end
  end
  return list
end

local function others(rows)
  local planned, names, seen = {}, {}, {}
  for _, g in ipairs(groups) do for _, key in ipairs(g.keys) do planned[key] = true end end
  for _, row in ipairs(rows) do
    for key, v in pairs(row) do
      if is_number(v) and row.place and key ~= "place" and not planned[key] and not no_curve[key] and not seen[key] then
        seen[key], names[#names + 1] = true, key
      end
    end
  end
  table.sort(names)
  return names
end

local function charts_of(rows)
  local list = array {}
  local function add(title, what, keys, log)
    local curves = array {}
    for _, key in ipairs(keys) do
      local points = points_of(rows, key)
      if #points > 0 then curves[#curves + 1] = { key = key, points = points } end
    end
    if #curves > 0 then list[#list + 1] = { title = title, what = what, log = log, curves = curves } end
  end
  for _, g in ipairs(groups) do add(g.title, g.what, g.keys, g.log) end
  for _, key in ipairs(others(rows)) do add(key, key, { key }) end
  return list
end

-- ---- what is said first

-- The mean of a key over the first or last few steps of a stage that have it.
local function mean_of(rows, stage, key, first)
  local values = {}
  for _, row in ipairs(rows) do
    if row.stage == stage and row.place and is_number(row[key]) then values[#values + 1] = row[key] end
  end
  local n, sum = math.min(M.window, #values), 0.0
  for i = 1, n do sum = sum + values[first and i or #values - n + i] end
  return n > 0 and sum / n or nil, n, #values
end

local function reward_line(rows, stages)
  for i = #stages, 1, -1 do
    local last, n, all = mean_of(rows, stages[i].name, "reward")
    if last then
      local begun = mean_of(rows, stages[i].name, "reward", true)
      return ("reward %.3g in stage %s, mean of its last %d step%s"):format(last, stages[i].name, n, n == 1 and "" or "s"),
        all > n and ("the mean of its first %d steps: %.3g"):format(n, begun) or nil, begun and last > begun and all > n
    end
  end
  return "no stage has come to rewards yet"
end

local function stage_line(s)
  local words = {}
  for i, told in ipairs(s.told) do words[i] = ("%s %.6g"):format(told[1], told[2]) end
  return ("%s: %d step%s%s"):format(s.name, s.steps, s.steps == 1 and "" or "s", #words > 0 and " (" .. table.concat(words, ", ") .. ")" or "")
end

local function answer_of(rows, stages)
  local headline, before, good = reward_line(rows, stages)
  local lines = array { before }
  lines[#lines + 1] = "how sure: one run's own episodes, not tasks that were held out; curves of other seeds may differ"
  local names = {}
  for i, s in ipairs(stages) do names[i] = stage_line(s) end
  lines[#lines + 1] = "stages: " .. table.concat(names, "; ")
  local last = rows[#rows]
  if is_number(last.asked) then lines[#lines + 1] = ("programs asked for so far: %d"):format(last.asked // 1) end
  return { headline = headline, good = good or false, lines = lines }
end

-- ---- where logs are

local function log_in(path) return core.fs.kind(path .. "/log.jsonl") == "file" and path .. "/log.jsonl" or nil end

--- The logs that a path stands for: a log, a folder with one, a folder of such folders (or of runs/ with such folders): a list of
--- { name, path }; nil where there is none.
function M.find(path)
  local kind = core.fs.kind(path)
  if kind == "file" then return path:match "%.jsonl$" and { { name = path:match "([^/]+)$", path = path } } or nil end
  if kind ~= "folder" then return nil end
  if log_in(path) then return { { name = (core.fs.realpath(path) or path):match "([^/]+)$", path = log_in(path) } } end
  local list = {}
  for _, folder in ipairs { path, path .. "/runs" } do
    local names = core.fs.kind(folder) == "folder" and core.fs.list(folder) or {}
    table.sort(names)
    for _, name in ipairs(names) do
      local log = core.fs.kind(folder .. "/" .. name) == "folder" and log_in(folder .. "/" .. name)
      if log then list[#list + 1] = { name = name, path = log } end
    end
  end
  return #list > 0 and list or nil
end

--- All of them as { title =, logs = { { name, stages, charts, answer, steps } } }; or nil, message, name where one cannot be read.
function M.read(path)
  local logs = array {}
  for i, found in ipairs(M.find(path) or {}) do
    local rows, message, name = decoded(found.path)
    if not rows then return nil, message, name end
    local stages = stages_of(rows)
    logs[i] = { name = found.name, stages = stages, charts = charts_of(rows), answer = answer_of(rows, stages), rows = rows }
  end
  local base = (core.fs.realpath(path) or path):match "([^/]+)$"
  return { title = #logs == 1 and "training: " .. logs[1].name or ("%d training runs in %s"):format(#logs, base), logs = logs, cawb = core.version }
end

return M

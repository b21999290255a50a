-- leaderboard: suites of a store as one object for others to compare with: what was run, on what, and what came of every
-- task. Nothing is computed here that the report has not; secrets and paths of the machine stay behind.

local core = require "cawb.core"

local M = {}

M.format = "cawb-leaderboard-1"

local array = core.json.array

-- Of a task what a comparison needs; times in seconds, each { median, lo, hi }.
local function task_of(t)
  return { task = t.task, level = t.level, status = t.status, reason = t.reason, turns = t.turns, candidate = t.name,
    time_s = t.time, eager = t.eager, compile = t.compile, equal_error = t.equal, against = t.against, nrms = t.nrms,
    libraries = t.libraries, suspicious = t.odd }
end

-- The stacks that the suite's runs had, each once, as the record's manifests have them.
local function stacks_of(suite, data)
  local of_run, seen, list = {}, {}, array {}
  for _, run in ipairs(data.runs) do of_run[run.id] = run.environment end
  for _, t in ipairs(suite.tasks) do
    local hash = t.run and of_run[t.run]
    if hash and not seen[hash] and data.environments[hash] then
      seen[hash] = true
      list[#list + 1] = { hash = hash, manifest = data.environments[hash] }
    end
  end
  return list
end

local function suite_of(suite, data)
  local tasks = array {}
  for i, t in ipairs(suite.tasks) do tasks[i] = task_of(t) end
  return { title = suite.title, strategy = tostring(suite.about.strategy):match "([^/]+)%.lua$" or suite.about.strategy,
    device = suite.about.device, modelled = suite.numbers.modelled, set_out = suite.set_out, spent = suite.spent,
    headings = suite.headings, rows = suite.rows, stacks = stacks_of(suite, data), tasks = tasks }
end

--- The text of one JSON object out of report_data.read; nil and a message where the store has no suite.
function M.text(data)
  if #data.suites == 0 then
    return nil, "there is no suite in it: a leaderboard has the tasks of a suite, as cawb bench STRATEGY SUITE records them"
  end
  local suites = array {}
  for i, suite in ipairs(data.suites) do suites[i] = suite_of(suite, data) end
  return core.json.encode { format = M.format, cawb = core.version, suites = suites } .. "\n"
end

return M

-- page: report_data as one HTML file that needs no network, as Markdown, and as CSV.

local core = require "cawb.core"
local file = require "cawb.base.file"
local display = require "cawb.base.display"

local M = {}

M.most_answers = 5              -- of more runs than these Markdown has the table alone

--- The charting library (Chart.js): of the install tree, of the build, of the system; or nil.
function M.library()
  for _, path in ipairs { core.home .. "/page/chart.min.js", core.program:match "^(.*)/" .. "/../page/chart.min.js",
                          "/usr/share/javascript/chart.js/chart.min.js" } do
    local text = file.read(path)
    if text then return text end
  end
end

local function escape(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

-- A text inside a script element must not hold what would end it.
local function inside(text) return (text:gsub("</", "<\\/"):gsub("<!%-%-", "<\\!--")) end

--- What a report is called: by what was run.
function M.title(data)
  local runs, suite = data.runs, data.suites[1]
  if suite then return suite.title .. (#data.suites > 1 and (", and %d suite%s more"):format(#data.suites - 1, #data.suites > 2 and "s" or "") or "") end
  if #runs ~= 1 then return #runs == 0 and "nothing was run" or ("%d runs"):format(#runs) end
  local device = (data.environments[runs[1].environment] or {}).model or runs[1].device
  return ("%s: %s on %s"):format(runs[1].task:gsub("%.py$", ""), tostring(runs[1].strategy):match "([^/]+)%.lua$" or "?", device or "?")
end

--- A page of these scripts: a function of its title, its subtitle and its data.
function M.fill(names)
  local dir, scripts = core.home .. "/lua/cawb/suite/page/", {}
  for i, name in ipairs(names) do scripts[i] = assert(file.read(dir .. name)) end
  return function(title, subtitle, data)
    local parts = { title = escape(title), subtitle = escape(subtitle), style = assert(file.read(dir .. "page.css")),
      script = inside(table.concat(scripts)), data = inside(core.json.encode(data)), library = M.library() or "" }
    return (assert(file.read(dir .. "page.html")):gsub("{{(%l+)}}", parts))
  end
end

--- The page of the data of the store in a folder.
function M.html(data, folder)
  local turns = 0
  for _, r in ipairs(data.runs) do turns = turns + #r.turns end
  local fill = M.fill { "page.js", "charts.js", "talk.js", "run.js", "suite.js", "show.js" }
  return fill(M.title(data), ("%s: %d run%s, %d turns; cawb %s, %s"):format(folder, #data.runs, #data.runs == 1 and "" or "s", turns,
    data.cawb, os.date "!%Y-%m-%d"), data)
end

-- ---- Markdown, for a pull request

local function cell(text) return (tostring(text):gsub("|", "\\|"):gsub("\n", " ")) end

--- Rows under headings.
function M.markdown_table(headings, rows)
  local lines = { "| " .. table.concat(headings, " | ") .. " |", "|" .. (" --- |"):rep(#headings) }
  for _, row in ipairs(rows) do
    local cells = {}
    for i, text in ipairs(row) do cells[i] = cell(text) end
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  return table.concat(lines, "\n")
end

-- Without an interval it is a single value.
local function span(t) return t and { median = t[1], lo = t[2], hi = t[3], samples = t[2] == t[3] and 1 or nil } end

local headings = { "task", "best candidate", "verdict", "time", "vs eager", "vs compile", "error", "turns", "of the bound" }

-- A task's or a run's row, of its best turn `t`, if any passed. The bound: the least time that memory and arithmetic allow.
local function row_of(task, verdict, t, modelled, turns)
  if not t then return { task, "-", verdict, "-", "-", "-", "-", turns, "-" } end
  local libraries = t.libraries and (" (%s)"):format(table.concat(t.libraries, ", ")) or ""
  return { task, (t.name or "") .. (t.label and " " .. t.label or "") .. libraries, verdict,
    display.interval(span(t.time)) .. (modelled and " modelled" or ""), display.speedup(span(t.eager)),
    display.speedup(span(t.compile)), t.nrms and ("%.1e"):format(t.nrms) or "-", turns, t.bound_share and ("%.0f%%"):format(100 * t.bound_share) or "-" }
end

local function best_of(run)
  for _, t in ipairs(run.turns) do if t.n == run.best then return t end end
end

-- The rows of a suite's tasks, all of them; `seen` learns which runs these were.
local function task_rows(s, seen)
  local rows = {}
  for i, t in ipairs(s.tasks) do
    if t.run then seen[t.run] = true end
    local verdict = t.status .. (t.reason and ": " .. t.reason or "")
    rows[i] = row_of(t.task, verdict, t.time and t, s.numbers.modelled, t.turns)
  end
  return rows
end

--- What is said first of a run, a suite or a training log.
function M.opening(answer)
  local lines = { "**" .. cell(answer.headline) .. "**", "" }
  for _, line in ipairs(answer.lines) do lines[#lines + 1] = "* " .. cell(line) end
  return table.concat(lines, "\n")
end

-- Why a run has no best candidate: its own reason, or that of its last turn.
local function verdict_of(run)
  local last = run.turns[#run.turns]
  local why = run.reason or last and last.reason
  return why and ("%s: %s"):format(run.status, why) or run.status
end

-- "softmax.py by react".
local function title_of(run) return ("%s by %s"):format(run.task, (run.strategy:match "([^/]+)$" or run.strategy):gsub("%.lua$", "")) end

--- The suites, each with its tasks, and the runs beside them: of each the answer and the best.
function M.markdown(data)
  local parts, seen, others, answers = { "### " .. M.title(data) }, {}, {}, {}
  for i, s in ipairs(data.suites) do
    if i > 1 then parts[#parts + 1] = "### " .. s.title end
    parts[#parts + 1] = M.opening(s.answer)
    for _, odd in ipairs(s.numbers.suspicious) do
      parts[#parts + 1] = ("**Suspicious, in no average:** %s: %s"):format(odd.task, table.concat(odd.why, "; "))
    end
    parts[#parts + 1] = M.markdown_table(s.headings, s.rows)
    parts[#parts + 1] = (s.of_others and "\\" .. s.of_others .. " " or "") .. s.footnote
    parts[#parts + 1] = M.markdown_table(headings, task_rows(s, seen))
  end
  for _, run in ipairs(data.runs) do
    local t = best_of(run)
    if not seen[run.id] and (t or run.status ~= "unfinished") then   -- what a suite began and took up again
      answers[#answers + 1] = M.opening(run.answer)
      others[#others + 1] = row_of(title_of(run), t and "pass" or verdict_of(run), t, run.modelled, #run.turns)
    end
  end
  if #answers <= M.most_answers then table.move(answers, 1, #answers, #parts + 1, parts) end
  if #others > 0 then parts[#parts + 1] = M.markdown_table(headings, others) end
  return table.concat(parts, "\n\n") .. "\n"
end

-- ---- CSV, for a spreadsheet: one line a turn

local columns = { "run", "task", "strategy", "device", "modelled", "turn", "candidate", "label", "ok",
  "stage", "reason", "reward",
  "time_s", "time_lo_s", "time_hi_s", "speedup_eager", "speedup_compile", "speedup_equal_error", "nrms", "worst" }

--- A value as a cell of CSV.
function M.quoted(value)
  if value == nil then return "" end
  local text = tostring(value)
  return text:find '[",\n\r]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- Every turn.
function M.csv(data)
  local lines = { table.concat(columns, ",") }
  for _, r in ipairs(data.runs) do
    for _, t in ipairs(r.turns) do
      local time = t.time or {}
      local values = { r.id, r.task, r.strategy, r.device, r.modelled, t.n, t.name, t.label, t.ok, t.stage,
        t.reason, t.reward,
        time[1], time[2], time[3], t.eager and t.eager[1], t.compile and t.compile[1],
          t.equal and t.equal[1], t.nrms, t.worst }
      local cells = {}
      for i = 1, #columns do cells[i] = M.quoted(values[i]) end
      lines[#lines + 1] = table.concat(cells, ",")
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M

-- training_page: a training log as a page, as Markdown, and as CSV.

local core = require "cawb.core"
local page = require "cawb.suite.page"

local M = {}

local array = core.json.array

--- One HTML file that needs no network.
function M.html(data, folder)
  local logs, steps = array {}, 0
  for i, log in ipairs(data.logs) do
    logs[i] = { name = log.name, stages = log.stages, charts = log.charts, answer = log.answer }
    for _, s in ipairs(log.stages) do steps = steps + s.steps end
  end
  return page.fill { "page.js", "charts.js", "training.js" } (data.title, ("%s: %d steps; cawb %s, %s"):format(folder, steps, data.cawb,
    os.date "!%Y-%m-%d"), { logs = logs })
end

-- The last value of each curve in a stage.
local function stage_rows(log)
  local rows = {}
  for _, s in ipairs(log.stages) do
    for _, chart in ipairs(log.charts) do
      for _, curve in ipairs(chart.curves) do
        local first, last, n
        for _, p in ipairs(curve.points) do
          if p[4] == s.name then first, last, n = first or p, p, (n or 0) + 1 end
        end
        if last then rows[#rows + 1] = { s.name, curve.key, tostring(n), ("%.4g"):format(first[2]), ("%.4g"):format(last[2]) } end
      end
    end
  end
  return rows
end

--- The answers, and how each number began and ended in each stage.
function M.markdown(data)
  local parts = { "### " .. data.title }
  for _, log in ipairs(data.logs) do
    if #data.logs > 1 then parts[#parts + 1] = "#### " .. log.name end
    parts[#parts + 1] = page.opening(log.answer)
    parts[#parts + 1] = page.markdown_table({ "stage", "number", "steps", "first", "last" }, stage_rows(log))
  end
  return table.concat(parts, "\n\n") .. "\n"
end

--- Every number of every step: one line each.
function M.csv(data)
  local lines = { "run,stage,step,number,value" }
  for _, log in ipairs(data.logs) do
    for _, chart in ipairs(log.charts) do
      for _, curve in ipairs(chart.curves) do
        for _, p in ipairs(curve.points) do
          lines[#lines + 1] = ("%s,%s,%d,%s,%.10g"):format(page.quoted(log.name), page.quoted(p[4]), p[3] // 1, page.quoted(curve.key), p[2])
        end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M

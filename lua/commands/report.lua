-- cawb report STORE: a page that opens by a double click, or Markdown, or CSV; of a training log likewise.

local command = require "cawb.door.command"
local core = require "cawb.core"
local file = require "cawb.base.file"
local leaderboard = require "cawb.suite.leaderboard"
local page = require "cawb.suite.page"
local report_data = require "cawb.suite.report_data"
local training = require "cawb.suite.training"
local training_page = require "cawb.suite.training_page"

local M = { summary = "a self-contained page of a store or a training log; --markdown, --csv: cawb report STORE" }

M.usage = [[
usage: cawb report STORE [--run ID] [--markdown | --csv | --leaderboard] [--to FILE]
       cawb report LOG   [--markdown | --csv] [--to FILE]

Writes STORE/report.html: one file, no network. --markdown: what came of it, suites and best
candidates, for a pull request; --csv: one line a turn; --leaderboard: suites as one JSON object
with the stack that they ran on, for others to compare with; these go to standard output without
--to. LOG is a training run's log.jsonl, its folder, or a folder of such folders.
]]

local own = { ["--run"] = "value", ["--to"] = "value", ["--markdown"] = "flag", ["--csv"] = "flag", ["--leaderboard"] = "flag" }

local need, wrong = command.need, command.wrong

local function text_of(which, data, given, folder)
  if given.markdown then return which.markdown(data) end
  if given.csv then return which.csv(data) end
  if given.leaderboard then return leaderboard.text(data) end
  return which.html(data, folder)
end

-- How many forms other than the page are asked for.
local function forms(given) return (given.markdown and 1 or 0) + (given.csv and 1 or 0) + (given.leaderboard and 1 or 0) end

local function of_store(dir, given)
  local store <close> = need(core.store.open(dir))
  local data = report_data.read(store, given.run)
  if given.run and #data.runs == 0 then wrong(("%s has no run '%s'"):format(dir, given.run)) end
  local text, why = text_of(page, data, given, (core.fs.realpath(dir) or dir):match "([^/]+)$")
  return text or wrong(("%s: %s"):format(dir, why))
end

local function of_training(path, given)
  if given.run then wrong "--run names a run of a store; of training runs give the folder of one" end
  if given.leaderboard then wrong "--leaderboard is of suites in a store; this is a training log" end
  return text_of(training_page, need(training.read(path)), given, (core.fs.realpath(path) or path):match "([^/]+)$")
end

-- What reads this path; nil where it is neither a store nor a training log.
local function reader_of(path)
  if core.fs.kind(path .. "/store.sqlite") then return of_store end
  return training.find(path) and of_training or nil
end

local function missing(path)
  if not core.fs.kind(path) then wrong(path .. ": there is no such folder or file") end
  wrong(path .. ": there is no store in it, and no training log (log.jsonl)")
end

local function put(text, path, html)
  need(file.write(path, text))
  if html and not page.library() then io.stderr:write "cawb report: without charts: Chart.js (Debian's libjs-chart.js) was not found\n" end
  print(path)
  return 0
end

function M.main(argv)
  local given, words = command.take(argv, own)
  local word = command.only(words, "one store is needed: cawb report STORE [flags]")
  if forms(given) > 1 then wrong "--markdown, --csv and --leaderboard are several reports: ask for one" end
  local dir = word == "/" and "/" or word:gsub("/+$", "")
  local text = (reader_of(dir) or missing)(dir, given)
  local html = forms(given) == 0
  local folder = core.fs.kind(dir) == "folder" and dir or dir:match "^(.*)/[^/]*$" or "."
  local path = given.to or html and folder .. "/report.html"
  if path then return put(text, path, html) end
  io.write(text)
  return 0
end

return M

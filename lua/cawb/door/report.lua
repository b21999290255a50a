-- report: what a person sees of a run. A live line a turn on a terminal, plain
-- lines elsewhere, and a closing table.

local baseline_names = require "cawb.base.baseline_names"
local baselines = require "cawb.judge.time.baselines"
local ceilings = require "cawb.gpu.ceilings"
local core = require "cawb.core"
local display = require "cawb.base.display"
local live = require "cawb.door.live"
local answer = require "cawb.door.answer"

local M = {}

local Report = {}
Report.__index = Report

local function title(turn)
  if not turn.label or turn.label == "" then return turn.name end
  return turn.name .. " " .. turn.label
end

local function outcome(turn)
  if not turn.ok then return ("rejected at %s: %s"):format(turn.stage, turn.reason) end
  local parts = { "pass", display.interval(turn.time_s) .. (turn.modelled and " modelled" or "") }
  for _, kind in ipairs { "eager", "compile" } do
    if turn.speedup[kind] then
      parts[#parts + 1] = ("%s %s"):format(kind, display.speedup(turn.speedup[kind]))
    end
  end
  return table.concat(parts, "  ")
end

-- What may be spent, in all or still: "20 turns, 600 s".
local function budget(of) return ("%d turn%s, %.0f s"):format(of.turns, of.turns == 1 and "" or "s", of.seconds) end

--- What models cost: "12 replies, 81.2k tokens, $0.34"; "" where none was asked.
local function spent_on_models(run)
  local spent = run:spent()
  if spent.replies == 0 then return "" end
  if spent.tokens == 0 then return ("no reply to %d request%s"):format(spent.replies, spent.replies == 1 and "" or "s") end
  local text = display.replies(spent.replies, spent.tokens)
  return spent.dollars > 0 and ("%s, $%.2f"):format(text, spent.dollars) or text
end

-- On a terminal a line that is too long breaks between words.
function Report:line(text)
  if self.quiet then return end
  self.live:clear()
  local width = self.live:width()
  for _, line in ipairs(width and display.wrap(text, width, "  ") or { text }) do self.out:write(line, "\n") end
  self.out:flush()
end

function Report:run_begins(run)
  local d, task = run.task.device.info, run.task
  self.live.modelled = d.modelled
  self.live:say({ { task.name, 1 } }, {})
  self:line(("%s on %s: %s%s; at most %s"):format(run.strategy.name, task.name, d.model,
    d.modelled and "; times are modelled, not measured" or "", budget(run.options)))
  for _, note in ipairs(task.notes) do self:line("note: " .. note) end
  local known, why, never = ceilings.of(run.task.device)
  if not known and not never then self:line("note: no time is too short to be believed: " .. why) end
end

-- The stage, if any, then what goes on; a narrow terminal does without the budget and the name.
local function goes_on(self, run, turn, stage)
  self.live:say({ { ("turn %d"):format(turn.number), 0 }, { turn.name, 6 }, stage and { stage, 1 } },
    { { ("(%s)"):format(budget(run:left()) .. " left"), 7 } })
end

function Report:turn_begins(run, turn) goes_on(self, run, turn) end

--- What comes next of a turn. It may be replaced by whoever is told of stages.
Report.stage = goes_on

function Report:turn_ends(run, turn)
  self:line(("turn %d  %s  %s  reward %.3g  (%s)"):format(turn.number, title(turn),
    (outcome(turn):gsub("\n.*", ""):gsub("%c", "?")), turn.reward, budget(run:left()) .. " left"))
  self.live:say({ { run.task.name, 1 }, { ("after turn %d"):format(turn.number), 5 } },
    { { ("(%s)"):format(budget(run:left()) .. " left"), 7 } })
  self:unknowns(turn)
end

--- What rules could not tell of a candidate, each reason once in a run.
function Report:unknowns(turn)
  self.told = self.told or {}
  for _, flag in ipairs(turn.facts.rules and turn.facts.rules.flags or {}) do
    if flag.unknown and not self.told[flag.reason] then
      self.told[flag.reason] = true
      self:line(("  unknown to rule '%s': %s"):format(flag.rule, (flag.reason:gsub("%c", "?"))))
    end
  end
end

local function error_of(e) return e and e.nrms and ("%.2g"):format(e.nrms) or "-" end

local columns = {
  { "turn", function(t) return tostring(t.number) end },
  { "candidate", title },
  { "verdict", function(t) return t.ok and "pass" or "rejected at " .. t.stage end },
  { "time [95% interval]", function(t) return display.interval(t.time_s) end },
  { "rms error", function(t) return error_of(t.error) end },
  { "precision", function(t) return t.facts.precision and t.facts.precision.class or "-" end },
  { "vs eager", function(t) return display.speedup(t.speedup and t.speedup.eager) end },
  { "vs compile", function(t) return display.speedup(t.speedup and t.speedup.compile) end },
  { "reward", function(t) return ("%.3g"):format(t.reward) end },
}

-- What it was compared with: a line where all is modelled, else the matrix. Eager PyTorch's error is that beside `best`.
local function baseline_lines(task, best)
  if not task.device.info.modelled then
    return next(task.baselines) and display.table(baselines.headings, baselines.rows(task)) or {}
  end
  local parts = {}
  for _, kind in ipairs { "eager", "compile" } do
    local b = task.baselines[kind]
    if b then
      local error = kind == "eager" and best and best.error and best.error.eager
      parts[#parts + 1] = ("%s %s%s%s"):format(kind, b.time_s and display.interval(b.time_s)
        or "failed: " .. tostring(b.failed), b.modelled and " modelled" or "", error and ", rms error " .. error_of(error)
        or b.modelled and " (not run; its error is taken to be no larger than the kernel's)" or "")
    end
  end
  local lines = { #parts > 0 and "PyTorch: " .. table.concat(parts, "; ") or nil }
  for kind, b in pairs(task.baselines) do
    if kind ~= "eager" and kind ~= "compile" then
      lines[#lines + 1] = ("%s: %s"):format(baseline_names.label(kind), b.time_s and display.interval(b.time_s) .. " modelled"
        or "not compared with: " .. tostring(b.failed))
    end
  end
  return lines
end

local endings = {
  turns = "all turns are spent: --set turns=N gives more", seconds = "the time is spent: --set seconds=N gives more",
  stop = "the strategy's stop said so", finished = "the strategy has nothing left to try", submitted = "submitted", interrupted = "interrupted",
  replies = "all replies of the model are spent", tokens = "the tokens are spent", dollars = "the money is spent",
  device_seconds = "the device's time is spent", no_progress = "too many turns without progress",
}

local function closing(run)
  local why = endings[run.ended] or run.ended == "failed" and "the run could not go on"
    or run.reason or run.ended
  if not run.best then return ("no candidate passed; %s"):format(#run.turns == 0 and run.memory.unread or why) end
  return ("%s\nbest: turn %d, %s, %s%s, reward %.3g; %s"):format(answer.sentence_of(run.best.facts), run.best.number, title(run.best),
    display.interval(run.best.time_s), run.best.modelled and " modelled" or "", run.best.reward, why)
end

-- Where the best candidate is, if its files are there: a full disk keeps none.
local function kept(run)
  local folder = run.ledger.folder
  for _, name in ipairs { "kernel.cu", "model_new.py" } do
    if core.fs.kind(folder .. "/" .. name) then return "kept in " .. folder, name end
  end
  return ("its files could not be kept in %s: is the disk full? (df %s)"):format(folder, folder:match "^(.*)/" or ".")
end

-- What can be done with it: promotion takes what is faster.
local function next_steps(run, name)
  local folder, dir, equal = run.ledger.folder, run.ledger.dir, run.best.facts.equal_error
  local look = ("to look at all: cawb report %s"):format(dir)
  if name ~= "kernel.cu" then return ("to look at it: %s/%s, or cawb report %s"):format(folder, name, dir) end
  local kernel = core.fs.kind(folder .. "/own/kernel.cu") and "the kernel for the task's own sizes is its own/kernel.cu" or "the kernel is its kernel.cu"
  if not equal or baselines.verdict(equal) == "faster" then
    return ("%s; %s; to use it: cawb promote %s --into DIR"):format(kernel, look, folder)
  end
  local try = run.strategy.name == "tune" and "" or ("; to look for a faster one: cawb tune %s"):format(run.task.path)
  return ("%s; %s%s"):format(kernel, look, try)
end

--- A line of a strategy's own.
function Report:note(text) self:line(text) end

function Report:run_ends(run)
  self.live:say({}, {})
  if #run.turns > 0 then
    local headings, rows = {}, {}
    for i, c in ipairs(columns) do headings[i] = c[1] end
    if run.task.device.info.modelled then headings[4] = "modelled time" end
    for i, turn in ipairs(run.turns) do
      rows[i] = {}
      for j, c in ipairs(columns) do rows[i][j] = c[2](turn) end
    end
    self:line ""
    for _, text in ipairs(display.records(headings, rows, self.live:width(), 2)) do self:line(text) end
    if not run.task.device.info.modelled then self:line "" end
    for _, text in ipairs(baseline_lines(run.task, run.best)) do self:line(text) end
    for _, text in ipairs(run.best and answer.size_lines(run.best) or {}) do self:line(text) end
  end
  for text in closing(run):gmatch "[^\n]+" do self:line(text) end
  local spent = spent_on_models(run)
  if spent ~= "" then self:line("model: " .. spent) end
  if not run.best then self:line(("recorded in %s as run %s"):format(run.ledger.dir, run.id))
  else
    local where, name = kept(run)
    self:line(where)
    if name then self:line(next_steps(run, name)) end
  end
  if run.ended == "interrupted" then self:line("go on with --resume " .. run.id) end
end

--- A report to a file handle. `quiet` prints nothing.
function M.new(out, fd, quiet)
  return setmetatable({ out = out, live = live.of(out, fd, quiet), quiet = quiet }, Report)
end

--- Progress on a terminal, and nothing else: for who prints an answer of its own when all is known.
function M.progress(out, fd, quiet)
  local r = M.new(out, fd, quiet)
  function r:line() self.live:clear() end
  return r
end

--- What tells the report of a run the stages of a turn.
function M.stages(run, turn)
  return function(stage) run.report:stage(run, turn, stage) end
end

return M

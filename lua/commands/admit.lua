-- cawb admit TASK.py ...: can these tasks tell right from wrong?

local admission = require "cawb.judge.verify.admission"
local command = require "cawb.door.command"
local core = require "cawb.core"
local job = require "cawb.door.job"
local python = require "cawb.base.python"
local tasks = require "cawb.judge.task.task"

local M = { summary = "mutants of a task's reference against its tolerance: is the task to be trusted?" }

M.usage = [[
usage: cawb admit TASK.py ... [flags]

  --set task.rows=64   a smaller shape, of every task that has the constant
  --json               one JSON object in place of the tables
  --device, --seed     as of a run

For each task a table: which mutant of the reference passes (-) and which is found out (x), under
the strict tolerance, KernelBench's and the paper's. A blank is a mutant that the task has not.

exit codes: 0 all tasks are admitted; 1 one is not; 2 wrong usage; 3 the machine lacks something
]]

local function row(r, protocol)
  local p, cells = r.protocols[protocol], { protocol }
  for _, name in ipairs(admission.mutants) do
    local alive = p.alive[name]
    cells[#cells + 1] = alive == nil and "" or alive and "-" or "x"
  end
  cells[#cells + 1] = ("%d of %d"):format(p.killed, p.mutants)
  return cells
end

local function print_page(r)
  print(("%s: %s"):format(r.task, r.admitted and "admitted" or "refused: " .. r.reason))
  if not r.protocols then return end
  local headings, rows = { "  tolerance", table.unpack(admission.mutants) }, {}
  headings[#headings + 1] = "found out"
  for i, protocol in ipairs(admission.protocols) do
    rows[i] = row(r, protocol)
    rows[i][1] = "  " .. rows[i][1]
  end
  command.print_table(headings, rows)
end

-- A task that cannot be opened for its own fault is refused, like one that fails.
local function examine(path, dev, all, parsed, host)
  local t <close>, message, name = tasks.open(path, { device = dev, seed = parsed.seed, options = all, host = host })
  if not t and name == "task" then return { task = path, admitted = false, reason = message } end
  if not t then return nil, message, name end
  return admission.examine(t, all)
end

function M.main(argv)
  local _, parsed = command.parse(argv, {})
  if #parsed.words == 0 then command.wrong "name at least one task: cawb admit TASK.py ..." end
  local all = command.options(parsed)
  local dev <close> = command.device(parsed.device, all)
  local process <close>, hello = command.need(python.start(all.deadlines.start))
  local list, code = core.json.array {}, job.codes.passed
  for i, path in ipairs(parsed.words) do
    local r, message, name = examine(path, dev, all, parsed, { process, hello })
    if not r then command.fail(path .. ": " .. message, name) end
    list[i] = r
    if not parsed.json then print_page(r) end
    if not r.admitted then code = job.codes.failed end
  end
  if parsed.json then print(core.json.encode { tasks = list }) end
  return code
end

return M

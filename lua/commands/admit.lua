-- cawb admit TASK.py ...: can these tasks tell right from wrong?

local admission = require "cawb.judge.admission"
local command_line = require "cawb.door.command_line"
local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local job = require "cawb.door.job"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local display = require "cawb.base.display"
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
  for _, line in ipairs(display.table(headings, rows)) do print(line) end
end

-- A task that cannot be opened for its own fault is refused, like one that fails.
local function examine(path, dev, all, parsed, host)
  local t <close>, message, name = tasks.open(path, { device = dev, seed = parsed.seed, options = all, host = host })
  if not t and name == "task" then return { task = path, admitted = false, reason = message } end
  if not t then return nil, message, name end
  return admission.examine(t, all)
end

local function options_of(parsed)
  local all = options.copy(defaults)
  for _, assignment in ipairs(parsed.sets) do
    local ok, message = options.set(all, assignment)
    if not ok then return nil, message end
  end
  return all
end

local function each(parsed, dev, all, host, say)
  local list = core.json.array {}
  for _, path in ipairs(parsed.words) do
    local r, message, name = examine(path, dev, all, parsed, host)
    if not r then return nil, path .. ": " .. message, name end
    list[#list + 1] = r
    say(r)
  end
  return list
end

function M.main(argv)
  local parsed, message = command_line.parse(argv)
  if not parsed then return command.fail("admit", message, "usage") end
  if #parsed.words == 0 then return command.fail("admit", "name at least one task: cawb admit TASK.py ...", "usage") end
  local all
  all, message = options_of(parsed)
  if not all then return command.fail("admit", message, "usage") end
  local dev <close>, why, name = device.open(parsed.device)
  if not dev then return command.fail("admit", why, name) end
  local process, hello, kind = python.start(all.deadlines.start)
  if not process then return command.fail("admit", hello, kind) end
  local list
  list, message, name = each(parsed, dev, all, { process, hello }, parsed.json and function() end or print_page)
  process:close()
  if not list then return command.fail("admit", message, name) end
  if parsed.json then print(core.json.encode { tasks = list }) end
  for _, r in ipairs(list) do
    if not r.admitted then return job.codes.failed end
  end
  return job.codes.passed
end

return M

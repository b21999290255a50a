-- lm_outside.lua: the tasks of a suite as the outside test of a language model: those that fit the contract of `cawb synth --teach`, with the
-- teacher's texts, are put into a corpus under the split "outside".
--   cawb bench/learn/lm_outside.lua -- SUITE CORPUS
-- SUITE is what `cawb bench` takes, CORPUS a folder of `cawb synth --teach`. A second call puts its rows in place of those of the first.
-- `cawb-train lm CORPUS` then measures each stage on them, too.

local core = require "cawb.core"
local corpus = require "cawb.learn.teach.corpus"
local defaults = require "cawb.base.defaults"
local device = require "cawb.gpu.device"
local export = require "cawb.learn.synth.export"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local strategy = require "cawb.base.strategy"
local suite = require "cawb.suite.suite"
local teacher = require "cawb.learn.teach.teacher"

if not arg[2] then error("usage: cawb bench/learn/lm_outside.lua -- SUITE CORPUS", 0) end

local all = options.copy(defaults)
all.teach = assert(strategy.load_table(core.home .. "/configs/synth-teach.lua")).teach
all.teach.twice, all.teach.slow = false, 1.0          -- at one size, and those where torch.compile is as fast, too
local dev <close> = assert(device.open("sim:h100", { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate }))
local process, hello
local own = teacher.options(all, all.teach)

-- The rows of a file of the corpus that are not of an earlier call.
local function earlier(path)
  local list = {}
  for line in io.lines(path) do
    local row = core.json.decode(line)
    if row.split ~= "outside" then list[#list + 1] = row end
  end
  return list
end

local paths = { tasks = arg[2] .. "/taught.jsonl", texts = arg[2] .. "/texts.jsonl" }
local tasks, texts = earlier(paths.tasks), earlier(paths.texts)
local fit = 0

-- What is taught of a task, or refused; a task host that is lost is begun anew.
local function taught(task, number)
  if not (process and process:alive()) then process, hello = assert(python.start(all.deadlines.start)) end
  local path = os.tmpname()
  local data, message, name = teacher.teach { code = task.code, path = path .. ".py", device = dev, host = { process, hello }, options = own,
    how = all.teach, seed = number }
  os.remove(path)
  os.remove(path .. ".py")
  if name == "interrupted" then error(message, 0) end
  if not data then process:close() end
  return data or { refused = message }
end

for number, task in ipairs(assert(suite.load(arg[1]))) do
  local data = taught(task, number)
  print(("%-60s %s"):format(task.key, data.refused and "no: " .. data.refused:sub(1, 80) or #data.texts .. " texts"))
  if data.texts then
    local row = corpus.task_row({ name = task.name, split = "outside" }, data)
    fit, tasks[#tasks + 1] = fit + 1, row
    for _, text in ipairs(data.texts) do texts[#texts + 1] = corpus.text_row(row, text) end
  end
end
assert(export.lines(paths.tasks, tasks, corpus.task_columns))
assert(export.lines(paths.texts, texts, corpus.columns))
print(("tasks of the suite that fit: %d"):format(fit))

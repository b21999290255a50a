-- cawb help: what can be typed.

local core = require "cawb.core"
local file = require "cawb.base.file"
local strategy = require "cawb.base.strategy"

local text = [[
cawb %s: optimise GPU kernels from a Lua script, with the hardware in the loop.

  cawb TASK.py [flags]                lower a task to fast kernels, without a model
  cawb STRATEGY TASK.py [flags]       run a strategy on a task: a file, or one of strategies/ by its name
  cawb SCRIPT.lua [arguments]         run a script that uses the module `cawb`
  cawb WORD [arguments]               run a command; cawb help WORD prints its page, or a strategy's

flags
  --device auto|cuda:N|sim:h100   where candidates run (auto: the first GPU, else sim:h100);
                       cpu, for Python candidates
  --config FILE.lua               lay a table of options over the strategy's; repeatable
  --set key=value                 lay one option over all of that; repeatable
                                  (task.NAME=value overrides a constant of the task)
  --scale auto|none|fit|full|both sizes of a task that is too large: as they are, shrunk to fit (auto on
                                  a simulated device), some blocks of each launch, or both: verified
                                  at sizes that fit, timed on some blocks at its own
  --baseline PATH                 compare with this too: a Python file with ModelNew, or a
                                  candidate's folder; repeatable
  --out DIR                       where runs are recorded (cawb-runs)
  --resume RUN                    go on with a run that was interrupted or killed
  --seed N                        repeat the secret inputs of an earlier run
  --show graph|kernels|schedule|text  print what compose makes of the task, and evaluate nothing
  --json                          print the result as one JSON object, last on stdout
  --quiet                         print nothing but that

exit codes
  0 a candidate passed   1 none did   2 the command line, strategy, task or
  configuration is wrong   3 the machine lacks something   130 interrupted
  Some commands have their own, which cawb help WORD tells: judge has 0 right and
  faster, 1 right, 2 wrong, 3 could not be judged

commands
]]

local M = { summary = "print this" }

function M.main()
  io.write(text:format(core.version))
  for _, file in ipairs(core.fs.list(core.home .. "/lua/commands") or {}) do
    local name = file:match "^(.*)%.lua$"
    local c = name and (name == "help" and M or dofile(core.home .. "/lua/commands/" .. file))
    if c then print(("  %-10s %s"):format(name, c.summary)) end
  end
  print "\nstrategies: cawb NAME TASK.py; cawb help NAME prints its page"
  for _, name in ipairs(strategy.names()) do
    print(("  %-12s %s"):format(name, (assert(file.read(strategy.file(name))):match "^%-%- [%w_]+: ([^\n.:]+)" or "")))
  end
  print("\nThe manual is " .. core.home .. "/docs/README.md")
  return 0
end

return M

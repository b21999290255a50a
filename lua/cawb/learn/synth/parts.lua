-- parts: a set made by several processes at once, each with a shard in a folder of its own, which is joined when they have ended.

local core = require "cawb.core"
local merge = require "cawb.suite.merge"
local sets = require "cawb.learn.synth.set"
local shell = require "cawb.base.shell"

local M = {}

-- Flags that each process gets other values of.
local own = { ["--jobs"] = true, ["--out"] = true, ["--count"] = true, ["--texts"] = true, ["--draws"] = true }

--- The words of a command line without those flags and their values.
function M.without(argv)
  local rest, i = {}, 1
  while i <= #argv do
    local name = argv[i]:match "^(%-%-[%w-]+)=" or argv[i]
    if not own[name] then rest[#rest + 1] = argv[i] elseif not argv[i]:find "=" then i = i + 1 end
    i = i + 1
  end
  return rest
end

local function folder_of(out, i) return ("%s/part-%d"):format(out, i) end

-- The command line of one process. Each computes with one thread, for there are as many processes as cores.
local function line_of(argv, out, i, n, goal, draws)
  local words = { "OMP_NUM_THREADS=1", shell.quoted(core.program), "synth" }
  for _, word in ipairs(M.without(argv)) do words[#words + 1] = shell.quoted(word) end
  words[#words + 1] = ("--out %s --%s %d --draws %d --shard %d/%d --set simulate.threads=1"):format(shell.quoted(folder_of(out, i)),
    goal.texts and "texts" or "count", (goal.count + n - 1) // n, (draws + n - 1) // n, i, n)
  return table.concat(words, " ") .. (" > %s 2>&1"):format(shell.quoted(folder_of(out, i) .. "/log"))
end

--- Make a set of a goal (loop.lua) by `n` processes, of the command line `argv`, in the folder `out`. Each says what it does in part-N/log there. Returns the set of
--- their exit codes when all have ended, `interrupted` where a signal ended one; or nil, message, name.
function M.run(argv, out, n, goal, draws, interrupted)
  local running, codes = {}, {}
  for i = 1, n do
    local ok, message, name = core.fs.mkdir(folder_of(out, i))
    if not ok then return nil, message, name end
    running[i] = assert(io.popen(line_of(argv, out, i, n, goal, draws)))
  end
  for _, pipe in ipairs(running) do
    local _, how, code = pipe:close()
    codes[how == "signal" and interrupted or code or 0] = true
  end
  return codes
end

--- How many texts the parts hold together, each part's counted by `count(set)`. Some of two parts are one.
function M.held(out, n, count)
  local all = 0
  for i = 1, n do
    local set <close>, message, name = sets.open(folder_of(out, i))
    if not set then return nil, message, name end
    all = all + count(set)
  end
  return all
end

--- Join what is in the parts of a folder: true, or nil, message, name.
function M.join(out, n)
  local into <close>, message, name = core.store.open(out)
  if not into then return nil, message, name end
  for i = 1, n do
    if core.fs.kind(folder_of(out, i) .. "/store.sqlite") then
      local from <close>, why, kind = core.store.open(folder_of(out, i))
      if not from then return nil, why, kind end
      local ok
      ok, message, name = merge.stores(into, from)
      if not ok then return nil, message, name end
    end
  end
  return true
end

return M

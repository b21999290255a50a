-- cawb bench/compose/generators.lua FOLDER FILE [DEVICE] [IDS] [--variants] [--rungs]: compose's generators beside the last rungs
-- of the ladders, eager PyTorch and torch.compile, on KernelBench's own tasks at full size. FOLDER/dev.jsonl holds one
-- task a line, with level, problem_id, name and code; IDS are LEVEL/PROBLEM with "," between them. A line of JSON
-- for each task goes to FILE as soon as it is known; what FILE has is not measured again. With --variants other
-- schedules of the kernels are timed too, unchecked. With --rungs it is every task that a ladder serves whole, and the two
-- kernels alone are timed, in turns (ABBA), unchecked: a few seconds a task. Prints the table of all of FILE.

local core = require "cawb.core"
local cawb = require "cawb"
local compose = require "cawb.compose"
local display = require "cawb.base.display"
local evaluate = require "cawb.judge.evaluate"
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local file = require "cawb.base.file"
local python = require "cawb.base.python"
local stats = require "cawb.base.stats"

local words, variants, in_turns = {}, false, false
for _, word in ipairs { ... } do
  if word == "--variants" then variants = true elseif word == "--rungs" then in_turns = true else words[#words + 1] = word end
end
local folder, into = words[1], words[2]
assert(folder and into, "usage: cawb bench/compose/generators.lua FOLDER FILE [DEVICE] [IDS] [--variants] [--rungs]")
-- Those that ladders serve: what memory bounds first.
local served = "1/5,1/19,1/21,1/23,1/25,1/27,1/29,1/31,1/39,1/47,1/49,1/53,1/89,1/91,1/93,"
  .. "1/1,1/7,1/9,1/13,2/9,2/29,2/53,2/57,2/59,2/63,2/69,2/71,2/81,2/87"
local ids = words[4] or in_turns and served or "1/5,1/19,1/23,1/33,1/35,1/37,1/39,1/41,1/43,1/45,1/47,1/49,1/51,1/53,1/89,1/91,1/93,1/95,1/99,2/37"

-- Other schedules of a task's kernels, by what they are called.
local function how(t) return function() return t end end
local others = {
  ["1/23"] = { ["one row a block"] = how { stay = false }, ["cluster=16 block=256"] = how { cluster = 16, block = 256 },
               ["cluster=8 block=1024"] = how { cluster = 8, block = 1024 }, ["cluster=8 block=256"] = how { cluster = 8, block = 256 } },
  ["1/39"] = { ["cluster=2"] = how { cluster = 2 }, ["cluster=8"] = how { cluster = 8 }, ["stay"] = how { stay = true } },
  ["1/41"] = { ["columns=1024"] = how { columns = 1024 }, ["columns=4096"] = how { columns = 4096 }, ["threads=128"] = how { threads = 128 } },
  ["1/45"] = { ["threads=128"] = how { threads = 128 }, ["threads=512"] = how { threads = 512 }, ["columns=1024"] = how { columns = 1024 } },
  ["1/43"] = { ["down=2"] = how { down = 2 }, ["down=1"] = how { down = 1 }, ["strip"] = how { strip = true } },
  ["1/47"] = { ["across=128"] = how { across = 128 }, ["across=32"] = how { across = 32 }, ["shared"] = how { alone = false } },
  ["1/49"] = { ["across=128"] = how { across = 128 }, ["shared"] = how { alone = false } },
  ["1/51"] = { ["across=128"] = how { across = 128 }, ["across=32"] = how { across = 32 } },
  ["1/89"] = { ["packs=4"] = how { packs = 4 }, ["threads=512"] = how { threads = 512 } },
  ["1/93"] = { ["packs=4"] = how { packs = 4 }, ["threads=512"] = how { threads = 512 } },
  ["1/95"] = { ["again"] = how { hold = false } },
  ["1/99"] = { ["lanes=256"] = how { lanes = 256 }, ["lanes=128"] = how { lanes = 128 } },
}

local folder_of_tasks = os.tmpname()
os.remove(folder_of_tasks)
assert(core.fs.mkdir(folder_of_tasks))

local function entries()
  local list, known = {}, {}
  local f = io.open(into)
  for line in f and f:lines() or function() end do
    local e = core.json.decode(line)
    list[#list + 1], known[e.id] = e, true
  end
  if f then f:close() end
  return list, known
end

local function append(entry)
  local f = assert(io.open(into, "a"))
  f:write(core.json.encode(entry), "\n")
  f:close()
end

local function read_tasks()
  local tasks = {}
  for line in io.lines(folder .. "/dev.jsonl") do
    local e = core.json.decode(line)
    tasks[("%d/%d"):format(e.level // 1, e.problem_id // 1)] = e
  end
  return tasks
end

local function candidate(made, name) return cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = name } end

local function judged(task, c)
  local facts, message = evaluate.candidate(task, c, cawb.defaults)
  facts = facts or { ok = false, reason = message }
  return { ok = facts.ok, label = facts.label, reason = facts.reason, stage = facts.stage, time_s = facts.time_s, speedup = facts.speedup,
           error = facts.error }
end

-- Median seconds, of what nobody checks.
local function timed(task, c)
  local ran = execute.call(task, c, cawb.defaults, { op = "time", warmup = 2, samples = 20, budget = 0.5 }, "bench", 60)
  return ran and ran.ok and stats.summary(ran.samples).median or ran and ran.reason or "failed"
end

local function explore(task, id)
  local list, names = {}, {}
  for name in pairs(others[id] or {}) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local made, why = compose.make(task, { arch = task.device.info.arch, kernels = others[id][name] })
    list[#list + 1] = { name = name, time = made and timed(task, candidate(made, name)) or why }
  end
  return list
end

local function rung(task)
  local family = families.match(task)
  return family and judged(task, family:rung(#family.versions, task)) or nil, family and family.name .. "/" .. family.versions[#family.versions]
end

local TURNS = 4

-- Of both in turns, each first in every second one: their medians, with the least and the most of each turn's. What
-- ends in an error is said.
local function both_in_turns(task, mine, theirs)
  local samples, rows = { {}, {} }, { mine, theirs }
  for turn = 1, TURNS do
    for k = 1, 2 do
      local who = turn % 2 == 1 and k or 3 - k
      local t = timed(task, rows[who])
      if type(t) ~= "number" then return { failed = t }, { failed = t } end
      table.insert(samples[who], t)
    end
  end
  local function summary(list)
    table.sort(list)
    return { ok = true, time_s = { median = stats.quantile(list, 0.5), lo = list[1], hi = list[#list] } }
  end
  return summary(samples[1]), summary(samples[2])
end

-- A task's two kernels, and nothing else of it.
local function beside(task, device)
  local family = families.match(task)
  local made, why = compose.make(task, { arch = device.info.arch })
  if not made or not family then return { ok = false, stage = "no candidate", reason = why or "no ladder serves it" } end
  local mine, theirs = both_in_turns(task, candidate(made, "compose"), family:rung(#family.versions, task))
  if mine.failed then return { ok = false, stage = "run", reason = mine.failed } end
  return mine, theirs
end

local function bench(device, host, id, found)
  local path = ("%s/task.py"):format(folder_of_tasks)
  assert(file.write(path, found.code))
  local entry = { id = id, name = found.name }
  local task <close>, message = cawb.task(path, { device = device, host = host })
  if not task then
    entry.failed = message
    return entry
  end
  if in_turns then
    entry.compose, entry.rung = beside(task, device)
    return entry
  end
  local made, why = compose.make(task, { arch = device.info.arch })
  if made then entry.compose = judged(task, candidate(made, "compose")) else entry.failed = why end
  if made and variants then entry.variants = explore(task, id) end
  entry.rung, entry.family = rung(task)
  entry.baselines = {}
  for kind, b in pairs(task.baselines) do entry.baselines[kind] = b.time_s and b.time_s.median or nil end
  return entry
end

local function seconds(t) return type(t) == "number" and display.time(t) or t and tostring(t):sub(1, 60) or "-" end

local function row(e)
  local c, r, b = e.compose or {}, e.rung or {}, e.baselines or {}
  local mine, theirs = c.time_s and c.time_s.median, r.time_s and r.time_s.median
  local best = math.min(b.eager or math.huge, b.compile or math.huge)
  return { e.id .. " " .. e.name:sub(1, 28), c.ok and seconds(mine) or e.failed or ("%s: %s"):format(c.stage, c.reason):sub(1, 60),
           theirs and seconds(theirs) or "-", theirs and mine and ("%.3f"):format(mine / theirs) or "-", seconds(b.eager), seconds(b.compile),
           mine and best < math.huge and ("%.2fx"):format(best / mine) or "-", c.error and ("%.1e"):format(c.error.nrms or 0 / 0) or "-" }
end

do
  local device <close> = assert(cawb.device(words[3] or "auto"))
  local _, known = entries()
  local tasks, host = read_tasks(), nil
  for id in ids:gmatch "%d+/%d+" do
    host = host or { python.start(120) }
    if not known[id] then append(bench(device, host, id, assert(tasks[id], "no task " .. id))) end
  end
  if host then host[1]:close() end
  os.execute("rm -rf '" .. folder_of_tasks .. "'")
  local all, lines = entries(), {}
  for _, e in ipairs(all) do lines[#lines + 1] = row(e) end
  print(("%s%s, %s"):format(device.info.model, (device.info.modelled and ", modelled" or "") .. (in_turns and "" or ", PyTorch beside it"), os.date "!%Y-%m-%d"))
  for _, line in ipairs(display.table({ "task", "compose", "last rung", "compose/rung", "eager", "compile", "over the better", "error" }, lines)) do
    print(line)
  end
  for _, e in ipairs(all) do
    for _, v in ipairs(e.variants or {}) do print(("  %s %s: %s"):format(e.id, v.name, seconds(v.time))) end
  end
end

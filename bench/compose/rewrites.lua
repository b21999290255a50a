-- Which tasks of a suite `compose` rewrites, and what that is worth on a simulated device at full size (some blocks of
-- each launch stand for all): modelled times, without and with.
--   cawb bench/compose/rewrites.lua SUITE.jsonl [PATTERN of names] [DEVICE]

local cawb = require "cawb"
local compose = require "cawb.compose"
local core = require "cawb.core"
local display = require "cawb.display"
local options = require "cawb.base.options"
local python = require "cawb.base.python"

local suite, pattern, name = ...
assert(suite, "usage: cawb bench/compose/rewrites.lua SUITE.jsonl [PATTERN] [DEVICE]")

local all = options.copy(cawb.defaults)
all.scale.mode = "full"
all.simulate.blocks = all.scale.blocks
all.deadlines.run, all.deadlines.compile, all.deadlines.measure = 120, 120, 240
local device <close> = assert(cawb.device(name or "sim:h100", { simulate = all.simulate, deadlines = all.deadlines }))
local folder = os.tmpname()
os.remove(folder)
assert(core.fs.mkdir(folder))

local function open(row)
  local path = ("%s/%s_%s.py"):format(folder, row.level, row.name)
  local f = assert(io.open(path, "w"))
  f:write(row.code)
  f:close()
  return cawb.task(path, { device = device, options = all, host = { python.start(120) } })
end

-- Seconds, modelled; or nil and why not.
local function time_of(task, rewrite)
  local made, why = compose.make(task, { arch = device.info.arch, memory = device.info.memory, rewrite = rewrite })
  if not made then return nil, why end
  local r, message = cawb.measure(task, cawb.candidate { source = made.source, plan = made.plan, options = made.options },
    { options = all })
  if not r then return nil, message end
  return r.ok and r.time_s.median or nil, r.reason
end

local function rules_of(steps)
  local words = {}
  for i, s in ipairs(steps) do words[i] = ("%s (%s)"):format(s.rule, s.from and s.from.name or "?") end
  return table.concat(words, ", ")
end

print(("cawb %s, %s, %s: modelled, full sizes"):format(core.version, device.info.name, os.date "!%Y-%m-%d"))
local rows, seen = {}, 0
for line in io.lines(suite) do
  local row = core.json.decode(line)
  local label = ("%s/%s"):format(row.level, row.name)
  local task <close>, refused = label:find(pattern or ".") and open(row) or nil, nil
  if task then
    seen = seen + 1
    local made = compose.make(task, { arch = device.info.arch, memory = device.info.memory })
    if made and #made.rewrites > 0 then
      local before, no = time_of(task, false)
      local after, nor = time_of(task, true)
      rows[#rows + 1] = { label, rules_of(made.rewrites), before and display.time(before) or tostring(no),
        after and display.time(after) or tostring(nor), before and after and ("%.2fx"):format(before / after) or "-" }
      io.stderr:write(table.concat(rows[#rows], "  "), "\n")
    end
  end
end
for _, text in ipairs(display.table({ "task", "rewritten", "without", "with", "" }, rows)) do print(text) end
print(("%d of %d tasks are rewritten"):format(#rows, seen))

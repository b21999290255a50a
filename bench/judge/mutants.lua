-- bench/judge/mutants.lua: kernels with one mistake each. How many does the strict judge reject, and how many would allclose
-- at 1e-2 on five of the task's own inputs? COUNT mutants on random shapes, of a list in mutants/: `grammar`
-- (mistakes by kind, in every ladder, in the red team's kernels and in what `compose` makes) or `hand` (mistakes that
-- somebody thought of). With a JOURNAL what was done is kept, and a run that was ended goes on.
--   cawb bench/judge/mutants.lua -- [COUNT] [DEVICE] [SEED] [LIST] [JOURNAL]
-- The grammar's mutants are shown to allclose one in four. One that was not rejected and is, bit by bit, what it was made
-- of on some forty further inputs (mutants/same.lua) counts apart, but for kinds of mistakes that inputs may well hide, and
-- so does one that mutants/explained.lua explains.
-- Prints each other one that was not rejected, a table, and JSON last.

local root = arg[0]:match "^(.*)/" or "."
package.path = ("%s/?.lua;%s"):format(root, package.path)

local apart = require "mutants.apart"
local cawb = require "cawb"
local core = require "cawb.core"
local display = require "cawb.base.display"
local journals = require "mutants.journal"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local same = require "mutants.same"
local seeds = require "cawb.base.seeds"
local strategy = require "cawb.base.strategy"
local tasks = require "cawb.judge.task.task"

local count, name, seed = tonumber(arg[1] or "40"), arg[2] or "sim:h100", arg[3] or seeds.fresh()
local list_name = arg[4] or "grammar"
assert(list_name == "grammar" or list_name == "hand", "LIST is grammar or hand")
local list, journal = require("mutants." .. list_name), journals.open(arg[5], list_name, seed)
local CELL = 8                                     -- mutants of one task
local ALLCLOSE_EACH = list_name == "hand" and 1 or 4

local function options_of(protocol)
  local all = options.copy(cawb.defaults)
  local path = ("%s/configs/tolerance-%s.lua"):format(core.home, protocol)
  assert(options.overlay(all, assert(strategy.load_table(path)), path))
  all.deadlines.run = 5.0
  return all
end
local strict, paper = options_of "strict", options_of "paper"

-- A mistake must show in what is computed: one that cannot be planned counts nothing.
local function verify(task, all, candidate)
  local r = assert(cawb.verify(task, candidate, { options = all }))
  if not r.ok and (r.stage == "compile" or r.stage == "plan") then return nil end
  return r.ok, r.reason
end

local function one(task, mutant, cell, n)
  local ok, why = verify(task, strict, mutant.candidate)
  if ok == nil then return end
  local row = { cell = cell, kind = mutant.kind, rejected = not ok, why = why, says = mutant.says }
  if ok and mutant.base then row.same, row.compared = same.check(task, mutant.base, mutant.candidate, strict) end
  if n % ALLCLOSE_EACH == 0 then row.allclose = not verify(task, paper, mutant.candidate) end
  journal:keep(row)
  if row.rejected or apart(row) then return end
  print("not rejected: " .. row.says)
  io.stdout:flush()
end

local device <close> = assert(cawb.device(name))
local host = { python.start(strict.deadlines.start) }
assert(host[1], host[2])

local function fill(cell, pick)
  local c = list.cell(pick)
  strict.task, paper.task = {}, {}
  local task <close> = assert(tasks.open(c.path, { device = device, options = strict, task = c.shape, host = host }))
  for n = 0, CELL - 1 do
    local mutant = #journal.rows < count and c.make(task, strict)
    if not mutant then return end
    mutant.says = ("%s %s"):format(mutant.says, core.json.encode(c.shape))
    one(task, mutant, cell, n)
  end
end

while #journal.rows < count do fill(journal:next()) end
host[1]:close()

-- ---- what came of it

local function counts() return { made = 0, strict = 0, shown = 0, paper = 0, same = 0, explained = 0 } end
local all, tally, missed, rows = counts(), {}, {}, {}
for _, key in ipairs(list.kinds) do tally[key] = counts() end

local function weigh(t, row)
  local how = apart(row)
  if how then
    t[how] = t[how] + 1
    return
  end
  t.made = t.made + 1
  if row.rejected then t.strict = t.strict + 1 end
  if row.allclose ~= nil then t.shown = t.shown + 1 end
  if row.allclose then t.paper = t.paper + 1 end
end

for _, row in ipairs(journal.rows) do
  weigh(tally[row.kind], row)
  weigh(all, row)
  if not row.rejected and not apart(row) then missed[#missed + 1] = row.says end
end
local function share(part, whole) return ("%d of %d, %.1f%%"):format(part, whole, 100 * part / math.max(1, whole)) end
local function line(key, t)
  return { key, tostring(t.made), share(t.strict, t.made), share(t.paper, t.shown), tostring(t.same), tostring(t.explained) }
end
for _, key in ipairs(list.kinds) do rows[#rows + 1] = line(key, tally[key]) end
rows[#rows + 1] = line("all", all)
for _, text in ipairs(display.table({ "mistake", "mutants", "rejected, strict", "allclose at 1e-2", "the same", "explained" }, rows)) do
  print(text)
end
for _, text in ipairs(missed) do print("not seen: " .. text) end
print(core.json.encode { device = device.info.name, seed = seed, list = list_name, tally = tally, all = all,
                         missed = core.json.array(missed), version = cawb.version, when = os.date "!%Y-%m-%d" })
return all.strict / math.max(1, all.made) >= 0.99 and 0 or 1

-- bench/judge/variants.lua: is a right kernel ever rejected because it is written otherwise? COUNT right kernels of every ladder,
-- of the red team's corpus and of what `compose` makes, on random shapes, each rewritten by what changes no result
-- (mutants/variants.lua) and with tunables drawn, are evaluated with all rules. With a JOURNAL what was done is
-- kept, and a run that was ended goes on.
--   cawb bench/judge/variants.lua -- [COUNT] [DEVICE] [SEED] [JOURNAL]
-- Prints each rejection, how many there were by family, and JSON last.

local root = arg[0]:match "^(.*)/" or "."
package.path = ("%s/?.lua;%s"):format(root, package.path)

local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local journals = require "mutants.journal"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local seeds = require "cawb.base.seeds"
local subjects = require "mutants.subjects"
local tasks = require "cawb.judge.task.task"
local variants = require "mutants.variants"

local count, name, seed = tonumber(arg[1] or "40"), arg[2] or "sim:h100", arg[3] or seeds.fresh()
local journal = journals.open(arg[4], "variants", seed)
local CELL = 8                                     -- variants on one task

local all = options.copy(cawb.defaults)
all.verify.trials, all.measure.against = 2, {}

local function variant_of(task, base, pick)
  local source, did = variants.rewrite(base.source, base, pick)
  local c = cawb.candidate { source = source, plan = base.plan, defines = base.defines, name = base.name }
  return variants.member(task, c, pick, all), did
end

local function one(task, subject, cell, pick)
  local base = subject.candidate(task, pick)
  if not base then return end
  local candidate, did = variant_of(task, base, pick)
  local facts = assert(evaluate.candidate(task, candidate, all, { samples = 3, budget = 0.2 }))
  local unfit = not facts.ok and facts.stage == "plan" and not facts.rule      -- it does not serve this shape
  local row = { cell = cell, family = base.name:match "^[^/ ]+", passed = facts.ok, unfit = unfit or nil, stage = facts.stage,
                why = facts.reason, did = table.concat(did, " "), tunables = candidate.tunables,
                says = ("%s %s"):format(base.name, core.json.encode(subject.shape)) }
  journal:keep(row)
  if facts.ok or unfit then return end
  print(("REJECTED at %s: %s, %s %s: %s"):format(row.stage, row.says, row.did, core.json.encode(row.tunables or {}), tostring(row.why)))
  io.stdout:flush()
end

local device <close> = assert(cawb.device(name))
local host = { python.start(all.deadlines.start) }
assert(host[1], host[2])

local function fill(cell, pick)
  local subject = subjects.draw(pick)
  all.task = {}
  local task <close> = assert(tasks.open(subject.path, { device = device, options = all, task = subject.shape, host = host }))
  for _ = 1, CELL do
    if #journal.rows < count then one(task, subject, cell, pick) end
  end
end

while #journal.rows < count do fill(journal:next()) end
host[1]:close()

local families, names, rejected, unfit = {}, {}, 0, 0
for _, row in ipairs(journal.rows) do
  local f = families[row.family]
  if not f then
    f = { evaluated = 0, rejected = 0 }
    families[row.family], names[#names + 1] = f, row.family
  end
  if row.unfit then
    unfit = unfit + 1
  else
    f.evaluated = f.evaluated + 1
    if not row.passed then f.rejected, rejected = f.rejected + 1, rejected + 1 end
  end
end
table.sort(names)
for _, family in ipairs(names) do
  print(("%-14s %5d evaluated, %d rejected"):format(family, families[family].evaluated, families[family].rejected))
end
local evaluated = #journal.rows - unfit
print(("%d of %d right kernels written otherwise rejected (%d plans did not serve the shape)"):format(rejected, evaluated, unfit))
print(core.json.encode { device = device.info.model or device.info.name, seed = seed, evaluated = evaluated, rejected = rejected,
                         families = families, version = cawb.version, when = os.date "!%Y-%m-%d" })
return rejected > 0 and 1 or 0

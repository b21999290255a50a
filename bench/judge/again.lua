-- bench/judge/again.lua: what journals of mutants.lua and variants.lua hold against the judge, judged once more. Each mutant that was not
-- rejected and is not explained, and each right kernel that was, is made anew from its run's seed and cell and judged with COUNT
-- other seeds. One that is made differently today is said not to be there any more.
--   cawb bench/judge/again.lua -- [COUNT] [DEVICE] [SHARE] JOURNAL...
-- SHARE is K/N: the K-th of N parts, for processes side by side. Prints a line for each, and JSON last.

local root = arg[0]:match "^(.*)/" or "."
package.path = ("%s/?.lua;%s"):format(root, package.path)

local apart = require "mutants.apart"
local cawb = require "cawb"
local core = require "cawb.core"
local evaluate = require "cawb.judge.evaluate"
local grammar = require "mutants.grammar"
local options = require "cawb.base.options"
local python = require "cawb.base.python"
local seeds = require "cawb.base.seeds"
local subjects = require "mutants.subjects"
local tasks = require "cawb.judge.task.task"
local variants = require "mutants.variants"

local count, name = tonumber(arg[1] or "20"), arg[2] or "sim:h100"
local part, parts = (arg[3] or "1/1"):match "^(%d+)/(%d+)$"
local CELL = 8                                     -- of one task, as both benches have it

local all = options.copy(cawb.defaults)
all.verify.trials, all.measure.against, all.deadlines.run = 2, {}, 5.0

local function wanted(row)
  if row.list == "variants" then return not row.passed and not row.unfit end
  return row.list == "grammar" and not row.rejected and not apart(row)
end

local function read(paths)
  local list = {}
  for _, path in ipairs(paths) do
    for line in assert(io.open(path)):lines() do
      local row = core.json.decode(line)
      if row and wanted(row) then list[#list + 1] = row end
    end
  end
  return list
end

local device <close> = assert(cawb.device(name))
local host = { python.start(all.deadlines.start) }
assert(host[1], host[2])

-- What a cell draws from; see mutants/journal.lua.
local function pick_of(row)
  local draw = seeds.generator(("%s:%s:%d"):format(row.list, row.seed, row.cell))
  return function(lo, hi) return lo + draw "mutants" % (hi - lo + 1) end
end

local function open(path, shape)
  all.task = {}
  return assert(tasks.open(path, { device = device, options = all, task = shape, host = host }))
end

local function says(text, shape) return ("%s %s"):format(text, core.json.encode(shape)) end

-- The task and the candidate of a row, and what judges it; nil where its cell makes others today.
local function mutant_of(row)
  local cell = grammar.cell(pick_of(row))
  local task = open(cell.path, cell.shape)
  for _ = 1, CELL do
    local made = cell.make(task, all)
    if not made then break end
    if says(made.says, cell.shape) == row.says then
      return task, function() return cawb.verify(task, made.candidate, { options = all }) end
    end
  end
  task:close()
end

local function variant_of(row)
  local pick = pick_of(row)
  local subject = subjects.draw(pick)
  local task = open(subject.path, subject.shape)
  for _ = 1, CELL do
    local base = subject.candidate(task, pick)
    if not base then break end
    local source, did = variants.rewrite(base.source, base, pick)
    local made = variants.member(task, cawb.candidate { source = source, plan = base.plan, defines = base.defines, name = base.name }, pick, all)
    if says(base.name, subject.shape) == row.says and table.concat(did, " ") == row.did then
      return task, function() return evaluate.candidate(task, made, all, { samples = 3, budget = 0.2 }) end
    end
  end
  task:close()
end

local total = { rows = 0, judged = 0, rejected = 0, never = 0, gone = 0 }

local function judge(row)
  local task, once = (row.list == "variants" and variant_of or mutant_of)(row)
  total.rows = total.rows + 1
  if not task then
    total.gone = total.gone + 1
    return print(("%s: its cell makes others today"):format(row.says))
  end
  local rejected, why = 0, nil
  for i = 1, count do
    task:reseed(("again:%s:%d:%d"):format(row.seed, row.cell, i))
    local facts = assert(once())
    if not facts.ok then rejected, why = rejected + 1, why or facts.reason end
  end
  task:close()
  total.judged, total.rejected = total.judged + count, total.rejected + rejected
  total.never = total.never + (rejected == 0 and 1 or 0)
  print(("%s: rejected %d of %d times%s"):format(row.says, rejected, count, why and ", " .. why:gsub("\n.*", "") or ""))
  io.stdout:flush()
end

for i, row in ipairs(read(table.move(arg, 4, #arg, 1, {}))) do
  if i % tonumber(parts) == tonumber(part) % tonumber(parts) then judge(row) end
end
host[1]:close()
total.version, total.device = cawb.version, device.info.name
print(core.json.encode(total))
return 0

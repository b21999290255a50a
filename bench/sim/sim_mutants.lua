-- cawb bench/sim/sim_mutants.lua [N] [SEED] [FAMILY]: N seeded mutants of the ladders' kernels on the
-- simulated device: a barrier dropped, an index shifted, a bound moved or dropped, an initialisation
-- skipped, a mask or a distance changed. Each runs on shapes that are awkward for its family, the
-- unmutated kernel beside it on the same inputs. A mutant that compiles to the same code, or whose
-- results have the same errors to the last digit on all shapes and without any finding, has not
-- changed what can be seen ("unchanged"); one whose errors are at most twice the unmutated kernel's
-- rounds otherwise ("rounding": another lane of a sum, another neutral element). Of all others, how
-- many does the judge reject? Prints a table and one JSON object; exit status 1 where a mutant is
-- missed too often or a right kernel is accused.

local core = require "cawb.core"
local cawb = require "cawb"
local execute = require "cawb.judge.worker.execute"
local families = require "cawb.run.families"
local verdict = require "cawb.judge.verify.tolerance"
local options = require "cawb.base.options"
local display = require "cawb.base.display"

local count, seed, only = math.tointeger(tonumber(arg[1] or 40)), math.tointeger(tonumber(arg[2] or 1)), arg[3]
local root = arg[0]:match "^(.*)/" or "."
local ENOUGH = 0.95

-- Of each family: a task's file, and two shapes.
local cases = {
  { "softmax.py", { rows = 5, cols = 333 }, { rows = 2, cols = 2050 } },
  { "l2_norm.py", { rows = 5, cols = 1003 }, { rows = 3, cols = 512 } },
  { "cumsum.py", { rows = 3, cols = 516 }, { rows = 2, cols = 3001 } },
  { "row_sum.py", { rows = 3, cols = 257 }, { rows = 2, cols = 4003 } },
  { "layernorm.py", { rows = 3, cols = 77 }, { rows = 2, cols = 2100 } },
  { "column_sum.py", { batch = 3, rows = 33, cols = 35 }, { batch = 1, rows = 300, cols = 129 } },
  { "gelu.py", { rows = 7, cols = 131 }, { rows = 3, cols = 1024 } },
  { "matmul.py", { m = 33, n = 65, k = 47 }, { m = 64, n = 128, k = 96 } },
}

-- ---- mutations

-- A place in the source: from, to, what stands there instead.
local function each(list, kind, source, pattern, make)
  local at = 1
  while true do
    local from, to, a, b = source:find(pattern, at)
    if not from then return end
    local text = make(source:sub(from, to), a, b)
    if text then list[#list + 1] = { kind = kind, from = from, to = to, text = text } end
    at = from + 1
  end
end

local function barriers(list, s)
  for _, pattern in ipairs { "__syncthreads%(%)%s*;", "__syncwarp%b()%s*;", "%f[%w_]meet%(%)%s*;", "await%b()%s*;" } do
    each(list, "barrier dropped", s, pattern, function() return ";" end)
  end
end

local function indices(list, s)
  for _, by in ipairs { "+ 1", "- 1" } do
    each(list, "index shifted", s, "%f[%w_][%w_]+(%b[])", function(text, inner)
      local index = inner:sub(2, -2)
      if index:match "^%s*$" or index:match "^[%d%sA-Z_+*/]+$" then return nil end
      return text:sub(1, #text - #inner) .. "[(" .. index .. ") " .. by .. "]"
    end)
  end
end

local function bounds(list, s)
  each(list, "bound dropped", s, "%f[%w]if %((%b())", function() return nil end)
  each(list, "bound dropped", s, "%f[%w]if (%b())", function(_, cond)
    if not cond:find "[<>]" then return nil end
    return "if (true)"
  end)
  each(list, "bound dropped", s, "%f[%w]if (%b()) return;", function(_, cond)
    if not cond:find "[<>]" then return nil end
    return ";"
  end)
  each(list, "bound dropped", s, "= [%w_]+ < [%w_]+ %?", function(text) return text:gsub("[%w_]+ < [%w_]+", "true") .. "" end)
  each(list, "bound moved", s, "[%w_%)%]] < [%w_]", function(text) return (text:gsub("<", "<=")) end)
  each(list, "bound moved", s, "[%w_%)%]] >= [%w_]", function(text) return (text:gsub(">=", ">")) end)
end

local function beginnings(list, s)
  each(list, "initialisation skipped", s, "%f[%w]float ([%w_]+) = [^;,{}]+;", function(_, name) return "float " .. name .. ";" end)
  each(list, "initialisation skipped", s, "\n%s+[%w_]+%b[][%b[]]* = [^;]+;", function() return "\n;" end)
  each(list, "initialisation skipped", s, "if %([^()]*%) [%w_]+%b[] = [^;]+;", function() return ";" end)
end

local function masks(list, s)
  each(list, "mask changed", s, "%(~0u,", function() return "(0x0000ffffu," end)
  each(list, "mask changed", s, "_shfl_xor_sync", function() return "_shfl_down_sync" end)
  each(list, "mask changed", s, "_shfl_up_sync", function() return "_shfl_down_sync" end)
  each(list, "mask changed", s, "%% 32", function() return "% 16" end)
  each(list, "mask changed", s, "/ 32", function() return "/ 16" end)
  each(list, "mask changed", s, "== 0%)", function() return "== 1)" end)
  each(list, "mask changed", s, "== 31%)", function() return "== 30)" end)
  each(list, "mask changed", s, "width / 2", function() return "width / 4" end)
  each(list, "mask changed", s, "d %*= 2", function() return "d *= 4" end)
end

-- Comments keep their length and lose their text, so that no mutation lands in one.
local function without_comments(source)
  source = source:gsub("//[^\n]*", function(c) return (" "):rep(#c) end)
  return (source:gsub("#[^\n]*", function(c) return (" "):rep(#c) end))
end

local function places(source)
  local list, plain = {}, without_comments(source)
  for _, find in ipairs { barriers, indices, bounds, beginnings, masks } do find(list, plain) end
  return list
end

local function mutated(source, place)
  return source:sub(1, place.from - 1) .. place.text .. source:sub(place.to + 1)
end

local function line_of(source, at)
  local _, n = source:sub(1, at):gsub("\n", "")
  return n + 1
end

-- ---- running

local all = options.copy(cawb.defaults)
all.deadlines.run = 5.0
local device <close> = assert(cawb.device("sim:h100", all))

-- PTX without what names lines and files.
local function code_of(built)
  local file <close> = assert(io.open(built.ptx))
  local text = file:read("a"):gsub("\n%s*%.loc[^\n]*", ""):gsub("\n%s*%.file[^\n]*", ""):gsub("//[^\n]*", "")
  return (text:gsub("%.section.*", ""))
end

-- One execution on inputs of a seed: "ok" and what its errors are, or how it was caught and why.
local function outcome(task, c, at)
  local ran = assert(execute.call(task, c, all, { op = "run" }, "run", all.deadlines.run, at))
  if not ran.ok then
    local stage = ran.stage == "compile" and "no code" or ran.name == "timeout" and "deadline" or "sanitizer"
    return stage, ran.reason or "it does not compile"
  end
  local compared = assert(task:compare(ran.poison))
  local why = verdict.judge(compared, ran.report, all.tolerance)
  if ran.report.races > 0 then return "sanitizer", why end
  if why then return "verification", why end
  return "ok", compared.slots[1]
end

-- "unchanged", "rounding" or "missed", of two lists of what was compared.
local function difference(got, want)
  local how = "unchanged"
  for i, o in ipairs(want) do
    local g = got[i]
    if core.json.encode(g) ~= core.json.encode(o) then
      local near = o.worst and g.worst and g.worst.error <= 2 * o.worst.error and g.nrms <= 2 * o.nrms
      if not near then return "missed" end
      how = "rounding"
    end
  end
  return how
end

-- A rung as every task's family has it, and what becomes of it with one place changed.
local function mutant_of(c, place)
  return cawb.candidate { source = mutated(c.source, place), plan = c.plan, name = c.name, defines = c.defines }
end

-- Whether both compile, and to different code; else "no code" or "same code".
local function compare_code(task, base, mutant)
  local code = {}
  for i, c in ipairs { base, mutant } do
    local built = assert(execute.build(task, c, all))
    if not built.ok then return "no code" end
    code[i] = code_of(built)
  end
  return code[1] == code[2] and "same code" or "different"
end

-- How a mutant ends: "no code", "same code", as difference says, or how it was caught.
local function try(tasks, rung, place, at)
  local worst = "same code"
  for i, task in ipairs(tasks) do
    local mutant = mutant_of(rung[i], place)
    local code = compare_code(task, rung[i], mutant)
    if code == "no code" then return code end
    if code == "different" then
      local how, what = outcome(task, mutant, at)
      if how ~= "ok" then return how, what end
      local _, expected = outcome(task, rung[i], at)
      how = difference(what, expected)
      if how == "missed" or worst == "same code" or worst == "unchanged" then worst = how end
    end
  end
  return worst
end

local kinds = { "barrier dropped", "index shifted", "bound dropped", "bound moved", "initialisation skipped", "mask changed" }
local ends = { "no code", "same code", "unchanged", "rounding", "sanitizer", "verification", "deadline", "missed" }
local tally, missed, accused, right = {}, {}, {}, 0
for _, kind in ipairs(kinds) do tally[kind] = {} end
local sum = {}

local function open_tasks(case)
  local tasks = {}
  for i = 2, #case do
    tasks[#tasks + 1] = assert(cawb.task(("%s/../../examples/%s"):format(root, case[1]),
      { device = device, options = options.copy(all), task = case[i] }))
  end
  return tasks
end

local function check_right(tasks, rungs)
  for _, rung in ipairs(rungs) do
    for i, task in ipairs(tasks) do
      local how, why = outcome(task, rung[i], seed)
      right = right + 1
      if how ~= "ok" then accused[#accused + 1] = ("%s: %s"):format(rung.name, why) end
    end
  end
end

-- Every kind in turn, a rung and a place by chance; each mutant once.
local function draw(rungs, n, seen)
  for _ = 1, 200 do
    local rung, kind = rungs[math.random(#rungs)], kinds[n % #kinds + 1]
    local fitting = {}
    for _, p in ipairs(places(rung.source)) do if p.kind == kind then fitting[#fitting + 1] = p end end
    local p = fitting[1] and fitting[math.random(#fitting)]
    local key = p and ("%s %d %s"):format(rung.name, p.from, p.text)
    if p and not seen[key] then
      seen[key] = true
      return rung, p
    end
    if not p then n = n + 1 end
  end
end

local function mutate(tasks, rungs, n)
  local seen = {}
  for i = 1, n do
    local rung, p = draw(rungs, i, seen)
    if not rung then return end
    local how, why = try(tasks, rung, p, seed)
    tally[p.kind][how] = (tally[p.kind][how] or 0) + 1
    sum[how] = (sum[how] or 0) + 1
    if how == "missed" then
      missed[#missed + 1] = ("%s line %d, %s: '%s' became '%s'"):format(rung.name, line_of(rung.source, p.from), p.kind,
        rung.source:sub(p.from, p.to):gsub("%s+", " "), (p.text:gsub("%s+", " ")))
    elseif os.getenv "CAWB_MUTANTS" then
      io.stderr:write(("%-12s %s line %d, %s: %s\n"):format(how, rung.name, line_of(rung.source, p.from), p.kind,
        tostring(why):sub(1, 150)))
    end
  end
end

math.randomseed(seed)
local began, chosen = core.clock.now(), {}
for _, case in ipairs(cases) do if not only or case[1]:find(only, 1, true) then chosen[#chosen + 1] = case end end
for i, case in ipairs(chosen) do
  local tasks = open_tasks(case)
  local family, rungs = assert(families.match(tasks[1])), {}
  for n = 1, #family.versions do
    local rung = {}
    for k, task in ipairs(tasks) do rung[k] = family:rung(n, task) end
    rung.name, rung.source = rung[1].name, rung[1].source
    if #places(rung.source) > 0 then rungs[#rungs + 1] = rung end
  end
  check_right(tasks, rungs)
  mutate(tasks, rungs, count * i // #chosen - count * (i - 1) // #chosen)
  for _, task in ipairs(tasks) do task:close() end
end

local rows = {}
for _, kind in ipairs(kinds) do
  local row = { kind }
  for _, how in ipairs(ends) do row[#row + 1] = tostring(tally[kind][how] or 0) end
  rows[#rows + 1] = row
end
for _, line in ipairs(display.table({ "mutants", table.unpack(ends) }, rows)) do print(line) end
local caught = (sum.sanitizer or 0) + (sum.verification or 0) + (sum.deadline or 0)
local changed = caught + (sum.missed or 0)
for _, text in ipairs(missed) do print("missed: " .. text) end
for _, text in ipairs(accused) do print("ACCUSED, AND RIGHT: " .. text) end
print(("%d of %d mutants that changed what can be seen were caught (%.1f%%); %d of %d unmutated runs accused"):format(
  caught, changed, 100 * caught / math.max(1, changed), #accused, right))
print(core.json.encode { count = count, seed = seed, ends = sum, caught = caught, changed = changed, accused = #accused,
  unmutated = right, seconds = core.clock.now() - began, version = cawb.version, when = os.date "!%Y-%m-%d" })
return caught >= ENOUGH * changed and #accused == 0 and 0 or 1

-- gallery: what the gallery of the manual shows of each task: its graph, the compiler's kernels, their verdict, error, time beside PyTorch's,
-- and what limits them; a line of JSON for each, written as it comes. Verified on two draws of the task's own inputs and two of other kinds, at sizes that fit a simulated H100, timed (modelled) at the task's own.
--   cawb bench/door/gallery.lua bench/results/door/gallery.jsonl
-- Tasks that the file has already are left out. docs/gallery/make.py makes pages of it.

local cawb = require "cawb"
local core = require "cawb.core"
local ceilings = require "cawb.gpu.ceilings"
local compose = require "cawb.compose"
local display = require "cawb.base.display"
local file = require "cawb.base.file"
local options = require "cawb.base.options"
local variants = require "cawb.compose.variants"

local out = assert(arg[1], "usage: cawb bench/door/gallery.lua FILE.jsonl")

local function settings()
  local all = options.copy(cawb.defaults)
  all.scale.mode, all.verify.trials, all.verify.battery, all.verify.denormals = "both", 2, { "mixed", "integers" }, false
  all.deadlines.run, all.deadlines.measure = 300, 300
  all.verify.repeats, all.confirm.enabled, all.scale.both.operations = 0, false, 1 << 22
  return all
end

local function paths()
  local list = {}
  for _, dir in ipairs { "examples", "examples/operators", "bench/compose/unseen" } do
    for _, name in ipairs(core.fs.list(core.home .. "/" .. dir)) do
      if name:match "%.py$" then list[#list + 1] = dir .. "/" .. name end
    end
  end
  return list
end

local function lowered(task, all, own)
  local made = assert(variants.make(task, all, variants.list[1]))
  return made, cawb.candidate { source = made.source, plan = made.plan, options = made.options, name = "compose", own = own }
end

local function speedup(facts, kind)
  local s = facts.speedup and facts.speedup[kind]
  return s and s.median or nil
end

local function row_of(path, device)
  local all = settings()
  local task <close> = assert(cawb.task(core.home .. "/" .. path, { device = device, options = all }))
  local whole = task.own or task
  local made, own = lowered(whole, all)
  local candidate = task.own and select(2, lowered(task, all, own)) or own
  local facts = assert(cawb.judge(task, candidate, { options = all }))
  local p = cawb.profile(whole, own, { options = all, set = "quick" })
  return { task = path, source = assert(file.read(core.home .. "/" .. path)), note = task.notes[1], graph = compose.levels.graph(made),
           kernels = compose.table(made, p, (ceilings.of(whole.device) or {}).copy), ok = facts.ok, verdict = facts.verdict, reason = facts.reason, error = facts.error and facts.error.nrms,
           eager_error = facts.error and facts.error.eager and facts.error.eager.nrms, seconds = facts.time_s and facts.time_s.median,
           eager = speedup(facts, "eager"), compile = speedup(facts, "compile"), limiter = p and p.ok and p.roofline and p.roofline.sentence or nil,
           name = facts.name, device = device.info.model }
end

local known, text = {}, file.read(out) or ""
for line in text:gmatch "[^\n]+" do known[assert(core.json.decode(line)).task] = true end
local f = assert(io.open(out, "a"))
local device <close> = assert(cawb.device "sim:h100")
for _, path in ipairs(paths()) do
  if not known[path] and not core.clock.interrupted() then
    local ok, row = pcall(row_of, path, device)
    if ok then
      f:write(core.json.encode(row), "\n")
      f:flush()
    end
    print(path, ok and (row.verdict .. " " .. (row.seconds and display.time(row.seconds) or row.reason or "")) or row)
    io.stdout:flush()
  end
end
f:close()

-- cawb reproduce RUN: measure a stored candidate again, on fresh inputs in a fresh worker, and say
-- whether it agrees with what was stored.

local command = require "cawb.door.command"
local core = require "cawb.core"
local device = require "cawb.gpu.device"
local judge = require "cawb.judge.judge"
local manifest = require "cawb.gpu.manifest"
local display = require "cawb.base.display"
local task = require "cawb.judge.task.task"

local M = { summary = "measure a stored candidate again: cawb reproduce RUN" }

M.usage = [[
usage: cawb reproduce RUN [--out STORE] [--turn N] [--device NAME] [--task FILE] [--trust]
                           [--json]

RUN is a run's id in the store (cawb-runs), or the folder that it left. The best turn, unless
one is named. The task's Python runs as you. A record that names rules by a path, or no jail, needs
--trust. Intervals agree where they meet, or are less than the option measure.same apart.
Exit code 0: it agrees; 1: it does not.
]]

local own = { ["--out"] = "value", ["--turn"] = "value", ["--device"] = "value", ["--task"] = "value", ["--trust"] = "flag",
  ["--json"] = "flag" }

local need = command.need

-- Whether two intervals meet, or nearly.
local function agree(a, b, same)
  if not (a and b) then return nil end
  return a.lo <= b.hi * (1 + same) and b.lo <= a.hi * (1 + same)
end

local function compare(was, now, same)
  local list = {}
  local function add(what, a, b, form, ok)
    if a and b then list[#list + 1] = { what = what, was = form(a), now = form(b), ok = ok } end
  end
  add("time", was.time_s, now.time_s, display.interval, agree(was.time_s, now.time_s, same))
  for _, kind in ipairs { "eager", "compile" } do
    local a, b = was.speedup and was.speedup[kind], now.speedup and now.speedup[kind]
    add("over " .. kind, a, b, display.speedup, agree(a, b, same))
  end
  return list
end

local function show(r)
  print(("%s, turn %d of run %s on %s%s"):format(r.name, r.turn, r.run, r.device,
    r.modelled and " (modelled)" or ""))
  for _, d in ipairs(r.stack) do print(("another stack: %s was %s, is %s"):format(d.field, d.was, d.now)) end
  if not r.ok then print(("it failed at %s: %s"):format(r.stage, r.reason)) end
  local rows = {}
  for i, c in ipairs(r.compared) do rows[i] = { c.what, c.was, c.now, c.ok and "agrees" or "DIFFERS" } end
  if #rows > 0 then
    command.print_table({ "", "stored", "now", "" }, rows)
  end
  print(r.agrees and "It agrees." or "It does not agree.")
end

local function perform(t, dev, was)
  local facts = need(judge.judge(t, was.candidate, was.options, { once = true }))
  local r = { run = was.run.id, turn = was.number, name = was.result.name, device = dev.info.model,
    modelled = dev.info.modelled,
              ok = facts.ok, stage = facts.stage, reason = facts.reason, time_s = facts.time_s,
                speedup = facts.speedup,
              error = facts.error, compared = core.json.array(facts.ok and compare(was.result, facts,
                was.options.measure.same) or {}),
              stack = core.json.array {} }
  for _, d in ipairs(manifest.differences(manifest.of(dev, t.python), was.manifest)) do
    if d.times then table.insert(r.stack, d) end
  end
  r.agrees = facts.ok and #r.compared > 0
  for _, c in ipairs(r.compared) do r.agrees = r.agrees and c.ok end
  return r
end

function M.main(argv)
  local given, words = command.take(argv, own)
  local run = command.only(words, "one run is needed: cawb reproduce RUN [--out STORE]")
  if given.turn and not math.tointeger(tonumber(given.turn)) then command.wrong "--turn needs a number" end
  local store <close>, was = command.turn(run, given)
  local dev <close> = need(device.open(given.device or was.run.device, { deadlines = was.options.deadlines }))
  local t <close> = need(task.open(was.run.task, { device = dev, options = was.options }))
  local r = perform(t, dev, was)
  if given.json then print(core.json.encode(r)) else show(r) end
  return r.agrees and 0 or 1
end

return M

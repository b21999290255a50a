-- cawb reproduce RUN: measure a stored candidate again, on fresh inputs in a fresh worker, and say
-- whether it agrees with what was stored.

local command = require "cawb.door.command"
local core = require "cawb.core"
local device = require "cawb.gpu.device"
local judge = require "cawb.judge.judge"
local manifest = require "cawb.gpu.manifest"
local restored = require "cawb.run.restored"
local display = require "cawb.base.display"
local task = require "cawb.judge.task.task"

local M = { summary = "measure a stored candidate again: cawb reproduce RUN" }

M.usage = [[
usage: cawb reproduce RUN [--out STORE] [--turn N] [--device NAME] [--task FILE] [--json]

RUN is a run's id in the store (cawb-runs), or the folder that it left. The best turn, unless
one is named. Intervals agree where they meet, or are less than the option measure.same apart.
Exit code 0: it agrees; 1: it does not.
]]

local own = { ["--out"] = "value", ["--turn"] = "value", ["--device"] = "value", ["--task"] = "value",
  ["--json"] = "flag" }

local function fail(message, name) return command.fail("reproduce", message, name or "usage") end

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
    for _, line in ipairs(display.table({ "", "stored", "now", "" }, rows)) do print(line) end
  end
  print(r.agrees and "It agrees." or "It does not agree.")
end

local function perform(t, dev, was)
  local facts, message, name = judge.judge(t, was.candidate, was.options, { once = true })
  if not facts then return nil, message, name end
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

local function reproduce(store, id, given)
  local was, message, name = restored.turn(store, id, given.turn and math.tointeger(tonumber(given.turn)))
  if not was then return fail(message, name) end
  if given.task then was.run.task = given.task end
  message = restored.task_changed(was.run)
  if message then return fail(message) end
  local dev <close>, why, kind = device.open(given.device or was.run.device, { deadlines = was.options.deadlines })
  if not dev then return fail(why, kind) end
  local t <close>, why2, kind2 = task.open(was.run.task, { device = dev, options = was.options })
  if not t then return fail(why2, kind2) end
  local r
  r, message, name = perform(t, dev, was)
  if not r then return fail(message, name) end
  if given.json then print(core.json.encode(r)) else show(r) end
  return r.agrees and 0 or 1
end

function M.main(argv)
  local given, words = command.take(argv, own)
  if not given then return fail(words) end
  if #words ~= 1 or words[1]:sub(1,
    1) == "-" then return fail "one run is needed: cawb reproduce RUN [--out STORE]" end
  if given.turn and not math.tointeger(tonumber(given.turn)) then return fail("--turn needs a number") end
  local out, id = restored.place(words[1], given.out or "cawb-runs")
  if not core.fs.kind(out .. "/store.sqlite") then return fail(out .. ": there is no store in it") end
  local store <close>, message, name = core.store.open(out)
  if not store then return fail(message, name) end
  return reproduce(store, id, given)
end

return M

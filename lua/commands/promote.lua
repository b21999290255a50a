-- cawb promote RUN --into DIR: a candidate that passes every check, as an operator of PyTorch that
-- runs without cawb.

local command = require "cawb.door.command"
local core = require "cawb.core"
local device = require "cawb.device.device"
local promote = require "cawb.door.promote"
local restored = require "cawb.run.restored"

local M = { summary = "a checked candidate as a PyTorch operator: cawb promote RUN --into DIR" }

M.usage = [[
usage: cawb promote RUN --into DIR [--shape rows=64,cols=128]... [--name NAME] [--speedup 1.05]
       [--out STORE] [--turn N] [--device NAME] [--task FILE] [--modelled] [--json]

Checks the task's own shape and every --shape (constants of the task): the strict judge on ten
fresh inputs, 5% over eager and over torch.compile with confidence, the incumbent where DIR has
one; and the sanitizer. Writes source, plan, a C launcher, promoted.py (torch.library), a test
and report.md, or nothing. Exit code 0: promoted; 1: refused. --modelled accepts modelled
times, to try it out.
]]

local own = { ["--into"] = "value", ["--shape"] = "value", ["--name"] = "value", ["--speedup"] = "value",
  ["--out"] = "value",
              ["--turn"] = "value", ["--device"] = "value", ["--task"] = "value", ["--modelled"] = "flag",
                ["--json"] = "flag" }

local function fail(message, name) return command.fail("promote", message, name or "usage") end

-- --shape may come more than once: taken out before the other flags.
local function take_shapes(argv)
  local shapes, rest, i = {}, {}, 1
  while i <= #argv do
    local text = argv[i]:match "^%-%-shape=(.*)$"
    if argv[i] == "--shape" then
      i = i + 1
      text = argv[i]
      if not text then return nil, "--shape needs a value" end
    end
    if text then
      local overrides = {}
      for part in text:gmatch "[^,]+" do
        local name, value = part:match "^([%w_]+)=(.+)$"
        if not name then return nil, ("--shape '%s': write NAME=value,NAME=value"):format(text) end
        overrides[name] = math.tointeger(tonumber(value)) or tonumber(value) or value
      end
      shapes[#shapes + 1] = overrides
    else rest[#rest + 1] = argv[i] end
    i = i + 1
  end
  return shapes, rest
end

local function show(r, into)
  for _, c in ipairs(r.checks) do print(("%s  %s%s"):format(c.ok and "passed" or "FAILED", c.what,
    c.detail ~= "" and ": " .. c.detail or "")) end
  print(r.ok and ("promoted into %s"):format(into) or "refused: nothing was written")
end

local function run(store, id, given, shapes)
  local was, message, name = restored.turn(store, id, given.turn and math.tointeger(tonumber(given.turn)))
  if not was then return fail(message, name) end
  if given.task then was.run.task = given.task end
  message = restored.task_changed(was.run)
  if message then return fail(message) end
  local dev <close>, why, kind = device.open(given.device or was.run.device, { deadlines = was.options.deadlines })
  if not dev then return fail(why, kind) end
  local stem = was.run.task:match "([^/]+)%.py$" or "operator"
  local r
  r, message, name = promote.run(was, dev, { into = (given.into:gsub("/+$", "")), shapes = shapes,
    speedup = tonumber(given.speedup or promote.speedup),
    name = given.name or (stem:gsub("[^%w_]", "_"):gsub("^%d", "_%0")) .. "_" .. was.candidate.hash:sub(1,
      8), modelled = given.modelled })
  if not r then return fail(message, name) end
  if given.json then print(core.json.encode(r)) else show(r, given.into) end
  return r.ok and 0 or 1
end

function M.main(argv)
  local shapes, rest = take_shapes(argv)
  if not shapes then return fail(rest) end
  local given, words = command.take(rest, own)
  if not given then return fail(words) end
  if #words ~= 1 or words[1]:sub(1,
    1) == "-" or not given.into then return fail "a run and a folder are needed: cawb promote RUN --into DIR" end
  if given.name and not given.name:match "^[%a_][%w_]*$" then return fail("--name: letters, digits and _") end
  if given.speedup and not tonumber(given.speedup) then return fail("--speedup needs a number") end
  local out, id = restored.place(words[1], given.out or "cawb-runs")
  if not core.fs.kind(out .. "/store.sqlite") then return fail(out .. ": there is no store in it") end
  local store <close>, message, name = core.store.open(out)
  if not store then return fail(message, name) end
  return run(store, id, given, shapes)
end

return M

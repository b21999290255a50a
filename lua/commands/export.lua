-- cawb export RUN --trajectory: a recorded run as JSON Lines.

local command = require "cawb.door.command"
local core = require "cawb.core"
local trajectory = require "cawb.agent.trajectory"

local M = { summary = "a recorded run as JSON Lines: messages, tool calls, rewards, verdicts" }

M.usage = [[
usage: cawb export RUN --trajectory [--out DIR] [--to FILE]
       cawb export --all --trajectory [--out DIR] [--to FILE]

  RUN           its name, or its folder
  --out DIR     where runs are recorded (cawb-runs)
  --to FILE     write there, not to standard output
]]

local sound = command.sound

local own = { ["--out"] = "value", ["--to"] = "value", ["--all"] = "flag", ["--trajectory"] = "flag" }

local function parse(argv)
  local o, words = command.flags(argv, own)
  if #words > 1 then command.wrong "one run, or --all" end
  if not o.trajectory then command.wrong "say what to export: --trajectory" end
  if not words[1] == not o.all then command.wrong "name a run, or --all" end
  o.out, o.run = o.out or "cawb-runs", words[1]
  return o
end

-- A folder of a run is its store's folder and its name.
local function locate(o)
  local dir, id = (o.run or ""):match "^(.*)/([^/]+)/*$"
  if dir and core.fs.kind(o.run) == "folder" then o.out, o.run = dir, id end
  if core.fs.kind(o.out .. "/store.sqlite") ~= "file" then
    command.wrong(("%s has no store.sqlite: name the folder with --out"):format(o.out))
  end
end

local function write_all(o, store)
  local file = o.to and sound(io.open(o.to, "wb")) or io.stdout
  for _, id in ipairs(o.all and trajectory.runs(store) or { o.run }) do
    for _, line in ipairs(sound(trajectory.lines(store, id))) do
      sound(file:write(core.json.encode(line), "\n"), "cannot write")
    end
  end
  if o.to then sound(file:close(), "cannot write " .. o.to) end
end

function M.main(argv)
  local o = parse(argv)
  locate(o)
  local store <close> = sound(core.store.open(o.out))
  write_all(o, store)
  return 0
end

return M

-- cawb export RUN --trajectory: a recorded run as JSON Lines.

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

local function fail(message)
  io.stderr:write("cawb export: ", message, "\n")
  return 2
end

local valued = { ["--out"] = "out", ["--to"] = "to" }
local flags = { ["--all"] = "all", ["--trajectory"] = "trajectory" }

local function parse(argv)
  local o, i = { out = "cawb-runs" }, 1
  while i <= #argv do
    local name, value = argv[i]:match "^(%-%-%l+)=(.*)$"
    name = name or argv[i]
    if valued[name] then
      if not value then
        i = i + 1
        value = argv[i]
      end
      if not value then return nil, name .. " needs a value" end
      o[valued[name]] = value
    elseif flags[name] then o[flags[name]] = true
    elseif name:sub(1, 1) == "-" then return nil, ("unknown flag '%s'"):format(name)
    elseif o.run then return nil, "one run, or --all"
    else o.run = name end
    i = i + 1
  end
  if not o.trajectory then return nil, "say what to export: --trajectory" end
  if not o.run == not o.all then return nil, "name a run, or --all" end
  return o
end

-- A folder of a run is its store's folder and its name.
local function locate(o)
  local dir, id = (o.run or ""):match "^(.*)/([^/]+)/*$"
  if dir and core.fs.kind(o.run) == "folder" then o.out, o.run = dir, id end
  if core.fs.kind(o.out .. "/store.sqlite") ~= "file" then
    return nil, ("%s has no store.sqlite: name the folder with --out"):format(o.out)
  end
  return true
end

local function write_run(file, store, id)
  local lines, message = trajectory.lines(store, id)
  if not lines then return nil, message end
  for _, line in ipairs(lines) do
    if not file:write(core.json.encode(line), "\n") then return nil, "cannot write" end
  end
  return true
end

local function write_all(o, store)
  local file, message = io.stdout, nil
  if o.to then file, message = io.open(o.to, "wb") end
  if not file then return nil, message end
  for _, id in ipairs(o.all and trajectory.runs(store) or { o.run }) do
    local ok
    ok, message = write_run(file, store, id)
    if not ok then return nil, message end
  end
  if o.to and not file:close() then return nil, "cannot write " .. o.to end
  return true
end

function M.main(argv)
  local o, message = parse(argv)
  if not o then return fail(message) end
  local ok
  ok, message = locate(o)
  if not ok then return fail(message) end
  local store
  store, message = core.store.open(o.out)
  if not store then return fail(message) end
  ok, message = write_all(o, store)
  store:close()
  return ok and 0 or fail(message)
end

return M

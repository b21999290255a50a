-- cawb serve TASKS...: an environment that trainers ask over HTTP: candidates in, verdicts and rewards out.

local address = require "cawb.door.address"
local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local file = require "cawb.base.file"
local job = require "cawb.door.job"
local lane = require "cawb.base.lane"
local options = require "cawb.base.options"
local processor = require "cawb.base.processor"
local rules = require "cawb.judge.rules"
local scale = require "cawb.judge.task.scale"
local server = require "cawb.learn.serve.server"

local M = { summary = "an environment for trainers: candidates over HTTP, verdicts and rewards back" }

M.usage = [[
usage: cawb serve TASK.py|SUITE ... [flags]

Evaluates candidates that others send, on tasks that are loaded once. POST /score takes lists of
them; docs/howto/serve.md has every path. Prints one line when it listens.

  --host ADDRESS     where to listen (127.0.0.1); any other address needs --token-file
  --port N           0 takes a free one (8000)
  --token-file FILE  clients must send the first line of this file: Authorization: Bearer TOKEN
  --places N         candidates at once on each device: on a simulated one as many as cores, on a GPU
                     one, where nobody says; several on a GPU take turns in measuring
  --resident N       tasks that a place keeps loaded (8)
  --sessions N       sessions at once (64)
  --body BYTES       the largest body of a request (8388608)
  --rate N           requests a second from one address (0: no limit)
  --wait SECONDS     after so long a request is answered as queued (50)
  --no-memo          evaluate again what the record has
  --accept-tasks     take tasks that clients send: their Python is executed here
  --device auto|cuda:0,cuda:1|sim:h100, --config, --set, --out    as of a run
]]

local own = { ["--host"] = "value", ["--port"] = "value", ["--token-file"] = "value", ["--places"] = "value",
              ["--resident"] = "value", ["--sessions"] = "value", ["--body"] = "value", ["--rate"] = "value",
              ["--wait"] = "value", ["--no-memo"] = "flag", ["--accept-tasks"] = "flag" }

local numbers = { port = { 8000, 0, 65535 }, places = { 0, 1, 1024 }, resident = { 8, 1, 4096 }, sessions = { 64, 0, 3000 },
                  body = { 8 << 20, 1024, 1 << 30 }, rate = { 0, 0, 1 << 20 }, wait = { 50, 1, 3600 } }

local function log(text) io.stderr:write("cawb serve: ", text, "\n") end

local function read_numbers(given)
  local all = {}
  for name, about in pairs(numbers) do
    local text = given[name]
    local n = text and math.tointeger(tonumber(text))
    if text and not (n and n >= about[2] and n <= about[3]) then
      command.wrong(("--%s '%s': write a whole number from %d to %d"):format(name, text, about[2], about[3]))
    end
    all[name] = n or about[1]
  end
  return all
end

-- Options, and the text of the files that they came from. A new best is confirmed in sessions; what a candidate of
-- POST /score is worth must not depend on those before it.
local function layered(parsed, confirm)
  local all, texts = options.copy(defaults), core.json.array {}
  all.confirm.enabled = confirm
  command.options(parsed, all)
  for _, path in ipairs(parsed.configs) do texts[#texts + 1] = file.read(path) end
  command.sound(rules.set(all.rules))
  return all, texts
end

-- The first place of each device that is named.
local function open_named(parsed, all)
  local list = {}
  for name in parsed.device:gmatch "[^,]+" do list[#list + 1] = command.device(name, all) end
  return list
end

-- How many places each device has: a simulated one as many as there are cores, a GPU one, where nobody says otherwise.
local function places_of(first, named, places)
  if places > 0 then return places end
  return first.info.modelled and named == 1 and processor.cores() or 1
end

-- The devices of the places: each that is named is there as often as asked for. On a simulated one a place takes one core then; on a
-- GPU the places are in one lane, in which one of them at a time measures.
local function open_devices(parsed, all, places)
  local list = open_named(parsed, all)
  local named, modelled = #list, list[1].info.modelled
  local count = places_of(list[1], named, places)
  if modelled and count > 1 and all.simulate.threads == 0 then
    all.simulate.threads = 1
    for _, one in ipairs(list) do one:drop_worker() end
  end
  for i = 1, named do
    if not modelled and count > 1 then list[i].lane = lane.new() end
    for _ = 2, count do
      local one = command.device(list[i].requested, all)
      one.lane = list[i].lane
      list[#list + 1] = one
    end
  end
  return list
end

-- How many candidates are built ahead at once: on a simulated device every core has its place already.
local function builders(devices)
  return devices[1].info.modelled and 1 or math.max(1, math.min(8, processor.cores() // 4))
end

local function serve(parsed, given, number, host)
  local all, texts = layered(parsed, false)
  local session = layered(parsed, true)
  scale.prepare(all)
  local devices = open_devices(parsed, all, number.places)
  local s = command.need(server.open { paths = parsed.words, devices = devices, options = all, session_options = session, configs = texts, out = parsed.out,
    host = host, port = number.port, token_file = given["token-file"], accept = given["accept-tasks"], memo = not given["no-memo"],
    rate = number.rate, body = number.body, sessions = number.sessions, resident = number.resident, builders = builders(devices), wait = number.wait, log = log })
  io.stdout:write(("cawb serve: http://%s:%d, %d tasks on %s, %d places, %d candidates remembered\n"):format(address.shown(host),
    s.http:port(), #s.tasks.list, devices[1].info.name, #devices, s.runs.restored))
  io.stdout:flush()
  return s:serve()
end

function M.main(argv)
  local given, parsed = command.parse(argv, own)
  if #parsed.words == 0 and not given["accept-tasks"] then
    command.wrong "tasks are needed: cawb serve TASK.py|SUITE ... [flags]"
  end
  local number, host = read_numbers(given), address.host(given.host, given["token-file"])
  if parsed.resume or parsed.seed or parsed.json or #parsed.baselines > 0 then
    command.wrong "--resume, --seed, --json and --baseline are a run's: a server has none of them"
  end
  return serve(parsed, given, number, host) or job.codes.passed
end

return M

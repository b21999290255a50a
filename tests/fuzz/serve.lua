-- cawb tests/fuzz/serve.lua -- COUNT [SEED]: what clients may send to `cawb serve`, broken in all ways: bodies of every route and
-- frames of sessions, mutated as bytes and as JSON. Nothing is evaluated: a place that says so stands for the pool. Every request
-- has to be answered once, with a status that is meant, a body that is JSON, and without an error of ours. Build the program
-- with sanitizers (`cmake --preset asan`) for what happens below Lua.

local core = require "cawb.core"
local dialects = require "cawb.learn.serve.dialects"
local http = require "cawb.learn.serve.http"
local mcp = require "cawb.learn.serve.mcp"
local openenv = require "cawb.learn.serve.openenv"
local score = require "cawb.learn.serve.score"
local sessions = require "cawb.learn.serve.sessions"
local tasks = require "cawb.learn.serve.tasks"

local count, seed = math.tointeger(tonumber(arg[1] or 10000)), math.tointeger(tonumber(arg[2] or 1))
math.randomseed(seed)

-- ---- a server without a device

local function reward(facts) return facts.ok and 1 or -1 end

local held = { task = { device = { info = { name = "sim:h100" } } }, options = { compose = {} } }
local served = assert(tasks.new({ "examples/softmax.py", "examples/gelu.py" }, { scratch = "/tmp" }))
local scores = score.new { tasks = served, options = { deadlines = { rule = 10.0 } }, reward = reward, modelled = true, memo = true, wait = 1,
  device = { info = { name = "sim:h100" } }, log = error, metrics = { add = function() end },
  pool = { run = function() return nil, "nothing is evaluated here", "device" end },
  runs = { key = function(_, entry, c) return entry.hash .. c.hash end, recall = function() end, chosen = "" } }

local Episode = {}
Episode.__index = Episode
function Episode:reset() self.run = true return { observation = { text = "" }, done = false } end
function Episode:step() return self.run and { observation = {}, reward = 1, done = true } or nil, "reset first", "order" end
function Episode:state() return { step_count = 0 } end
function Episode:close() self.run = nil end
function Episode:on_place() return nil, "nothing is evaluated here", "device" end

local function new_episode()
  local run = { options = { agent = { shell = false } } }
  return setmetatable({ work = { run = run }, instructions = "" }, Episode)
end

local all_sessions = sessions.new(16)
local env = openenv.new { tasks = served, sessions = all_sessions, new_episode = new_episode, log = error, metrics = { add = function() end } }
local rpc = mcp.new { tasks = served, sessions = all_sessions, new_episode = new_episode, idle = 0, log = error }
local routes = { ["POST /score"] = function(r) return scores:post(r) end, ["GET /score/*"] = function(r, id) return scores:get(r, id) end }
for _, face in ipairs { env, rpc, dialects.new { tasks = served, score = scores } } do
  for name, f in pairs(face:routes()) do routes[name] = f end
end

-- ---- what is sent

local seeds = {
  { "POST", "/score", [[{"request_id":"a","items":[{"task":"softmax","candidate":{"source":"x","plan":"y","tunables":{"b":1}}}],"wait_s":0}]] },
  { "POST", "/score", [[{"task":"gelu","candidate":{"text":"```cuda\nx\n```\n```lua\ny\n```"},"memo":false}]] },
  { "POST", "/score", [[{"items":[{"task":"softmax","candidate":{"schedule":{"fuse":false}}},{"task":{"code":"x"},"candidate":{"python":"z"}}]}]] },
  { "POST", "/reset", [[{"task":"softmax","turns":2,"seed":3,"episode_id":"e"}]] }, { "POST", "/step", [[{"action":{"text":"x","task":"softmax"}}]] },
  { "POST", "/reward/openrlhf", [[{"query":["ab"],"prompts":["a"],"labels":["softmax"]}]] },
  { "POST", "/reward/slime", [[{"prompt":"p","response":"r","label":"gelu"}]] }, { "POST", "/seed_session", [[{"verifier_metadata":{"task":"gelu"}}]] },
  { "POST", "/verify", [[{"task":"gelu","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"t"}]}]}}]] },
  { "POST", "/evaluate", [[{"task_id":"t","task":"gelu","reference_code":"x","kernel_code":"k"}]] },
  { "POST", "/mcp", [[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}]] },
  { "POST", "/mcp", [[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}]] },
  { "GET", "/score/a", "" }, { "GET", "/status/t", "" }, { "GET", "/results/t", "" }, { "DELETE", "/mcp", "" },
  { "WS", "", [[{"type":"reset","data":{"task":"softmax"}}]] }, { "WS", "", [[{"type":"step","data":{"tool":"list","arguments":{}}}]] },
  { "WS", "", [[{"type":"step","data":{"source":"x","plan":"y","defines":{"A":1},"options":["-O1"]}}]] }, { "WS", "", [[{"type":"state"}]] },
}

local pieces = { "null", "true", "-1", "1e999", "0.1", "9007199254740993", '"\\u0000"', '"\\ud800"', "[]", "{}", '"softmax"', "[null]", "[[[[[[[[[]]]]]]]]]",
                 '{"a":{"a":{"a":null}}}', '""', '"' .. ("x"):rep(2000) .. '"', "\0", "\255", "\\", '"', ",", ":", "}", "]", ("["):rep(1500) }

local function pick(list) return list[math.random(#list)] end

local mutations = {
  function(s) local i = math.random(0, #s) return s:sub(1, i) .. pick(pieces) .. s:sub(i + 1) end,
  function(s) local i = math.random(1, math.max(1, #s)) return s:sub(1, i - 1) .. s:sub(i + math.random(0, 8)) end,
  function(s) local i = math.random(1, math.max(1, #s)) return s:sub(1, i - 1) .. string.char(math.random(0, 255)) .. s:sub(i + 1) end,
  -- a value for another one
  function(s)
    local at = {}
    for i in s:gmatch '():' do at[#at + 1] = i end
    local i = #at > 0 and pick(at)
    return i and s:sub(1, i) .. pick(pieces) .. s:sub(i + 1):gsub('^"[^"]*"', "", 1):gsub("^[%w.-]+", "", 1) or s
  end,
}

-- ---- and what must come back

local meant = { [200] = true, [202] = true, [400] = true, [404] = true, [405] = true, [409] = true, [422] = true, [503] = true }
local counts, total = {}, 0

local function check(condition, request, what)
  if not condition then error(("%s: %s %s %q"):format(what, request.method, request.path, request.body)) end
end

local function new_request(case)
  local answers = {}
  local handle = { answer = function(_, answer) answers[#answers + 1] = answer end }
  return { kind = "http", method = case[1], path = case[2], body = case[3], query = math.random(2) == 1 and "task=softmax" or "", remote = "r",
           connection = 1, handle = handle, headers = { ["mcp-session-id"] = rpc.sessions[1] and rpc.sessions[1].id } }, answers
end

local function send(case)
  local request, answers = new_request(case)
  if case[1] == "WS" then
    if not env.sessions[1] then env:open(request) answers[1] = nil end
    env:message(request)
    if answers[1] and answers[1].last then env:closed(request) end
  else
    local status, value, opts = http.dispatch(routes, request, error)
    http.answer(request, status, value, opts)
  end
  check(#answers == 1, request, "it is not answered once")
  check(meant[answers[1].status], request, "status " .. answers[1].status)
  if answers[1].body:find "%S" then check(pcall(function() assert(core.json.decode(answers[1].body) ~= nil) end), request, "the answer is no JSON") end
  counts[answers[1].status], total = (counts[answers[1].status] or 0) + 1, total + 1
end

for _ = 1, count do
  local case = table.move(pick(seeds), 1, 3, 1, {})
  for _ = 1, math.random(0, 4) do case[3] = pick(mutations)(case[3]) end
  send(case)
  if #rpc.sessions > 4 then rpc:close() end
end

local words = {}
for status, n in pairs(counts) do words[#words + 1] = ("%d: %d"):format(status, n) end
table.sort(words)
print(("%d requests from seed %d; answered %s"):format(total, seed, table.concat(words, ", ")))

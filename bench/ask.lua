-- ask: many conversations at once against the local endpoint of the tests: what cawb itself
-- takes for a request, and how much memory.
--   cawb bench/ask.lua [CONVERSATIONS] [QUESTIONS]

local cawb = require "cawb"
local core = require "cawb.core"
local loop = require "cawb.base.loop"

local many, questions = math.tointeger(tonumber(arg[1] or 64)), math.tointeger(tonumber(arg[2] or 5))
local mock <close> = dofile(core.home .. "/tests/agent/mock_llm/mock.lua")()

-- Bytes, from /proc: the most that was resident, or what is now.
local function memory(field)
  for line in io.lines "/proc/self/status" do
    local kib = line:match("^" .. field .. ":%s+(%d+) kB")
    if kib then return tonumber(kib) * 1024 end
  end
  return 0
end

local function talk(protocol, i)
  local model = { protocol = protocol, url = mock:url("conversation", i), name = "m" }
  local messages = { { role = "system", text = ("You write kernels. "):rep(200) } }
  for q = 1, questions do
    messages[#messages + 1] = { role = "user", text = ("question %d of %d"):format(q, i) }
    local reply = assert(cawb.ask(model, messages))
    assert(reply.text == ("re: question %d of %d"):format(q, i))
    messages[#messages + 1] = reply.message
  end
end

local results = { version = core.version, when = os.date "!%Y-%m-%d", conversations = many, questions = questions }
print(("%d conversations at once, %d questions each; cawb %s"):format(many, questions, core.version))
for _, protocol in ipairs { "openai", "anthropic" } do
  local list = {}
  for i = 1, many do list[i] = function() talk(protocol, i) end end
  local cpu, from = os.clock(), core.clock.now()
  loop.all(list)
  local own, wall = (os.clock() - cpu) / (many * questions), core.clock.now() - from
  print(("%-10s  %.3g ms of its own for a request, %.2f s for all %d"):format(protocol, own * 1e3, wall, many * questions))
  results[protocol] = { own_s = own, wall_s = wall }
end
results.resident_most, results.resident = memory "VmHWM", memory "VmRSS"
print(("memory      %.1f MB at most"):format(results.resident_most / 1e6))
print(core.json.encode(results))

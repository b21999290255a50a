-- Cassettes: what was said is recorded without keys, and played in a model's place.

local check = dofile "tests/support/check.lua"
local cassette = require "cawb.agent.cassette"
local cawb = require "cawb"
local core = require "cawb.core"

local dir = check.folder()
local path = dir .. "/talk.jsonl"
local mock <close> = dofile "tests/agent/mock_llm/mock.lua" ()
local secret = "sk-0123456789abcdef"
local key = check.write(dir .. "/key", secret .. "\n")

local tools = { { name = "write_file", description = "Write.", parameters = { { "path", "string", "which" } } } }

local function model(trick, case)
  return { url = mock:url(trick, case), name = "mock-1", key_file = key, retries = 0, first = 5.0 }
end

local function user(text) return { { role = "user", text = text } } end

-- Three questions: a reply, a call, a failure.
local function talk(opts)
  local out = {}
  local one = assert(cawb.ask(model("conversation", "c"), user("is it " .. secret .. "?"), opts))
  out[1] = one.text
  local two = assert(cawb.ask(model("tool_split", "c"), { user "hi"[1], one.message, user "write"[1] },
    { tools = tools, record = opts.record, replay = opts.replay }))          -- the key is in it again
  out[2] = two.calls[1].arguments.text
  out[3] = select(3, cawb.ask(model("context", "c"), user "long", opts))
  return out, two.usage
end

local said, used
do
  local record <close> = assert(cassette.record(path))
  said, used = talk { record = record }
end

check.test("a recorded talk holds no key", function()
  local text = assert(io.open(path)):read "a"
  assert(not text:find(secret, 1, true), text)
  check.matches(text, "%[key%]")
  check.equal(select(2, text:gsub("\n", "")), 4)
end)

for _, by in ipairs { "order", "hash" } do
  check.test("played by " .. by .. " it is the same talk, without an endpoint", function()
    local replay = assert(cassette.replay(path, { by = by }))
    local again, usage = talk { replay = replay }
    for i = 1, 3 do check.equal(again[i], core.http.redact(said[i])) end
    check.equal(usage.output, used.output)
    check.equal(usage.input, used.input)
  end)
end

check.test("by hash, another request or sampling finds nothing; by order anything goes", function()
  local replay = assert(cassette.replay(path, { by = "hash" }))
  check.fails("cassette", "no reply to this request", cawb.ask(model("x", 1), user "something else", { replay = replay }))
  local warm = model("context", "c")
  warm.sampling = { temperature = 1 }
  check.fails("cassette", "record it again", cawb.ask(warm, user "long", { replay = replay }))
  replay = assert(cassette.replay(path))
  assert(cawb.ask(model("x", 1), user "something else", { replay = replay }))
end)

check.test("a cassette that ends says so", function()
  local replay = assert(cassette.replay(path))
  talk { replay = replay }
  check.fails("cassette", "has 3 exchanges, and this is one more", cawb.ask(model("x", 1), user "more", { replay = replay }))
end)

check.test("with the latency it takes as long as it did", function()
  local slow = check.write(dir .. "/slow.jsonl", '{"cassette":1}\n{"reply":{"text":"hi"},"seconds":0.05}\n')
  local from = core.clock.now()
  assert(cawb.ask({ name = "m" }, user "hi", { replay = assert(cassette.replay(slow, { latency = true })) }))
  assert(core.clock.now() - from >= 0.05)
end)

check.test("a reply written by hand needs nothing but itself", function()
  local hand = check.write(dir .. "/hand.jsonl", table.concat({ '{"cassette":1,"about":"written by hand"}',
    '{"reply":{"text":"Writing.","calls":[{"name":"write_file","arguments":{"path":"a"}}]}}' }, "\n"))
  local reply = assert(cawb.ask({ name = "m" }, user "hi", { tools = tools, replay = assert(cassette.replay(hand)) }))
  check.equal(reply.calls[1].arguments.path, "a")
  check.equal(reply.calls[1].id, "call_1")
  check.equal(reply.stop, "tools")
  assert(reply.usage.estimated and reply.usage.output > 0)
end)

check.test("what is no cassette is said with its line", function()
  check.fails("missing", "no%-such", cassette.replay(dir .. "/no-such"))
  check.fails("invalid", "no cassette", cassette.replay(check.write(dir .. "/a", '{"hello":1}\n')))
  check.fails("invalid", "a:2: ", cassette.replay(check.write(dir .. "/a", '{"cassette":1}\n{"reply":')))
  check.fails("invalid", "a:2: neither a reply", cassette.replay(check.write(dir .. "/a", '{"cassette":1}\n{"say":1}')))
  check.fails("io", "cassette", cassette.record(dir .. "/no/such/folder"))
end)

return check.done()

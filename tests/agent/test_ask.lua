-- cawb.ask against an endpoint that plays tricks (tests/agent/mock_llm/server.py), in both
-- protocols: every trick ends in the outcome that is named for it.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local loop = require "cawb.base.loop"

local dir = check.folder()

-- A certificate for the test of certificates, where there is openssl.
local cert = ""
if select(2, check.shell(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
  .. "subjectAltName=IP:127.0.0.1 -keyout %s/key.pem -out %s/cert.pem 2>/dev/null"):format(dir, dir))) == 0 then
  cert = ("%s/cert.pem %s/key.pem"):format(dir, dir)
end

local mock <close> = dofile "tests/agent/mock_llm/mock.lua" (cert)
local port, secure = mock.port, mock.secure
local protocols = { "openai", "anthropic" }

local tools = {
  { name = "write_file", description = "Write a file.", parameters = { { "path", "string", "which" },
    { "text", "string", "what", optional = true } } },
  { name = "list", description = "List files." },
}

local case = 0
local function url(trick)
  case = case + 1
  return ("http://127.0.0.1:%d/%s/%d/v1"):format(port, trick, case)
end

local function get(path) return mock:get(path) end

local user = { { role = "system", text = "Be brief." }, { role = "user", text = "Greet the wörld." } }
local hello = "Hello, wörld ✓ 🎉!"

-- Ask with short deadlines; `more` are further settings of the model.
local function ask(protocol, trick, more, opts)
  local model = { protocol = protocol, url = url(trick), name = "mock-1", backoff = 0.001, retries = 2,
                  first = 5.0, idle = 5.0, whole = 10.0 }
  for key, value in pairs(more or {}) do model[key] = value end
  opts = opts or {}
  opts.tools = opts.tools == nil and tools or opts.tools or nil
  return cawb.ask(model, user, opts)
end

-- What each trick ends in: a name, and what the message holds; attempts where they count.
local failures = {
  { "429_always", "limit", "429", attempts = 3 },
  { "429_long", "limit", "backoff_most", attempts = 1 },
  { "quota", "quota", "quota", attempts = 1 },
  { "500_always", "server", "500", attempts = 3 },
  { "502_html", "server", "502", attempts = 3 },
  { "529_always", "overloaded", "529", attempts = 3 },
  { "401", "auth", "invalid_api_key", attempts = 1 },
  { "403", "auth", "permission", attempts = 1 },
  { "404", "not_found", "model_not_found", attempts = 1 },
  { "400", "refused", "temperature", attempts = 1 },
  { "context", "context", "maximum context", attempts = 1 },
  { "context2", "context", "too long", attempts = 1 },
  { "413", "context", "413", attempts = 1 },
  { "silent", "first_timeout", "model.first", model = { first = 0.05, retries = 0 } },
  { "stall", "idle_timeout", "model.idle", model = { idle = 0.05, retries = 0 } },
  { "trickle", "timeout", "model.whole", model = { whole = 0.1 }, attempts = 1 },
  { "cut", "cut", "", attempts = 3 },
  { "cut_at_once", "cut", "", attempts = 3 },
  { "cut_in_utf8", "cut", "", attempts = 3 },
  { "ends_early", "cut", "in the middle", attempts = 3 },
  { "closes", "cut", "", attempts = 3 },
  { "huge", "too_large", "model.limit", model = { limit = 200000 }, attempts = 1 },
  { "huge_event", "too_large", "", model = { limit = 200000 }, attempts = 1 },
  { "html", "content_type", "text/html.*model.url is http", attempts = 1 },
  { "no_type", "content_type", "no type", attempts = 1 },
  { "redirect", "redirect", "model.url", attempts = 1 },
  { "bad_event", "malformed", "no JSON object", attempts = 3 },
  { "bad_body", "malformed", "no JSON object", model = { stream = false } },
  { "other_body", "content_type", "without '.*hello.*model.url is http", model = { stream = false }, attempts = 1 },
  { "empty_body", "empty", "", model = { stream = false } },
  { "nothing", "empty", "nothing in it", attempts = 3 },
  { "says_nothing", "empty", "nothing in it", attempts = 3 },
  { "only_thought", "empty", "model.max_tokens", attempts = 3 },
  { "filtered", "filtered", "refused", attempts = 1 },
  { "wrong_types", "empty", "" },
  { "error_event", "overloaded", "", attempts = 3 },
  { "error_body", "limit", "slow down", attempts = 3 },
  { "bad_utf8", "malformed", "UTF%-8", attempts = 3 },
  { "surrogate", "malformed", "UTF%-8", attempts = 3 },
  { "nul", "malformed", "NUL", attempts = 3 },
  { "raw_nul", "malformed", "NUL", attempts = 3 },
  { "not_http", "malformed", "", attempts = 3 },
  { "bad_chunk", "cut", "", attempts = 3 },
  { "deep", "malformed", "", attempts = 3 },
}

-- Tricks that a reply survives, and how many attempts it took.
local successes = {
  { "ok", 1 }, { "ok", 1, { stream = false } }, { "json_for_stream", 1 }, { "stream_for_json", 1, { stream = false } },
  { "429_once", 2 }, { "429_after", 2 }, { "429_date", 2 }, { "429_bad_after", 2 }, { "500_twice", 3 },
  { "503_once", 2 }, { "cut_once", 2 }, { "closes_once", nil }, { "bad_event_once", 2 }, { "nothing_once", 2 },
  { "one_packet", 1 }, { "ten_packets", 1 }, { "crlf", 1 }, { "cr", 1 }, { "bom", 1 }, { "no_done", 1 },
  { "stays_open", 1 }, { "closes_after", 1 }, { "unknown_fields", 1 }, { "nulls", 1 }, { "no_usage", 1 },
  { "length", 1 },
}

for _, protocol in ipairs(protocols) do
  for _, f in ipairs(failures) do
    check.test(("%s: %s ends as %s"):format(protocol, f[1], f[2]), function()
      local reply, message, name, about = ask(protocol, f[1], f.model)
      check.fails(f[2], f[3], reply, message, name)
      if f.attempts then check.equal(about.attempts, f.attempts, "attempts") end
    end)
  end
  for _, s in ipairs(successes) do
    check.test(("%s: %s is survived"):format(protocol, s[1]), function()
      local reply = assert(ask(protocol, s[1], s[3]))
      check.equal(reply.text, hello)
      check.equal(#reply.calls, 0)
      if s[2] then check.equal(reply.attempts, s[2], "attempts") end
    end)
  end

  check.test(protocol .. ": one byte in a packet", function()
    check.equal(assert(ask(protocol, "bytes")).text, "é🎉")
  end)

  check.test(protocol .. ": what it used is counted, and what that costs", function()
    local reply = assert(ask(protocol, "ok", { name = "claude-sonnet-4-5" }))
    check.equal(reply.usage.input, 100)
    check.equal(reply.usage.cached, 40)
    check.equal(reply.usage.output, 20)
    check.equal(reply.cost, (60 * 3 + 40 * 0.3 + 20 * 15) / 1e6)
    check.equal(assert(ask(protocol, "ok")).cost, nil)
    reply = assert(ask(protocol, "no_usage", { price = { input = 1e6, output = 0 } }))
    check.equal(reply.usage.estimated, true)
    check.equal(reply.cost, reply.usage.input)
  end)

  check.test(protocol .. ": why it stopped", function()
    check.equal(assert(ask(protocol, "ok")).stop, "end")
    check.equal(assert(ask(protocol, "length")).stop, "length")
    check.equal(assert(ask(protocol, "tool")).stop, "tools")
  end)

  check.test(protocol .. ": unknown fields are told", function()
    assert(#assert(ask(protocol, "unknown_fields")).unknown > 0)
    check.equal(#assert(ask(protocol, "ok")).unknown, 0)
  end)

  for _, how in ipairs { { "tool" }, { "tool_split" }, { "tool", stream = false } } do
    check.test(("%s: a tool's call, %s%s"):format(protocol, how[1], how.stream == false and " at once" or ""), function()
      local reply = assert(ask(protocol, how[1], { stream = how.stream }))
      check.equal(#reply.calls, 1)
      check.equal(reply.calls[1].name, "write_file")
      check.equal(reply.calls[1].arguments.path, "kernel.cu")
      check.equal(reply.calls[1].arguments.text, 'float x = 1.0f; // ü\n"quoted" \\ back')
    end)
  end

  check.test(protocol .. ": arguments that are none are the call's failure, not the reply's", function()
    local call = assert(ask(protocol, "tool_bad")).calls[1]
    check.equal(call.arguments, nil)
    check.matches(call.bad, "no JSON object")
    check.matches(assert(ask(protocol, "tool_list")).calls[1].bad, "no JSON object")
    check.equal(next(assert(ask(protocol, "tool_none")).calls[1].arguments), nil)
    check.equal(assert(ask(protocol, "tool_unknown")).calls[1].name, "launch_missiles")
  end)

  check.test(protocol .. ": two calls in one reply", function()
    local calls = assert(ask(protocol, "two_tools")).calls
    check.equal(#calls, 2)
    check.equal(calls[1].name, "list")
    check.equal(calls[2].arguments.path, "kernel.cu")
    assert(calls[1].id ~= calls[2].id)
  end)

  check.test(protocol .. ": tools in the text, for models that have none", function()
    local reply = assert(ask(protocol, "written_call", { tools = "text" }))
    check.equal(reply.text, "Let me write.\n")
    check.equal(reply.calls[1].arguments.text, "int x;")
    local said = assert(ask(protocol, "echo", { tools = "text", stream = false }))
    local body = core.json.decode(said.text).body
    check.equal(body.tools, nil)
    check.matches(core.json.encode(body), "You call a tool by writing")
  end)

  check.test(protocol .. ": what goes over the wire", function()
    local sampling = { temperature = 0.5 }
    local sent = core.json.decode(assert(ask(protocol, "echo", { stream = false, sampling = sampling,
      max_tokens = 77, extra_headers = { ["x-team"] = "kernels" } })).text)
    check.equal(sent.body.model, "mock-1")
    check.equal(sent.body.temperature, 0.5)
    check.equal(sent.body.max_tokens, 77)
    check.equal(#sent.body.tools, 2)
    check.equal(sent.headers["x-team"], "kernels")
    check.equal(sent.headers.authorization, nil)
  end)

  check.test(protocol .. ": a conversation with calls and results goes back", function()
    local reply = assert(ask(protocol, "two_tools"))
    local messages = { user[1], user[2], reply.message }
    for _, call in ipairs(reply.calls) do
      messages[#messages + 1] = { role = "tool", id = call.id, name = call.name, text = "done\0\255", failed = true }
    end
    messages[#messages + 1] = { role = "user", text = "Go on." }
    local model = { protocol = protocol, url = url "echo", name = "m", stream = false }
    local body = core.json.decode(assert(cawb.ask(model, messages, { tools = tools })).text).body
    local text = core.json.encode(body.messages)
    check.matches(text, "call_0")
    check.matches(text, "done%?%?")
    check.equal(#body.messages, protocol == "openai" and 6 or 3)
  end)

  check.test(protocol .. ": a key from a file is sent, and never shown", function()
    local key = check.write(dir .. "/key", "sk-0123456789abcdef\n")
    local reply, message, name = ask(protocol, "secret_echo", { key_file = key })
    check.fails("refused", "your key is .*%[key%]", reply, message, name)
    assert(not message:find "0123456789")
    reply, message, name = ask(protocol, "ok", { key_file = dir .. "/no-such-key" })
    check.fails("missing", "no%-such%-key", reply, message, name)
    reply, message, name = ask(protocol, "ok", { key_env = "NO_SUCH_API_KEY" })
    check.fails("missing", "NO_SUCH_API_KEY", reply, message, name)
  end)

  check.test(protocol .. ": many at once, in one thread", function()
    local functions = {}
    for i = 1, 64 do
      functions[i] = function()
        local model = { protocol = protocol, url = url "conversation", name = "m" }
        return assert(cawb.ask(model, { { role = "user", text = "question " .. i } }))
      end
    end
    for i, r in ipairs(loop.all(functions)) do check.equal(r[1].text, "re: question " .. i) end
  end)
end

check.test("a redirect is not followed", function() check.equal(get "count/ok/stolen", "0") end)

check.test("nobody answers", function()
  local reply, message, name = cawb.ask({ url = "http://127.0.0.1:1/v1", name = "m", retries = 1, backoff = 0.001 }, user)
  check.fails("connect", "%(model.url is http://127.0.0.1:1/v1%)", reply, message, name)
  reply, message, name = cawb.ask({ url = "http://no-such-host.invalid/v1", name = "m", retries = 0 }, user)
  assert(reply == nil and (name == "resolve" or name == "missing"), tostring(name) .. ": " .. tostring(message))
end)

check.test("a key in the environment is sent, and neither scripts nor children see it", function()
  local script = check.write(dir .. "/keys.lua", ([[
    local cawb = require "cawb"
    local reply, message = cawb.ask({ url = %q, name = "m", retries = 0 }, { { role = "user", text = "hi" } })
    print(message)
    print("script", os.getenv "OPENAI_API_KEY")
    local p = io.popen "env; tr '\\0' '\\n' < /proc/$PPID/environ"
    print(p:read "a")]]):format(url "secret_echo"))
  local out = check.shell(("OPENAI_API_KEY=sk-0123456789abcdef '%s' %s 2>&1"):format(core.program, script))
  check.matches(out, "your key is Bearer %[key%]")
  check.matches(out, "script%s+nil")
  check.matches(out, "PATH=")
  assert(not out:find("0123456789abcdef", 1, true), out)
end)

check.test("an endpoint's failure shows no part of a key, and no control character, retries included", function()
  local script = check.write(dir .. "/failure.lua", ([[
    local cawb = require "cawb"
    local function say(text) print("SAID " .. text) end
    print(select(2, cawb.ask({ url = %q, name = "m", retries = 1, backoff = 0.001 }, { { role = "user", text = "hi" } }, { say = say })))
    ]]):format(url "500_secret"))
  local out = check.shell(("OPENAI_API_KEY=sk-0123456789abcdef '%s' %s 2>&1"):format(core.program, script))
  check.matches(out, "SAID HTTP 500: ")
  for _, part in ipairs { "sk-0", "\27", "\xC2\x9B" } do assert(not out:find(part, 1, true), out) end
end)

check.test("a key does not travel in the clear", function()
  local key = check.write(dir .. "/key", "sk-0123456789abcdef\n")
  local reply, message, name = cawb.ask({ url = "http://192.0.2.1/v1", name = "m", key_file = key }, user)
  check.fails("insecure", "in the clear", reply, message, name)
end)

check.test("certificates are verified", function()
  if secure == 0 then return print "skipped: there is no openssl" end
  local model = { url = ("https://127.0.0.1:%d/ok/tls/v1"):format(secure), name = "m", retries = 0 }
  local reply, message, name = cawb.ask(model, user)
  check.fails("tls", "certificate", reply, message, name)
  model.ca = dir .. "/cert.pem"
  check.equal(assert(cawb.ask(model, user)).text, hello)
end)

check.test("a deadline of the caller's", function()
  local reply, message, name = ask("openai", "silent", nil, { deadline = core.clock.now() + 0.05 })
  check.fails("timeout", "run's time", reply, message, name)
end)

check.test("misuse raises", function()
  check.raises("unknown option 'model.nmae' %(did you mean 'name'", cawb.ask, { nmae = "m" }, user)
  check.raises("messages are a list", cawb.ask, { name = "m" }, {})
  check.raises("message 1 needs a role", cawb.ask, { name = "m" }, { "hello" })
  check.raises("unknown option 'tool'", cawb.ask, { name = "m" }, user, { tool = {} })
  check.fails("invalid", "model.name", cawb.ask({}, user))
end)

check.test("Retry-After, as seconds and as a date", function()
  local retry_after = require("cawb.agent.ask").retry_after
  check.equal(retry_after "7", 7)
  check.equal(retry_after "-1", nil)
  check.equal(retry_after "soon", nil)
  check.equal(retry_after "Wed, 21 Oct 2015 07:28:00 GMT", 0)
  local later = os.date("!%a, %d %b %Y %H:%M:%S GMT", os.time() + 100)
  local seconds = retry_after(later)
  assert(seconds > 90 and seconds <= 101, tostring(seconds))
end)

return check.done()

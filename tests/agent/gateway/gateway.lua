-- cawb.ask through a real gateway, in both protocols: cawb tests/agent/gateway/gateway.lua URL KEYFILE.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"

local url, key = arg[1], arg[2]
local hello = "Hello from the gateway: wörld ✓"
local tools = { { name = "list", description = "List files.", parameters = { { "path", "string", "where" } } } }
local messages = { { role = "system", text = "Be brief." }, { role = "user", text = "Hi." } }

local function ask(more, opts)
  local model = { url = url, name = "mock", key_file = key, retries = 0, first = 60.0, max_tokens = 100 }
  for k, v in pairs(more) do model[k] = v end
  return cawb.ask(model, messages, opts)
end

for _, protocol in ipairs { "openai", "anthropic" } do
  for _, stream in ipairs { true, false } do
    check.test(("%s, %s"):format(protocol, stream and "streamed" or "at once"), function()
      local reply = assert(ask({ protocol = protocol, stream = stream }, { tools = tools }))
      check.equal(reply.text, hello)
      check.equal(reply.stop, "end")
      assert(reply.usage.input > 0 and reply.usage.output > 0)
    end)
  end
  check.test(protocol .. ": a wrong key, a model that is not there, a limit", function()
    local wrong = check.write(check.folder() .. "/key", "sk-not-the-key\n")
    local reply, message, name = ask { protocol = protocol, key_file = wrong }
    assert(not reply and (name == "auth" or name == "refused"), message)   -- without a database: 400
    reply, message, name = ask { protocol = protocol, name = "no-such-model" }
    assert(not reply and (name == "refused" or name == "not_found"), tostring(name) .. ": " .. tostring(message))
    check.fails("limit", "429", ask { protocol = protocol, name = "mock-limit" })
  end)
end

return check.done()

-- The protocol that other people's agents speak, without a run behind it: lines, messages, both
-- generations, and what a client may do wrong. tests/agent/test_mcp.py drives whole runs.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local mcp = require "cawb.agent.mcp"

local dir = check.folder()

local tools = {
  { name = "echo", description = "say it again", parameters = { { "text", "string", "what" }, { "loud", "boolean", "how", optional = true } } },
  { name = "fail", description = "", parameters = { type = "object", properties = {} } },
  { name = "raise", description = "", parameters = {} },
}

local function call(tool, arguments, progress)
  if tool.name == "raise" then error "a mistake" end
  progress "half-way"
  return tostring(arguments.text) .. "\255", tool.name == "fail"
end

-- Serve these lines (tables are encoded); the answers, decoded.
local function talk(lines, write)
  local answers, at, logged = {}, 0, {}
  local how = mcp.serve { tools = tools, call = call, instructions = "be quick",
    log = function(text) logged[#logged + 1] = text end,
    read = function()
      at = at + 1
      local line = lines[at]
      return type(line) == "table" and core.json.encode(line) or line
    end,
    write = write or function(text)
      check.equal(text:sub(-1), "\n")
      check.equal(select(2, text:gsub("\n", "")), 1, "newlines in a message")
      answers[#answers + 1] = assert(core.json.decode(text))
      return true
    end }
  check.equal(how, "gone")
  return answers, logged
end

local function hello(version) return { jsonrpc = "2.0", id = 0, method = "initialize", params = { protocolVersion = version,
  capabilities = {}, clientInfo = { name = "test", version = "1" } } } end

local function request(id, method, params) return { jsonrpc = "2.0", id = id, method = method, params = params } end

local function failed(answer, code, pattern, id)
  check.equal(answer.error and answer.error.code, code, core.json.encode(answer))
  check.matches(answer.error.message, pattern)
  check.equal(answer.id, id)                 -- null where it is not known
end

check.test("a handshake agrees on a version that both know, else on the latest of ours", function()
  for asked, given in pairs { ["2024-11-05"] = "2024-11-05", ["2025-06-18"] = "2025-06-18", ["2025-11-25"] = "2025-11-25",
                              ["1999-01-01"] = "2025-11-25", ["2026-07-28"] = "2025-11-25" } do
    local a = talk { hello(asked), { jsonrpc = "2.0", method = "notifications/initialized" }, request("x", "ping") }
    check.equal(a[1].result.protocolVersion, given)
    check.equal(a[1].result.serverInfo.name, "cawb")
    check.equal(a[1].result.instructions, "be quick")
    check.equal(a[2].id, "x")
    check.equal(next(a[2].result), nil)
    check.equal(#a, 2)
  end
end)

check.test("tools are listed with their schemas, and called", function()
  local a = talk { hello "2025-06-18", request(1, "tools/list"), request(2, "tools/call", { name = "echo", arguments = { text = "hi" } }),
    request(3, "tools/call", { name = "fail" }),
    [[{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a\u0000b\\u0000"}}}]] }
  local echo = a[2].result.tools[1]
  check.equal(echo.inputSchema.type, "object")
  check.equal(echo.inputSchema.properties.text.type, "string")
  check.equal(echo.inputSchema.required[1], "text")
  check.equal(#echo.inputSchema.required, 1)
  check.equal(a[3].result.content[1].text, "hi?")
  check.equal(a[3].result.isError, false)
  check.equal(a[4].result.isError, true)
  check.equal(a[5].result.content[1].text, "a???b\\u0000?")    -- made clean by the \255 behind it
end)

check.test("progress goes to whoever asked for it, ahead of the answer", function()
  local a = talk { hello "2025-06-18",
    request(1, "tools/call", { name = "echo", arguments = { text = "a" }, _meta = { progressToken = "t" } }) }
  check.equal(a[2].method, "notifications/progress")
  check.equal(a[2].params.progressToken, "t")
  check.equal(a[2].params.message, "half-way")
  check.equal(a[3].id, 1)
end)

check.test("what is no request is told so, and the next one is answered", function()
  local bad = {
    { "{", -32700, "not JSON" }, { "}\0{", -32700, "not JSON" }, { "\255\254", -32700, "not JSON" },
    { ("["):rep(5000), -32700, "not JSON" },
    { "12", -32600, "jsonrpc" }, { '"text"', -32600, "jsonrpc" }, { "null", -32600, "jsonrpc" }, { "[]", -32600, "empty batch" },
    { '{"id":1,"method":"ping"}', -32600, "jsonrpc" }, { '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, "jsonrpc" },
    { '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, "id must be" },
    { '{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, "id must be" },
    { '{"jsonrpc":"2.0","id":7}', -32600, "method must be", 7 }, { '{"jsonrpc":"2.0","id":7,"method":3}', -32600, "method must be", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"nosuch"}', -32601, "no method 'nosuch'", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"resources/list"}', -32601, "no method", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"server/discover"}', -32601, "no method", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"ping","params":3}', -32602, "params must be an object", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}', -32602, "protocolVersion", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}', -32602, "cursor", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call"}', -32602, "no tool 'nil'", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ech"}}', -32602, "did you mean 'echo'", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":{}}}', -32602, "no tool", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":[1]}}', -32602, "must be an object", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":"x"}}', -32602, "must be an object", 7 },
    { '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"raise"}}', -32603, "the tool raise failed: .*a mistake", 7 },
    { false, -32600, "a message may have" },
  }
  for _, one in ipairs(bad) do
    local a = talk { hello "2025-06-18", one[1], request("after", "ping") }
    check.equal(#a, 3, tostring(one[1]))
    failed(a[2], one[2], one[3], one[4])
    check.equal(a[3].id, "after")
  end
end)

check.test("notifications, answers and blank lines are not answered", function()
  local a = talk { hello "2025-06-18", "", "  ", '{"jsonrpc":"2.0","id":null,"method":"ping"}', { jsonrpc = "2.0", method = "notifications/cancelled", params = { requestId = 1 } },
    { jsonrpc = "2.0", method = "notifications/nosuch" }, { jsonrpc = "2.0", id = 3, result = {} },
    { jsonrpc = "2.0", id = 3, error = { code = 1, message = "x" } }, request(9, "ping") }
  check.equal(#a, 2)
  check.equal(a[2].id, 9)
end)

check.test("a batch is answered by a batch", function()
  local a = talk { hello "2025-03-26", '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},3]',
    '[{"jsonrpc":"2.0","method":"x"}]', request(2, "ping") }
  check.equal(#a, 3)
  check.equal(a[2][1].id, 1)
  check.equal(a[2][2].error.code, -32600)
end)

check.test("before a handshake there is ping only", function()
  local a = talk { request(1, "ping"), request(2, "tools/list"), request(3, "tools/call", { name = "echo" }), request(4, "nosuch") }
  check.equal(next(a[1].result), nil)
  failed(a[2], -32600, "initialize first", 2)
  failed(a[3], -32600, "initialize first", 3)
  failed(a[4], -32601, "no method", 4)
end)

check.test("the second generation needs no handshake: every request names its version", function()
  local meta = { ["io.modelcontextprotocol/protocolVersion"] = "2026-07-28" }
  local a = talk { request(1, "server/discover", { _meta = meta }), request(2, "tools/list", { _meta = meta }),
    request(3, "tools/call", { name = "echo", arguments = { text = "hi" }, _meta = meta }),
    request(4, "tools/list", { _meta = { ["io.modelcontextprotocol/protocolVersion"] = "2030-01-01" } }) }
  check.equal(a[1].result.supportedVersions[1], "2026-07-28")
  for i = 1, 3 do
    check.equal(a[i].result.resultType, "complete")
    check.equal(a[i].result._meta["io.modelcontextprotocol/serverInfo"].name, "cawb")
  end
  check.equal(a[2].result.ttlMs, 0)
  check.equal(a[3].result.content[1].text, "hi?")
  check.equal(a[3].result.ttlMs, nil)
  failed(a[4], -32022, "unsupported protocol version", 4)
  check.equal(a[4].error.data.supported[1], "2026-07-28")
end)

check.test("a client that does not read any more ends it", function()
  local asked = 0
  local answers = talk({ hello "2025-06-18", request(1, "ping") }, function() asked = asked + 1 return false end)
  check.equal(asked, 1)
  check.equal(#answers, 0)
end)

check.test("lines: too long ones are skipped, a piece at the end is none", function()
  local path = check.write(dir .. "/lines", ("a"):rep(10) .. "\n" .. ("b"):rep(11) .. "\n\nc\r\ncut")
  local f <close> = assert(io.open(path))
  local read = mcp.lines(f, 10)
  check.equal(read(), ("a"):rep(10))
  check.equal(read(), false)
  check.equal(read(), "")
  check.equal(read(), "c\r")
  check.equal(read(), nil)
end)

return check.done()

-- mock: starts the endpoint that plays tricks (server.py). dofile(this)(words) returns
-- { port, secure }, get(path) and close().

local core = require "cawb.core"
local loop = require "cawb.base.loop"

local Mock = {}
Mock.__index = Mock

--- The text at http://127.0.0.1:PORT/PATH.
function Mock:get(path)
  local http = assert(loop.http())
  local t = assert(http:start { url = ("http://127.0.0.1:%d/%s"):format(self.port, path) })
  assert(loop.wait(function() return t:ending() end, core.clock.now() + 10))
  local text = t:read()
  t:close()
  return text
end

--- The address of a trick; requests with the same case are counted together.
function Mock:url(trick, case) return ("http://127.0.0.1:%d/%s/%s/v1"):format(self.port, trick, case) end

function Mock:close()
  if not self.pipe then return end
  self:get "quit"
  self.pipe:close()
  self.pipe = nil
end
Mock.__close = Mock.close

return function(words)
  local python = os.getenv "CAWB_PYTHON" or "python3"
  local pipe = assert(io.popen(("exec '%s' '%s/tests/agent/mock_llm/server.py' %s"):format(python, core.home, words or ""), "r"))
  local port, secure = pipe:read("n", "n")
  return setmetatable({ pipe = pipe, port = assert(port, "the server does not start"), secure = secure }, Mock)
end

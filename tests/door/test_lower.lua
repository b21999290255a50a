-- What `cawb lower` answers where the compiler itself fails.

local check = dofile "tests/support/check.lua"
local candidate = require "cawb.compose.candidate"
local lower = require "cawb.door.lower"

local function graph(name)
  local tensor = { shape = { 2 }, dtype = "float32" }
  return { graph = { { op = name, name = name, inputs = { tensor }, outputs = { tensor }, args = {} } }, inputs = {}, outputs = {}, params = {}, memory = {} }
end

check.test("a mistake in the compiler concerns one graph", function()
  local right = candidate.make
  candidate.make = function(task)
    assert(task.graph[1].name ~= "bad", "planted\nwith more lines")
    return { source = "" }
  end
  local device <const> = { info = { arch = "sm_90" } }
  local ok, reply = pcall(lower.refusals, device, { graph "good", graph "bad", graph "good" })
  local package = lower.package(device, graph "bad")
  candidate.make = right
  assert(ok, reply)
  assert(not reply.refusals[1] and not reply.refusals[3])
  assert(reply.refusals[2]:find "^a mistake in the compiler: .*planted$", reply.refusals[2])
  assert(not package.ok and package.reason == reply.refusals[2])
end)

return check.done()

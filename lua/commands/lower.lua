-- cawb lower: graphs of PyTorch's operators in, packages of kernels out: one JSON text a line.

local command = require "cawb.door.command"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local lower = require "cawb.door.lower"
local options = require "cawb.base.options"

local M = { summary = "graphs in, packages of kernels out: what torch.compile(backend=\"cawb\") asks" }

M.usage = [[
usage: cawb lower [--device sim:h100]

Reads requests, one JSON text a line, and answers each by one line, until its input ends. The backend
of torch.compile starts it; docs/howto/compile.md is about that.

  {"op": "lower", "graph": ..., "memory": ..., "inputs": ..., "outputs": ..., "params": ...}
      a graph as the task host records it: kernels, launches and scratch, or why not
  {"op": "refusals", "graphs": [...]}
      for each graph false, or why the compiler does not take it

--device is a simulated device of the chip that the kernels are for; no GPU is touched.
]]

local patience = 900.0       -- seconds: a network is one text of hundreds of kernels

local own = { ["--device"] = "value" }

local ops = {
  hello = lower.hello,
  lower = lower.package,
  refusals = function(device, request) return lower.refusals(device, request.graphs) end,
}

-- A mistake in the compiler is the answer to one request, and no end of the process.
local function answer(device, line)
  local request, message = core.json.decode(line)
  if type(request) ~= "table" then return { ok = false, name = "invalid", reason = "no JSON object: " .. tostring(message) } end
  local op = ops[request.op]
  if not op then return { ok = false, name = "invalid", reason = ("there is no op '%s'"):format(tostring(request.op)) } end
  local fine, reply = xpcall(op, debug.traceback, device, request)
  return fine and reply or { ok = false, name = "internal", reason = tostring(reply) }
end

function M.main(argv)
  local given, words = command.flags(argv, own)
  if #words > 0 then command.wrong "graphs come by its input: cawb lower [--device sim:h100]" end
  local all = options.copy(defaults)
  all.deadlines.compile = patience
  local device <close> = command.device(given.device or "sim:h100", all)
  for line in io.lines() do
    io.stdout:write(core.json.encode(answer(device, line)), "\n")
    io.stdout:flush()
  end
  return 0
end

return M

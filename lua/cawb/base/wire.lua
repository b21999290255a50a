-- wire: a process that answers requests, and the protocol that its answers are held to. The
-- protocols stand in core/base/protocol/*.json, one file for each process. What does not fit them
-- ends that process, and the call with it: nil, message, "protocol".

local core = require "cawb.core"
local file = require "cawb.base.file"
local schema = require "cawb.base.schema"

local M = {}

local known = {}

local function merged(...)
  local all = {}
  for _, fields in ipairs { ... } do
    for name, field in pairs(fields) do all[name] = field end
  end
  return all
end

local function as_optional(fields)
  local all = {}
  for name, field in pairs(fields) do all[name] = setmetatable({ optional = true }, { __index = field }) end
  return all
end

-- Of every message: which request it is, and whose answer.
local common = { op = { type = "text", most = 64, is = "which request it is" },
                 call = { type = "whole", optional = true, is = "a number drawn for this request; its answer has the same" } }
local answers = { ok = { type = "bool", is = "it was done; else the fields of a failure" },
                  call = { type = "whole", is = "the request's" } }

-- The three forms of an operation's messages as objects.
local function forms(op, failure)
  return {
    request = { type = "object", fields = merged(op.request, common) },
    reply = { type = "object", fields = merged(op.reply, answers), others = op.others },
    failure = { type = "object", fields = merged(as_optional(op.reply), failure, answers), others = op.others },
    descriptors = op.descriptors or 0,
  }
end

--- A protocol by its file's name: { process =, reply_bytes =, types =, ops = { name = { request =,
--- reply = } }, forms = { name = { request =, reply =, failure =, descriptors = } } }. Raises where the
--- file is broken: it comes with the program.
function M.protocol(name)
  if known[name] then return known[name] end
  local path = ("%s/core/base/protocol/%s.json"):format(core.home, name)
  local p, message = core.json.decode(assert(file.read(path)))
  if not p then error(("%s: %s"):format(path, message)) end
  p.forms, p.path = {}, ("core/base/protocol/%s.json"):format(name)
  for op, about in pairs(p.ops) do p.forms[op] = forms(about, p.failure) end
  known[name] = p
  return p
end

--- Hold requests to their protocol, too: one that does not fit raises. For tests: a request is
--- the judge's own.
M.check_requests = false

---@class cawb.Peer
local Peer = {}
Peer.__index = Peer
Peer.__name = "cawb.peer"

local function check_request(self, request, form)
  local p = self.protocol
  if not form then error(("%s has no op '%s'"):format(p.path, tostring(request.op)), 3) end
  local problem = schema.check(form.request, request, p.types)
  if problem then error(("the request '%s' does not fit %s: %s"):format(request.op, p.path, problem), 3) end
end

-- The process has lost all credit: what it says next could not be believed either.
local function misfit(self, problem)
  self.child:kill()
  return nil, ("the %s's answer to '%s' does not fit %s: %s"):format(self.protocol.process, self.op,
    self.protocol.path, problem), "protocol"
end

-- Descriptors are handles in the list `fds`, put there by core.child.
local function check_descriptors(reply, most)
  local fds = reply.fds
  reply.fds = nil
  if fds and #fds > most then
    for _, fd in ipairs(fds) do fd:close() end
    return ("%d descriptors came with it, at most %d do"):format(#fds, most)
  end
  return nil, fds
end

-- The reply, or nil, message, name, reply: as core.child has them, but checked.
local function checked(self, reply)
  local form, types = self.protocol.forms[self.op], self.protocol.types
  local problem, fds = check_descriptors(reply, form.descriptors)
  if math.type(reply.call) == "integer" and reply.call ~= self.number then problem = "it answers another request" end
  problem = problem or schema.check(reply.ok == false and form.failure or form.reply, reply, types)
  if problem then return misfit(self, problem) end
  reply.fds, reply.call = fds, nil
  if reply.ok then return reply end
  return nil, reply.message or "it failed without a reason", reply.name or "invalid", reply
end

--- Send a request, as core.child: true, or nil, message, name. Its answer is due then.
function Peer:send(request, opts)
  local form = self.protocol.forms[request.op]
  if M.check_requests or not form then check_request(self, request, form) end
  self.op, self.number = request.op, string.unpack("<I6", core.clock.random(6))
  if self.child:unasked() then return misfit(self, "it sent an answer before it was asked") end
  request.call = self.number
  local ok, message, name = self.child:send(request, opts)
  request.call = nil
  return ok, message, name
end

--- The answer: as core.child, but held to the protocol.
function Peer:receive(timeout, left)
  local reply, message, name, raw = self.child:receive(timeout, left)
  if reply or raw then return checked(self, reply or raw) end
  if name == "protocol" then return misfit(self, message) end
  return nil, message, name
end

--- Both, one after the other.
function Peer:call(request, opts)
  local deadline = core.clock.now() + opts.timeout
  local ok, message, name = self:send(request, opts)
  if not ok then return nil, message, name end
  return self:receive(opts.timeout, math.max(0.001, deadline - core.clock.now()))
end

--- Whether it runs, and has said nothing that it was not asked.
function Peer:sound() return self.child:alive() and not self.child:unasked() end

for _, name in ipairs { "ready", "fd", "pid", "alive", "kill", "status", "output", "printed", "close" } do
  Peer[name] = function(self, ...) return self.child[name](self.child, ...) end
end
Peer.__close = Peer.close

--- A path as requests carry it: as it is, or "hex:" and its bytes, since JSON is UTF-8.
function M.path(path)
  if utf8.len(path) then return path end
  return "hex:" .. path:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
end

--- Start a process that speaks the protocol of this name: it, or nil, message, name. `argv` and
--- `opts` as core.child.new takes them.
function M.start(name, argv, opts)
  local p = M.protocol(name)
  local all = merged(opts or {}, { most = p.reply_bytes })
  local child, message, kind = core.child.new(p.process, argv, all)
  if not child then return nil, message, kind end
  return setmetatable({ child = child, protocol = p }, Peer)
end

return M

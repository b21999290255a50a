-- listen: what comes to a server's door, each request as a task of the loop, until a signal; what is under way then finishes.

local core = require "cawb.core"
local http = require "cawb.learn.serve.http"
local loop = require "cawb.base.loop"

local M = {}

--- Handlers of a server of pages: it has `routes` (http.dispatch), and no WebSockets.
M.handlers = {}

function M.handlers.http(self, request)
  if self.draining then return http.answer(request, 503, { error = "the server is stopping" }) end
  http.answer(request, http.dispatch(self.routes, request, self.log))
end

function M.handlers.open(_, request) http.answer(request, 404, { error = "there are no WebSockets here" }, { bare = true }) end
M.handlers.message = M.handlers.open
function M.handlers.closed() end

local function handle(self, handlers, request)
  self.open = self.open + 1
  local ok, message = xpcall(handlers[request.kind], debug.traceback, self, request)
  if not ok then self.log(tostring(message)) end
  self.open = self.open - 1
end

-- Everything that waits at the door.
local function take_all(self, handlers, each)
  local request = self.http:take()
  while request do
    loop.spawn(handle, self, handlers, request)
    request = self.http:take()
  end
  if each then each(self) end
end

-- What is evaluated now finishes; a second signal ends it.
local function drain(self, handlers, each)
  self.draining = true
  self.pool:stop()
  self.log("stopping: what is evaluated now finishes, what waits is not begun; once more stops it")
  while self.open > 0 and not core.clock.interrupted() do
    take_all(self, handlers, each)
    loop.wait(function() return self.open == 0 end, core.clock.now() + 0.05, self.http:fd())
  end
end

--- Serve until a signal. `self` has http, as core.serve.open returns it, pool and log; `handlers` = { kind of a request =
--- function(self, request) }; `each(self)` is called now and then. `self.draining` says that it is ending.
function M.serve(self, handlers, each)
  collectgarbage "generational"              -- each request leaves much that is gone with it, and what stays is large
  core.clock.patient(true)
  loop.patient(true)
  self.open = 0
  while not core.clock.asked() do
    take_all(self, handlers, each)
    local asked = false
    loop.wait(function()
      local was = asked
      asked = true
      return was
    end, core.clock.now() + 0.25, self.http:fd())
  end
  drain(self, handlers, each)
  loop.patient(false)
end

return M

-- shares: whose candidate is next. A client is an address. The client that has the fewest candidates under evaluation comes
-- first, then the one that has used the places least. While others are there too, nobody has all places: kernels that hang
-- until their deadline would keep everybody out.

local core = require "cawb.core"

local M = {}

local Shares = {}
Shares.__index = Shares

local recent = 60.0             -- seconds: a client is there so long after its last request, and its use counts half then

local function of(self, client)
  local one = self.clients[client]
  if not one then
    one = { running = 0, used = 0.0, at = core.clock.now(), seen = core.clock.now() }
    self.clients[client] = one
  end
  return one
end

local function decay(one)
  local now = core.clock.now()
  one.used, one.at = one.used * 0.5 ^ ((now - one.at) / recent), now
  return one.used
end

--- A client asks for something.
function Shares:asked(client) of(self, client).seen = core.clock.now() end

--- A candidate of it is evaluated now.
function Shares:began(client) of(self, client).running = of(self, client).running + 1 end

--- It took so many seconds.
function Shares:ended(client, seconds)
  local one = of(self, client)
  one.running = one.running - 1
  one.used = decay(one) + seconds
end

-- Whether another client is there.
local function accompanied(self, client)
  local now = core.clock.now()
  for name, one in pairs(self.clients) do
    if now - one.seen > 10 * recent and one.running == 0 then self.clients[name] = nil
    elseif name ~= client and now - one.seen < recent then return true end
  end
  return false
end

-- Whether it may take one more of the places.
local function may_begin(self, client)
  return self.places == 1 or of(self, client).running < self.places - 1 or not accompanied(self, client)
end

--- Whose turn it is among the clients of `jobs`, a list of { client = } of which `fits(job)`; nil where none may begin.
function Shares:next(jobs, fits)
  local best, known = nil, {}
  for _, job in ipairs(jobs) do
    local client = job.client
    if not known[client] and fits(job) then
      known[client] = true
      local one = of(self, client)
      local first = may_begin(self, client) and { client = client, running = one.running, used = decay(one) }
      if first and (not best or first.running < best.running or first.running == best.running and first.used < best.used) then best = first end
    end
  end
  return best and best.client
end

--- For so many places.
function M.new(places) return setmetatable({ places = places, clients = {} }, Shares) end

return M

-- desk: the judges of a class. Each place has a device and a judge for each exercise that was asked for; who comes while all are busy waits.

local exercises = require "cawb.door.exercises"
local gpu = require "cawb.gpu.device"
local loop = require "cawb.base.loop"

local M = {}

local Desk = {}
Desk.__index = Desk

-- The place that the fewest wait for.
local function freest(self)
  local best = self.places[1]
  for _, place in ipairs(self.places) do if place.waiting < best.waiting then best = place end end
  return best
end

local function session_of(self, place, e)
  local session, message, name = place.sessions[e.number], nil, nil
  if session and session.process:alive() then return session end
  session, message, name = exercises.open(e, place.device, { small = true, plain = self.plain })
  place.sessions[e.number] = session
  return session, message, name
end

--- Judge an answer to an exercise; `how` is a method of the session, "judge" or "cheat". Returns its result, or nil, message, name.
function Desk:judge(e, how, source, plan)
  local place = freest(self)
  place.waiting = place.waiting + 1
  local v, message, name = loop.exclusive(place, function()
    if self.stopped then return nil, "the class is over", "busy" end
    local session, why, kind = session_of(self, place, e)
    if not session then return nil, why, kind end
    return session[how](session, source, plan)
  end)
  place.waiting = place.waiting - 1
  return v, message, name
end

--- What waits is not begun any more.
function Desk:stop() self.stopped = true end

function Desk:close()
  for _, place in ipairs(self.places) do
    for _, session in pairs(place.sessions) do session:close() end
    place.device:close()
  end
end

--- `count` places on devices of a name, each on one core. `options` = { plain = without PyTorch }. Returns it, or nil, message, name.
function M.open(name, count, options, all)
  local self = setmetatable({ places = {}, plain = options.plain }, Desk)
  all.simulate.threads = 1
  for i = 1, count do
    local device, message, kind = gpu.open(name, { deadlines = all.deadlines, compile = all.compile, simulate = all.simulate })
    if not device then
      self:close()
      return nil, message, kind
    end
    self.places[i] = { device = device, sessions = {}, waiting = 0 }
  end
  return self
end

return M

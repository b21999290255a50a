-- sessions: those of all kinds that are open, and which of them gives way to a new one where there are as many as there may
-- be. An address that has no more than others keeps its own; one that was silent for long keeps none.

local core = require "cawb.core"

local M = {}

local Sessions = {}
Sessions.__index = Sessions

local silent = 900.0            -- seconds after which a session gives way to anybody

--- How many are open.
function Sessions:count() return #self.list end

local function held(self)
  local counts = {}
  for _, one in ipairs(self.list) do counts[one.remote] = (counts[one.remote] or 0) + 1 end
  return counts
end

-- The session that has been silent longest, of those that give way to a client at `remote`; or nil.
local function victim(self, remote)
  local now, counts, found = core.clock.now(), held(self), nil
  for _, one in ipairs(self.list) do
    local gives_way = now - one.seen > silent or counts[one.remote] > (counts[remote] or 0) + 1
    if gives_way and not one.busy and (not found or one.seen < found.seen) then found = one end
  end
  return found
end

--- A new session of a client at `remote`; `leave` is called where it gives way. Returns it, { seen = time, busy = whether it
--- is being answered }; or nil where there is no place for it.
function Sessions:open(remote, leave)
  if #self.list >= self.most then
    local one = victim(self, remote)
    if not one then return nil end
    self:close(one)
    one.leave()
  end
  local one = { remote = remote, leave = leave, seen = core.clock.now(), busy = false }
  self.list[#self.list + 1] = one
  return one
end

--- It is over.
function Sessions:close(one)
  for i, other in ipairs(self.list) do if other == one then table.remove(self.list, i) break end end
end

--- Answer a message of it with `f`: it gives way to nobody meanwhile.
function Sessions:during(one, f, ...)
  one.busy, one.seen = true, core.clock.now()
  local got = table.pack(f(...))
  one.busy, one.seen = false, core.clock.now()
  return table.unpack(got, 1, got.n)
end

--- At most so many.
function M.new(most) return setmetatable({ most = most, list = {} }, Sessions) end

return M

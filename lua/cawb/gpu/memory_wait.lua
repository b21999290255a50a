-- memory_wait: what is done where a device has no memory left for something that its worker is to do. The task host gives back what it keeps,
-- which is mostly of the candidate before; the worker begins anew, and it is tried again. Others who hold memory of the same device, as
-- tasks of a suite that begin or end do, are waited for. What does not fit because of them is the machine's failure; what would
-- not fit without them either is the candidate's.

local activity = require "cawb.base.activity"
local core = require "cawb.core"
local loop = require "cawb.base.loop"

local M = {}

local MUCH = 3 << 29         -- bytes that are not the task host's and still nobody else's: a context of each of our processes
local PAUSE = 1.0            -- seconds between two tries

--- Bytes that others hold of the memory of a task's device, where that is much, and else 0; and how many there are: nil where nothing is
--- known of them, as of a simulated device's.
function M.others(task)
  local room = task:ask { op = "room" }
  if not (room and room.total) then return 0, nil end
  local others = room.total - room.free - (room.own or 0)
  return others >= MUCH and others or 0, room.total
end

-- Whether it would not fit either if the others had none: what a tensor takes and what was free then, as core/cuda/memory.c tells it.
local function is_too_large(message, others)
  local takes, free = message:match "it takes (%d+) bytes and (%d+)"
  return takes and tonumber(takes) > tonumber(free) + others
end

local function full(message, seconds, others, total)
  return nil, ("%s; after %.0f s of waiting other programs hold %d of %d bytes, so that nothing can be said of this candidate")
    :format(message, seconds, others, total), "full"
end

--- f() once more, which said nil, `message`, "memory": what it returns then. Where there is no room for up to `seconds`:
--- nil, message, "full" if others hold what it would take, and else what f said, "candidate": then at once.
function M.again(task, seconds, message, f)
  local from, waiting <close> = core.clock.now(), activity.begin { what = "waiting for the device's memory" }
  task.device:drop_worker()
  local others, total = M.others(task)
  if not total then return nil, message, "candidate" end
  while true do
    local got, why, name = f()
    if name ~= "memory" then return got, why, name end
    task.device:drop_worker()
    others = M.others(task)
    if others == 0 or is_too_large(why, others) then return nil, why, "candidate" end
    if core.clock.now() - from >= seconds then return full(why, seconds, others, total) end
    local ok, interrupted, kind = loop.sleep(math.min(PAUSE, seconds))
    if not ok then return nil, interrupted, kind end
  end
end

return M

-- loop: many conversations at once, in one thread. A coroutine that waits for a reply
-- yields; whoever waits outside of one drives all of them meanwhile.

local core = require "cawb.core"

local M = {}

local http                                   -- opened at the first request
local tasks = {}                             -- those that wait, in the order they came
local running = {}                           -- coroutine -> its task

--- The process's HTTP handle, or nil, message, name where there is no libcurl.
function M.http()
  if http then return http end
  local message, name
  http, message, name = core.http.open()
  return http, message, name
end

local function resume(task, ...)
  local results = table.pack(coroutine.resume(task.co, ...))
  if coroutine.status(task.co) == "dead" then
    running[task.co], task.done = nil, true
    task.ok, task.results = results[1], table.pack(table.unpack(results, 2, results.n))
    return
  end
  task.ready, task.deadline = results[2], results[3]
  tasks[#tasks + 1] = task
end

-- What a waiting task is to be told now, if anything: true, or nil, message, name.
local function verdict(ready, deadline)
  if ready() then return true, true end
  if core.clock.asked() then return true, nil, "interrupted", "interrupted" end
  if core.clock.now() >= deadline then return true, nil, "the deadline passed", "timeout" end
  return false
end

local function resume_ready()
  local list = tasks
  tasks = {}
  for _, task in ipairs(list) do
    local now = table.pack(verdict(task.ready, task.deadline))
    if now[1] then resume(task, table.unpack(now, 2, 4))
    else tasks[#tasks + 1] = task end
  end
end

-- One look at the world: until a transfer gets on, or the nearest deadline. Ready tasks
-- are asked after the transfers moved, so a busy process misses no reply.
local function turn(deadline)
  local nearest = deadline
  for _, task in ipairs(tasks) do nearest = math.min(nearest, task.deadline) end
  local seconds = math.max(0, math.min(0.25, nearest - core.clock.now()))
  if http then http:wait(seconds) else core.clock.sleep(seconds) end
  resume_ready()
end

--- Wait until `ready()` holds, or `deadline` of core.clock.now. Returns true, or nil,
--- message and "timeout" or "interrupted".
function M.wait(ready, deadline)
  deadline = deadline or math.huge
  if running[coroutine.running()] then return coroutine.yield(ready, deadline) end
  if http then http:wait(0) end
  while true do
    local now = table.pack(verdict(ready, deadline))
    if now[1] then return table.unpack(now, 2, 4) end
    turn(deadline)
  end
end

--- Let so many seconds pass. Returns true, or nil, "interrupted", "interrupted".
function M.sleep(seconds)
  local _, message, name = M.wait(function() return false end, core.clock.now() + seconds)
  if name == "interrupted" then return nil, message, name end
  return true
end

--- Begin `f(...)` as a task; it runs until it waits for the first time.
function M.spawn(f, ...)
  local task = { co = coroutine.create(f) }
  running[task.co] = task
  resume(task, ...)
  return task
end

--- Wait for a task to end; returns what it returned, or raises what it raised.
function M.join(task)
  local ok, message, name = M.wait(function() return task.done end)
  if not ok then return nil, message, name end
  if not task.ok then error(task.results[1], 0) end
  return table.unpack(task.results, 1, task.results.n)
end

--- Run every function of a list, at most `limit` of them at once. Returns a list of what
--- each returned, packed as { n =, ... }.
function M.all(functions, limit)
  local results, next_one = {}, 0
  local function work()
    while next_one < #functions do
      next_one = next_one + 1
      local i = next_one
      results[i] = table.pack(functions[i](i))
    end
  end
  local workers = {}
  for i = 1, math.min(limit or #functions, #functions) do workers[i] = M.spawn(work) end
  for _, task in ipairs(workers) do M.join(task) end
  return results
end

return M

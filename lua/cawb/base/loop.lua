-- loop: many conversations at once, and the processes that answer requests, in one thread. A
-- coroutine that waits for a reply yields; whoever waits outside of one drives all of them
-- meanwhile.

local activity = require "cawb.base.activity"
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

local moved = false                          -- did a task go on? What it did may be what another waits for

local function resume(task, ...)
  moved = true
  local results = table.pack(coroutine.resume(task.co, ...))
  if coroutine.status(task.co) == "dead" then
    running[task.co], task.done = nil, true
    task.ok, task.results = results[1], table.pack(table.unpack(results, 2, results.n))
    return
  end
  task.ready, task.deadline, task.fd = results[2], results[3], results[4]
  tasks[#tasks + 1] = task
end

local pulse, due, every              -- what is called while anything is waited for, when next, and how often

--- Call `f` every so many seconds while this process waits, and from `beat`; nil: nothing any more.
function M.pulse(f, seconds)
  pulse, every = f, seconds or 1.0
  due = f and core.clock.now() + every or math.huge
end

--- For who computes for long and waits for nothing: call it now and then.
function M.beat()
  if not pulse or core.clock.now() < due then return end
  due = core.clock.now() + every
  pulse()
end

local patient = false

--- Whether a first Ctrl-C, or a signal to end, ends nothing that waits: a server finishes what is under way.
function M.patient(yes) patient = yes end

--- Whether what waits is to end, and nothing further to begin.
function M.asked()
  if patient then return core.clock.interrupted() end
  return core.clock.asked()
end

-- What a waiting task is to be told now, if anything: true, or nil, message, name.
local function outcome(ready, deadline)
  if ready() then return true, true end
  if M.asked() then return true, nil, "interrupted", "interrupted" end
  if core.clock.now() >= deadline then return true, nil, "the deadline passed", "timeout" end
  return false
end

local function resume_ready()
  local list = tasks
  tasks = {}
  for _, task in ipairs(list) do
    local now = table.pack(outcome(task.ready, task.deadline))
    if now[1] then resume(task, table.unpack(now, 2, 4))
    else tasks[#tasks + 1] = task end
  end
end

-- One look at the world: until a transfer gets on, a descriptor can be read, or the nearest deadline.
-- Ready tasks are asked after the transfers moved, so a busy process misses no reply.
local function turn(deadline, fd)
  local nearest, fds = pulse and math.min(deadline, due) or deadline, { fd }
  for _, task in ipairs(tasks) do
    nearest = math.min(nearest, task.deadline)
    fds[#fds + 1] = task.fd
  end
  local seconds = moved and 0 or math.max(0, math.min(0.25, nearest - core.clock.now()))
  if http then http:wait(seconds, fds) else core.clock.sleep(seconds, fds) end
  moved = false
  M.beat()
  resume_ready()
end

--- Wait until `ready()` holds, or `deadline` of core.clock.now; it is asked again when `fd`, if
--- there is one, can be read. Returns true, or nil, message and "timeout" or "interrupted".
function M.wait(ready, deadline, fd)
  deadline = deadline or math.huge
  if running[coroutine.running()] then return coroutine.yield(ready, deadline, fd) end
  if http then http:wait(0) end
  while true do
    local now = table.pack(outcome(ready, deadline))
    if now[1] then return table.unpack(now, 2, 4) end
    turn(deadline, fd)
  end
end

--- Let so many seconds pass. Returns true, or nil, "interrupted", "interrupted".
function M.sleep(seconds)
  local _, message, name = M.wait(function() return false end, core.clock.now() + seconds)
  if name == "interrupted" then return nil, message, name end
  return true
end

local held = setmetatable({}, { __mode = "k" })     -- key -> the coroutine that has it

--- Call f(...) while nobody else is within a call for the same key: a device serves one
--- candidate at a time. Whoever has it may ask again.
function M.exclusive(key, f, ...)
  local me = coroutine.running()
  if held[key] == me then return f(...) end
  if held[key] then
    local ok, message, name = M.wait(function() return not held[key] end)
    if not ok then return nil, message, name end
  end
  held[key] = me
  local results = table.pack(pcall(f, ...))
  held[key] = nil
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

--- One request to a child process: as child:call, but conversations go on meanwhile.
function M.call(child, request, opts)
  local within = running[coroutine.running()]
  local alone = not within and #tasks == 0 and not pulse
  if within and not coroutine.isyieldable() or alone then return child:call(request, opts) end     -- a finalizer, or nobody else
  local _ <close> = activity.begin { process = child.protocol and child.protocol.process, op = request.op, request = request, part = opts.part }
  local from = core.clock.now()
  local ok, message, name, raw = child:send(request, opts)
  if not ok then return nil, message, name, raw end
  M.wait(function() return child:ready() end, from + opts.timeout, child:fd())
  return child:receive(opts.timeout, math.max(0.001, from + opts.timeout - core.clock.now()))
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

--- Run every function of a list, at most `limit` of them at once, and call `each(i, ...)` with
--- what each returned, in their order, while the later ones still run. An error of one is
--- raised.
function M.each(functions, limit, each)
  local results, next_one, broken = {}, 0, nil
  local function work()
    while next_one < #functions and not broken do
      next_one = next_one + 1
      local i = next_one
      local got = table.pack(pcall(functions[i], i))
      if not got[1] then broken = { got[2] } end
      results[i] = table.pack(table.unpack(got, 2, got.n))
    end
  end
  for _ = 1, math.min(limit or #functions, #functions) do M.spawn(work) end
  for i = 1, #functions do
    local ok = M.wait(function() return results[i] or broken end)
    if broken then error(broken[1], 0) end
    if not ok then return end
    each(i, table.unpack(results[i], 1, results[i].n))
  end
end

--- The same, all of it first: a list of what each returned, packed as { n =, ... }.
function M.all(functions, limit)
  local results = {}
  M.each(functions, limit, function(i, ...) results[i] = table.pack(...) end)
  return results
end

return M

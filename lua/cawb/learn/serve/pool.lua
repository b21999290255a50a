-- pool: what evaluates. A place is a device of its own, with its worker and its compiler, and the tasks that it has
-- loaded; each serves one candidate at a time. Clients take turns (shares.lua). A place goes on with the tasks that it has loaded, then
-- takes one that no other place has: loading takes longer than many candidates. None is passed over often.

local core = require "cawb.core"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"
local processor = require "cawb.base.processor"
local python = require "cawb.base.python"
local shares = require "cawb.learn.serve.shares"
local task = require "cawb.judge.task.task"

local M = {}

local Pool = {}
Pool.__index = Pool

local stopping = "the server is stopping"
local patience = 2.0                         -- seconds that a job waits for a place that is free and has its task
local in_a_row = 32                          -- jobs that a place may take ahead of the oldest

-- ---- tasks on a place

-- A Python that runs task hosts: one that a task has left, or a new one.
local function host_of(self, place)
  local spare = table.remove(place.spare)
  if spare and spare[1]:alive() then return spare end
  local host, hello, name = python.start(self.options.deadlines.start)
  if not host then return nil, hello, name end
  return { host, hello }
end

local function unload(place, key)
  local held = place.loaded[key]
  place.loaded[key] = nil
  if not held then return end
  for i, one in ipairs(place.order) do
    if one == key then table.remove(place.order, i) break end
  end
  if held.leave then held.leave(held) end
  held.task:close()
  if held.host[1]:alive() then place.spare[#place.spare + 1] = held.host end
end

local function touch(place, key)
  for i, one in ipairs(place.order) do
    if one == key then table.remove(place.order, i) break end
  end
  place.order[#place.order + 1] = key
end

-- Where several places share a GPU, what takes seconds and computes next to nothing there is done ahead of loading, beside who measures: Python's
-- contact with the GPU, and torch.compile's work for a task. A host that was lost by it is replaced. Returns the host, or nil, message, name.
local function made_ready(self, place, host, path, all)
  if not place.device.lane then return host end
  if not host.ready then
    local ok, message, name = task.prepare(host[1], place.device, all, math.max(1, processor.cores() // #self.places))
    if not ok then
      host[1]:close()
      return nil, message, name
    end
    host.ready = true
  end
  local timed = options.copy(all)
  timed.measure.matrix = {}                  -- a server times none of it
  task.compile_ahead(host[1], path, place.device, timed)
  if host[1]:alive() then return host end
  return host_of(self, place)
end

local function load(self, place, entry)
  while #place.order >= self.resident do unload(place, place.order[1]) end
  local path, message, name = self.file(entry)
  if not path then return nil, message, name end
  local all = options.copy(self.options)
  for constant, value in pairs(entry.overrides) do all.task[constant] = value end
  local host
  host, message, name = host_of(self, place)
  if host then host, message, name = made_ready(self, place, host, path, all) end
  if not host then return nil, message, name end
  local t
  t, message, name = task.open(path, { device = place.device, options = all, host = host })
  if not t then
    if host[1]:alive() then place.spare[#place.spare + 1] = host end
    return nil, message, name
  end
  self.loads = self.loads + 1
  return { task = t, host = host, options = all, entry = entry, place = place }
end

-- The task of an entry on a place. A task that is at fault is so for good.
local function held(self, place, entry)
  if entry.failed then return nil, entry.failed, "task" end
  local one, message, name = place.loaded[entry.hash], nil, nil
  if one and not one.task.host then
    unload(place, entry.hash)
    one = nil
  end
  if not one then
    one, message, name = load(self, place, entry)
    if not one then
      if name == "task" or name == "invalid" then entry.failed = message end
      return nil, message, name
    end
    place.loaded[entry.hash] = one
  end
  touch(place, entry.hash)
  return one
end

-- ---- jobs

local function is_ready(job) return not job.building end

-- The oldest job of a client of which nothing is being made, and which fits.
local function oldest(self, client, fits)
  for i, job in ipairs(self.queue) do
    if job.client == client and is_ready(job) and (not fits or fits(job)) then return i, job end
  end
end

local function has(place, job) return place.loaded[job.entry.hash] or place.under_way == job.entry.hash end

-- Whether another place has a job's task; `free`: and is free.
local function is_elsewhere(self, place, job, free)
  for _, other in ipairs(self.places) do
    if other ~= place and not (free and other.busy) and has(other, job) then return true end
  end
end

-- The next job for a place, of the client whose turn it is: of a task that it has; else of a task that no other place has; else the oldest.
local function pick(self, place)
  local client = self.shares:next(self.queue, is_ready)
  if not client then return nil end
  local at, first = oldest(self, client)
  local other = place.in_a_row < in_a_row and oldest(self, client, function(job) return has(place, job) end)
  if not other and core.clock.now() - first.since < patience and is_elsewhere(self, place, first, true) then return nil end
  if not other and place.in_a_row < in_a_row then
    other = oldest(self, client, function(job) return not is_elsewhere(self, place, job) end)
  end
  place.in_a_row = other and other ~= at and place.in_a_row + 1 or 0
  return other or at
end

-- The next job of which something can be made ahead.
local function unprepared(self)
  for _, job in ipairs(self.queue) do
    if job.looked == "yes" and not job.begun then return job end
  end
end

-- One of those that make things ahead, as long as there is something to make.
local function prepare(self, number)
  local job = unprepared(self)
  while job do
    self.preparing[number], job.begun, job.building = job, true, true
    pcall(job.ahead.make, self.places[1].device, number)      -- what is wrong is said when its turn comes
    job.building = nil
    job = not self.closed and unprepared(self)
  end
  self.preparing[number] = nil
end

-- Before a place evaluates: those that wait next for the same task are looked at there, about as many as builders are, and what
-- they need is made beside the places. What is wrong is said when their turn comes.
local function look_ahead(self, held)
  local next_ones = {}
  for _, job in ipairs(self.queue) do
    if #next_ones >= 2 * self.builders then break end
    if job.ahead and job.entry == held.entry then next_ones[#next_ones + 1] = job end
  end
  for _, job in ipairs(next_ones) do
    if not job.looked then
      job.looked = "under way"
      pcall(job.ahead.look, held)
      job.looked = "yes"
    end
  end
  for number = 1, #next_ones > 0 and self.builders or 0 do
    if not self.preparing[number] then loop.spawn(prepare, self, number) end
  end
end

local function perform(self, place, job)
  local one, message, name = held(self, place, job.entry)
  if not one then
    job.results = table.pack(nil, message, name)
    return
  end
  look_ahead(self, one)
  local got = table.pack(xpcall(job.f, debug.traceback, one))
  if got[1] then job.results = table.pack(table.unpack(got, 2, got.n))
  else job.results = table.pack(nil, tostring(got[2]), "mistake") end
  if one.spoilt or not one.task.host then unload(place, job.entry.hash) end
end

local function work(self, place)
  while not self.closed do
    local at
    loop.wait(function()
      at = pick(self, place)
      return at or self.closed
    end)
    if self.closed then return end
    local job, from = table.remove(self.queue, at), core.clock.now()
    place.busy, place.under_way = true, job.entry.hash
    self.shares:began(job.client)
    local fine, why = xpcall(perform, debug.traceback, self, place, job)
    if not fine then job.results = table.pack(nil, tostring(why), "mistake") end
    self.shares:ended(job.client, core.clock.now() - from)
    place.busy, place.under_way, job.done = false, nil, true
  end
end

-- How many jobs of a client wait.
local function waiting(self, client)
  local n = 0
  for _, job in ipairs(self.queue) do if job.client == client then n = n + 1 end end
  return n
end

--- Call `f(held)` for `client` on a place that has the task of `entry`: held = { task =, options = of it, place = }. Waits for its
--- turn; returns what it returned, or nil, message, name ("task": the task is at fault, "busy": too many wait). `ahead`,
--- where it is given, is what may be done before: { look = function(held), on a place; make = function(device, number), then, by one
--- of the pool's builders }.
function Pool:run(client, entry, f, ahead)
  if self.stopping then return nil, stopping, "busy" end
  if #self.queue >= self.most or waiting(self, client) >= self.most // 2 then
    return nil, ("%d candidates wait already"):format(#self.queue), "busy"
  end
  local job = { client = client, entry = entry, f = f, ahead = ahead, since = core.clock.now() }
  self.shares:asked(client)
  self.queue[#self.queue + 1] = job
  loop.wait(function() return job.done end)
  return table.unpack(job.results, 1, job.results.n)
end

--- Begin nothing any more: what waits is told so, what is evaluated now ends.
function Pool:stop()
  self.stopping = true
  local waiting = self.queue
  self.queue = {}
  for _, job in ipairs(waiting) do job.results, job.done = table.pack(nil, stopping, "busy"), true end
end

--- How many wait, and how many are evaluated now.
function Pool:load()
  local busy = 0
  for _, place in ipairs(self.places) do if place.busy then busy = busy + 1 end end
  return #self.queue, busy
end

--- End everything: tasks are unloaded first, so that what they hold is written down.
function Pool:close()
  self.closed = true
  for _, place in ipairs(self.places) do
    while place.order[1] do unload(place, place.order[1]) end
    for _, spare in ipairs(place.spare) do spare[1]:close() end
    place.device:close()
  end
end

--- A pool on devices that are open. `spec` = { devices =, options = a full table, resident = tasks that a place keeps
--- loaded, most = jobs that may wait, builders = how many things are made ahead at once, file = function(entry) -> path }. The first Python starts now, so that what the
--- machine lacks is told at once. Returns it, or nil, message, name.
function M.new(spec)
  local self = setmetatable({ options = spec.options, resident = spec.resident, most = spec.most, file = spec.file,
                              queue = {}, places = {}, loads = 0, shares = shares.new(#spec.devices), builders = spec.builders or 1, preparing = {} }, Pool)
  for i, device in ipairs(spec.devices) do
    self.places[i] = { device = device, loaded = {}, order = {}, spare = {}, in_a_row = 0, number = i }
  end
  local host, message, name = host_of(self, self.places[1])
  if not host then return nil, message, name end
  self.places[1].spare[1], self.python = host, host[2]
  for _, place in ipairs(self.places) do loop.spawn(work, self, place) end
  return self
end

return M

-- device: a place where candidates run, seen from the judge. It owns two
-- processes: the worker, which is replaced whenever a candidate takes it down,
-- and the compiler, which stays warm.

local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local devices = require "cawb.gpu.devices"
local kinds = require "cawb.gpu.kinds"
local loop = require "cawb.base.loop"
local python = require "cawb.base.python"
local wire = require "cawb.base.wire"

local M = {}

---@class cawb.Device
local Device = {}
Device.__index = Device
Device.__name = "cawb.device"

-- Compiled code is kept between runs, by content.
local function default_cache()
  local base = os.getenv "XDG_CACHE_HOME"
  if not base or base == "" then base = (os.getenv "HOME" or "/tmp") .. "/.cache" end
  return base .. "/cawb/compiled"
end

-- After these the process at the other end is gone.
local fatal = { timeout = true, died = true, interrupted = true, io = true, protocol = true }

-- A worker's process, and what it is asked first.
local function new_worker(self)
  -- A driver maps far more than it uses: only a simulated device can be limited.
  local simulated = self.requested:match "^sim:"
  local command = table.move({ core.program, "--worker" }, 1, 2, #self.wrap + 1, { table.unpack(self.wrap) })
  local worker, message, name = wire.start("worker", command,
    { memory = simulated and self.simulate.memory or 0 })
  if not worker then return nil, message, name end
  return worker, { op = "open", device = self.requested, figures = self.figures,
    blocks = simulated and self.simulate.blocks or nil,
    threads = simulated and self.simulate.threads or nil,
    sanitize = not simulated or self.simulate.sanitize ~= false }
end

-- A worker that answered, or did not.
local function taken(self, worker, reply, message, name)
  if not reply then
    worker:close()
    return nil, message, name
  end
  self.worker, self.loaded, self.workers = worker, nil, self.workers + 1
  return reply.device
end

-- The worker that was begun ahead, or nil: another one may start.
local function spare_worker(self)
  local spare = self.spare
  self.spare = nil
  if not spare then return nil end
  local ends, timeout = spare.from + self.deadlines.start, self.deadlines.start
  loop.wait(function() return spare.worker:ready() end, ends, spare.worker:fd())
  return taken(self, spare.worker, spare.worker:receive(timeout, math.max(0.001, ends - core.clock.now())))
end

local function start_worker(self)
  local info = spare_worker(self)
  if info then return info end
  local worker, request, name = new_worker(self)
  if not worker then return nil, request, name end
  return taken(self, worker, loop.call(worker, request, { timeout = self.deadlines.start }))
end

--- Begin the worker that comes after this one, and wait for nothing: it opens the device while others work. Not where another
--- place may be timing something there.
function Device:begin_spare()
  if self.spare or self.lane then return end
  local worker, request = new_worker(self)
  if not worker then return end                -- one is started when it is needed, and says why not
  if worker:send(request, { timeout = self.deadlines.start }) then
    self.spare = { worker = worker, from = core.clock.now() }
  else worker:close() end
end

--- Wait until nothing is being started on the device: what is timed then has it to itself.
function Device:settle()
  local spare = self.spare
  if not spare then return end
  loop.wait(function() return spare.worker:ready() end, spare.from + self.deadlines.start, spare.worker:fd())
end

local function drop_spare(self)
  if self.spare then self.spare.worker:close() end
  self.spare = nil
end

--- The same simulated device with a worker of its own that executes at most `blocks` of each launch, which stand for
--- all: it counts and times, and has no data. It asks this device's compiler, and ends with it.
function Device:sampled(blocks)
  if self.sampler and self.sampler.simulate.blocks == blocks then return self.sampler end
  if self.sampler then self.sampler:close() end
  local simulate = {}
  for key, value in pairs(self.simulate) do simulate[key] = value end
  simulate.blocks, simulate.sanitize = blocks, false
  self.sampler = setmetatable({ requested = self.requested, workers = 0, busy = 0.0, wrap = {}, deadlines = self.deadlines,
    cache = self.cache, compile = self.compile, simulate = simulate, figures = self.figures, info = self.info, parent = self }, Device)
  return self.sampler
end

--- Another compiler for the same device, the first or that of a `number`, which builds what will be asked for next: what it
--- made is found by the device's own. It has no worker, serves one at a time, and ends with the device.
function Device:ahead(number)
  self.builders, number = self.builders or {}, number or 1
  self.builders[number] = self.builders[number] or setmetatable({ requested = self.requested, workers = 0, busy = 0.0, wrap = {},
    info = self.info, deadlines = self.deadlines, cache = self.cache, compile = self.compile, simulate = self.simulate }, Device)
  return self.builders[number]
end

--- Replace the worker at the next request.
function Device:drop_worker()
  if self.worker then self.worker:close() end
  self.worker, self.loaded = nil, nil
end

--- Let the worker end by itself, so that what it runs under can write down what it saw;
--- it is killed after `seconds`.
function Device:finish(seconds)
  local worker = self.worker
  if worker and worker:alive() and worker:call({ op = "end" }, { timeout = seconds }) then
    worker:call({ op = "end" }, { timeout = seconds })       -- answered by its end
  end
  self:drop_worker()
end

--- Let go of a task's memory, which the worker may still have mapped, and of the
--- candidate that it has loaded.
function Device:forget()
  if self.worker and self.worker:alive() then
    self:call({ op = "unload" }, nil, self.deadlines.load)
  end
  self.loaded = nil
end

--- Do something on the device: where several places share it, with what they do, or `alone`.
function Device:with_others(alone, f, ...)
  if self.lane and not self.alone then return self.lane:hold(alone, f, ...) end
  return f(...)
end

local function held_alone(self, f, ...)
  self.alone = true
  local results = table.pack(pcall(f, ...))
  self.alone = false
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

--- Do several things on the device between which nobody else comes, where several places share it.
function Device:undisturbed(f, ...) return self:with_others(true, held_alone, self, f, ...) end

local function call_worker(self, request, fds, timeout)
  if not self.worker or not self.worker:alive() or not self.loaded and not self.worker:sound() then
    self:drop_worker()
    local info, message, name = start_worker(self)
    if not info then return nil, message, name end
  end
  local from = core.clock.now()
  local reply, message, name, raw = loop.call(self.worker, request, { timeout = timeout, fds = fds })
  local spent = self.parent or self           -- what a sampler does is done for its device
  spent.busy = spent.busy + core.clock.now() - from
  if reply then return reply end
  if raw and raw.lost and #self.wrap > 0 then self:finish(timeout) end
  if fatal[name] or raw and raw.lost then self:drop_worker() end
  return nil, message, name
end

local timed = { time = true, profile = true }

--- One request to the worker: its reply, or nil, message, name. A worker that
--- does not survive it is replaced at the next one.
function Device:call(request, fds, timeout)
  local no, unsupported = kinds.refusal(self, "kernels")
  if no then return nil, no, unsupported end
  return self:with_others(timed[request.op] == true, call_worker, self, request, fds, timeout)
end

--- Replace the compiler at the next request.
function Device:drop_compiler()
  if self.compiler then self.compiler:close() end
  self.compiler = nil
end

--- Whether a new worker starts. What a candidate's worker says of the machine is that
--- candidate's word; this is the machine's own. Returns true, or nil, message, name.
function Device:renew()
  self:drop_worker()
  drop_spare(self)
  local info, message, name = self:with_others(false, start_worker, self)
  return info and true, message, name
end

--- Whether a new compiler works, once the last one had a source and said that the machine is at
--- fault: as renew. Returns true, or nil, message, name.
function Device:compiles()
  self:drop_compiler()
  if loop.asked() then return nil, "interrupted", "interrupted" end
  local reply, message, name = self:ask_compiler { op = "version" }
  return reply and true, message, name
end

--- One request to the compiler, started when it is not running.
function Device:ask_compiler(request)
  if self.parent then return self.parent:ask_compiler(request) end
  if self.compiler and not self.compiler:sound() then self:drop_compiler() end
  if not self.compiler then
    -- Asking every Python costs a tenth of a second each: only without a toolkit.
    local found = core.locate.library "libnvrtc.so" and core.locate.includes()
    local packages = found and "" or python.site_packages()
    local compiler, message, name = wire.start("compiler",
      { core.program, "--compiler", self.cache, tostring(self.compile.headers),
        core.home .. "/core/gpu/compile/headers", packages }, { memory = self.compile.memory })
    if not compiler then return nil, message, name end
    self.compiler = compiler
  end
  local reply, message, name, raw =
    loop.call(self.compiler, request, { timeout = self.deadlines.compile })
  if reply then return reply end
  if fatal[name] then self:drop_compiler() end
  return nil, message, name, raw
end

--- End both processes. The device can be used again; they start anew.
function Device:close()
  for _, builder in pairs(self.builders or {}) do builder:close() end
  if self.sampler then self.sampler:close() end
  self.builders, self.sampler = nil, nil
  self:drop_worker()
  drop_spare(self)
  self:drop_compiler()
  if self.jail_host then self.jail_host:close() end
  self.jail_host = nil
end
Device.__close = Device.close
Device.__gc = Device.close

function Device:__tostring()
  return ("cawb.device (%s)"):format(self.info.name)
end

-- The figures of a simulated device; "auto" may become sim:h100.
local function figures_of(name)
  if name ~= "auto" and not name:match "^sim:" then return true end
  return devices.find(name == "auto" and "h100" or name:sub(5))
end

--- Open "auto", "cuda:N", "sim:h100" (see devices.lua), "sim:FILE.lua" or "cpu". Returns the
--- device, or nil, message, name.
--- `options`: { deadlines =, compile =, simulate = as the options of these names,
--- cache = folder for compiled code, wrap = words ahead of the worker's command, as of a
--- tool that watches it }.
function M.open(name, options)
  options = options or {}
  local self = setmetatable({
    requested = name or "auto", workers = 0, busy = 0.0, wrap = options.wrap or {},
    deadlines = options.deadlines or defaults.deadlines,
    cache = options.cache or default_cache(),
    compile = options.compile or defaults.compile,
    simulate = options.simulate or defaults.simulate,
  }, Device)
  local figures, message, why = figures_of(self.requested)
  if not figures then return nil, message, why end
  self.figures = figures ~= true and figures or nil
  local info
  local kind = kinds.of(self.requested)
  if kind and kind.info then info = kind.info() else info, message, why = start_worker(self) end
  if not info then return nil, message, why end
  self.info, self.requested = info, info.name     -- "auto" is settled once
  return self
end

return M

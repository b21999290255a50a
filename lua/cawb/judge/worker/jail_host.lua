-- jail_host: the process that forks jailed workers for Python candidates. One per device;
-- it has PyTorch in memory, a scrubbed environment, and runs nothing of a candidate's.

local cache = require "cawb.base.cache"
local core = require "cawb.core"
local file = require "cawb.base.file"
local kinds = require "cawb.gpu.kinds"
local loop = require "cawb.base.loop"
local wire = require "cawb.base.wire"

local M = {}

local Worker = {}
Worker.__index = Worker

-- What a candidate may know of the environment: nothing else of ours gets there.
local passed = { "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "TORCH_CUDA_ARCH_LIST" }

-- Of a build tree and of an install tree.
local function library()
  local base = core.program:match "^(.*)/[^/]+/[^/]+$" or "."
  return base .. "/lib/libcawb_jail.so"
end

local function command(python)
  local words = { core.fs.which "env" or "/usr/bin/env", "-i", "LANG=C.UTF-8", "MAX_JOBS=4",
    "PATH=" .. (python:match "^(.*)/" or "/usr/bin") .. ":/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE=1", "OMP_WAIT_POLICY=PASSIVE", "TORCHINDUCTOR_COMPILE_THREADS=1" }
  for _, name in ipairs(passed) do
    local value = os.getenv(name)
    if value then words[#words + 1] = name .. "=" .. value end
  end
  return table.move({ python, "-s", core.home .. "/python/cawb_host/judge/jailed", "--jail", library(), "--cache", cache.folder "watch",
    "--builds", cache.folder "extensions" }, 1, 9, #words + 1, words)
end

-- Bytes of memory that this machine has, and processors.
local function machine()
  local memory = (file.read "/proc/meminfo" or ""):match "MemTotal:%s*(%d+) kB"
  local _, processors = (file.read "/proc/cpuinfo" or ""):gsub("\nprocessor%s*:", "")
  return (tonumber(memory) or 8 << 20) << 10, processors + 1
end

--- What all processes of a candidate may use, by the options `tier2`; where these say 0 by the
--- machine's size: half of its memory, of that an eighth as files, and 64 processes for each processor.
function M.limits(options)
  local memory, processors = machine()
  local function given(value, otherwise) return value > 0 and value or otherwise end
  local limits = { memory = given(options.memory, memory // 2), processes = given(options.processes, 128 + 64 * processors),
                   seconds = options.seconds, files = 1024 }
  limits.disk = given(options.disk, limits.memory // 8)
  limits.file = limits.disk
  return limits
end

local function limits_of(options, gpu)
  local limits = M.limits(options)
  -- A GPU's driver reserves terabytes of addresses: there what is written to counts.
  if gpu then limits.data, limits.addresses = limits.memory, 0 end
  return limits
end

local remedy = "; --set tier2.jail=none runs it without one, on your own responsibility"

local function no_jail(reply)
  local why = {}
  for level, text in pairs(reply["not"] or {}) do why[#why + 1] = ("%s: %s"):format(level, text) end
  table.sort(why)
  return nil, ("a Python candidate needs a jail, and this machine offers none (%s)%s")
    :format(table.concat(why, "; "), remedy), "missing"
end

--- Start one, or nil, message, name. `wanted` is the option tier2.jail. What it found is in
--- its field `jail` = { jail = level, parts = text }. With `torch` it imports PyTorch now.
function M.start(python, wanted, timeout, torch)
  local host, message, name = wire.start("jail_host", command(python))
  if not host then return nil, message, name end
  local reply
  reply, message, name = loop.call(host, { op = "probe", jail = wanted }, { timeout = timeout })
  if reply and not reply.jail then reply, message, name = no_jail(reply) end
  if reply and torch then
    local hello
    hello, message, name = loop.call(host, { op = "hello" }, { timeout = timeout })
    reply = hello and reply
    if reply and hello.blind then table.insert(reply.lacks, hello.blind) end
  end
  if reply then return host, reply end
  host:close()
  return nil, message, name
end

-- The device's, started when it is not running or another jail is asked for.
local function host_of(task, options)
  local device, wanted = task.device, options.tier2.jail
  if device.jail_host and device.jail_host:alive() and device.jail.wanted == wanted then
    return device.jail_host
  end
  if device.jail_host then device.jail_host:close() end
  device.jail_host = nil
  local host, jail, name = M.start(task.python.executable or task.python.path, wanted,
    options.deadlines.start, true)
  if not host then return nil, jail, name end
  jail.wanted = wanted
  device.jail_host, device.jail = host, jail
  return host
end

-- What is not held: said with every verdict.
local function lacks_of(jail, options)
  local list = core.json.array { table.unpack(jail.lacks or {}) }
  if not options.groups then list[#list + 1] = "no control group was asked for (tier2.groups)" end
  return list
end

-- Whether importing a file builds something that PyTorch's own builder would find again.
local function builds(source, files)
  if source:find("cpp_extension", 1, true) then return true end
  for path, text in pairs(files or {}) do
    if path:find "%.c[cuxp]*$" or text:find("cpp_extension", 1, true) then return true end
  end
  return false
end

--- What importing a candidate's file builds is made once for all of its processes, and kept: { key = for M.spawn, or nothing
--- where nothing is kept }, or { failed = why it cannot be imported, how }; or nil, message, name.
function M.build(task, options, source, files)
  if not source or not builds(source, files) then return {} end
  local host, message, name = host_of(task, options)
  if not host then return nil, message, name end
  if task.device.jail.jail ~= "namespaces" then return {} end
  local gpu, most = kinds.of(task.device).gpu, options.deadlines.python
  local reply
  reply, message, name = loop.call(host, { op = "build", source = source, files = files, device = kinds.torch_device(task.device), seconds = most,
    jail = "namespaces", gpu = gpu, limits = limits_of(options.tier2, gpu), groups = options.tier2.groups }, { timeout = 2 * most })
  if not reply then return nil, message, name end
  if reply.failed then return { failed = reply.failed, how = "load" } end
  if reply.late then return { failed = ("it was not built within %g s (deadlines.python)"):format(most), how = "timeout" } end
  return { key = reply.key }
end

--- A new worker in a jail of its own, by the options `tier2` and `deadlines`, with what was built under `key`:
--- { id, pid, fd, jail, parts }, or nil, message, name.
function M.spawn(task, options, key)
  local host, message, name = host_of(task, options)
  if not host then return nil, message, name end
  local jail, gpu = task.device.jail, kinds.of(task.device).gpu
  local reply
  reply, message, name = loop.call(host, { op = "spawn", jail = jail.jail, gpu = gpu, key = key,
    limits = limits_of(options.tier2, gpu), threads = task.python.threads, groups = options.tier2.groups },
    { timeout = options.deadlines.start })
  if not reply then return nil, message, name end
  return setmetatable({ host = host, id = reply.id, pid = reply.pid, fd = reply.fds[1], group = reply.group, seconds = options.tier2.seconds,
                        jail = jail.jail, parts = jail.parts, lacks = lacks_of(jail, options.tier2) }, Worker)
end

--- End it and all that it started. Returns how it ended and what it printed last. One
--- that is about to end by itself has `patience` seconds for it.
function Worker:close(patience)
  if not self.id then return self.how, self.printed end
  local reply = self.host:alive() and loop.call(self.host, { op = "end", id = self.id, patience = patience or 0 }, { timeout = 60 })
  self.id = nil
  self.how, self.printed = reply and reply.how or "lost", reply and reply.printed or ""
  return self.how, self.printed
end

return M

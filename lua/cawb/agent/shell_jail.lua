-- shell_jail: a command of an agent, in the confinement of core/judge/jail/jail.h. A process of its own
-- (`cawb --jail`) without an environment enters the jail and becomes the command. It and all processes that it
-- started end when the command ends, when the deadline passes, or when the judge ends.

local core = require "cawb.core"
local loop = require "cawb.base.loop"

local M = {}

local system = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
  "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime" }

local most_printed = 4 << 20                -- CAWB_CHILD_OUTPUT of core/base/process/child.h
local starting = 20.0                       -- seconds to enter a jail in

-- What cawb_jail_enter reads.
local function describe(level, opts)
  local lines = level == "namespaces" and { level } or {}
  for _, list in ipairs { system, opts.show or {} } do
    for _, path in ipairs(list) do lines[#lines + 1] = "show " .. path end
  end
  lines[#lines + 1] = "write " .. opts.folder
  lines[#lines + 1] = ("disk %d"):format(opts.disk)
  local limits = { file = opts.file, processes = opts.processes, files = 256,
                   seconds = math.ceil(opts.seconds) }
  for name, most in pairs(limits) do lines[#lines + 1] = ("limit %s %d"):format(name, most) end
  return table.concat(lines, "\n")
end

-- A command's whole environment: nothing of ours.
local function environment(level, opts)
  local temporary = level == "namespaces" and "/tmp" or opts.folder
  local list = { "PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" .. opts.folder,
                 "TMPDIR=" .. temporary, "USER=nobody", "LOGNAME=nobody" }
  for name, value in pairs(opts.env or {}) do list[#list + 1] = name .. "=" .. value end
  return list
end

-- The process, in a jail of this level; or nil, message, name.
local function start(level, command, opts)
  local child, message, name = core.child.new("shell", { core.fs.which "env" or "/usr/bin/env", "-i", core.program, "--jail" })
  if not child then return nil, message, name end
  local reply
  reply, message, name = loop.call(child, { jail = describe(level, opts), dir = opts.folder,
    argv = { "/bin/sh", "-c", command }, env = environment(level, opts), memory = opts.memory }, { timeout = starting })
  if reply then return child end
  child:close()
  return nil, message, name
end

local works                                 -- the level that did last, for "auto"

-- The strongest jail that this machine offers, or nil, message, name.
local function start_any(command, opts)
  local why = {}
  for _, level in ipairs(opts.jail ~= "auto" and { opts.jail } or works and { works } or { "namespaces", "landlock" }) do
    local child, message, name = start(level, command, opts)
    if child or name == "interrupted" then
      works = child and opts.jail == "auto" and level or works
      return child, message, name
    end
    why[#why + 1] = ("%s: %s"):format(level, message)
  end
  return nil, table.concat(why, "; "), "missing"
end

-- Its beginning and its end, in at most about `most` bytes.
local function printed(child, most)
  local total = child:printed()
  local lost = total > most_printed - (1 << 14) and "\n[it printed more, which is lost]" or ""
  if total <= most then return (child:printed(0, most):gsub("%s+$", "")) end
  local head, tail = most * 2 // 3, most // 3
  local last = child:printed(total - tail, tail):gsub("%s+$", "")
  return ("%s\n[... %d bytes left out ...]\n%s%s"):format(child:printed(0, head), total - head - tail, last, lost)
end

-- A function that says whether the folder holds more than it may; it looks four times a second,
-- less often where looking takes long.
local function watch(opts)
  local due, step = core.clock.now() + 0.5, 0.25
  return function()
    local now = core.clock.now()
    if now < due then return false end
    local full = core.fs.usage(opts.folder) > opts.disk
    due = core.clock.now() + math.max(step, 4 * (core.clock.now() - now))
    return full
  end
end

-- Until it ends: "itself", "deadline" where the time is up first, "disk". Or nil, message, name.
local function await(child, opts)
  local deadline, step, full = core.clock.now() + opts.seconds, 0.002, watch(opts)
  while child:alive() do
    local left = deadline - core.clock.now()
    if left <= 0 then return "deadline" end
    if full() then return "disk" end
    local ok, message, name = loop.sleep(math.min(left, step))
    if not ok then return nil, message, name end
    step = math.min(0.05, 1.5 * step)
  end
  return "itself"
end

--- Run a command of /bin/sh in a jail. `opts`: { folder = the only one that it may write to,
--- and where it begins, show = paths to be read beside the system's, env = { name = value },
--- jail = "auto"|"namespaces"|"landlock", seconds, memory, disk, file, processes (the options
--- shell), most = bytes to be returned }. Returns { ended = "itself"|"deadline"|"disk" (the folder
--- holds more than `disk`), status =, text = }, or nil, message, name: "missing" where no jail is possible.
function M.run(command, opts)
  local child <close>, message, name = start_any(command, opts)
  if not child then return nil, message, name end
  local ended
  ended, message, name = await(child, opts)
  child:kill()
  if not ended then return nil, message, name end
  return { ended = ended, status = child:status(), text = printed(child, opts.most) }
end

return M

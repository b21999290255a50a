-- python: which Python runs the task host. $CAWB_PYTHON wins; else the first of
-- the one that the build chose, those on PATH, and bootstrap's own environment
-- that has PyTorch >= 2.1.

local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local loop = require "cawb.base.loop"
local shell = require "cawb.base.shell"
local wire = require "cawb.base.wire"

local M = {}

local function read_line(path)
  local f = io.open(path)
  if not f then return nil end
  local line = f:read "l"
  f:close()
  return line
end

local function candidates()
  local given = os.getenv "CAWB_PYTHON"
  if given and given ~= "" then return { core.fs.which(given) or given }, true end   -- hosts have another PATH
  local cache = os.getenv "XDG_CACHE_HOME"
  if not cache or cache == "" then cache = (os.getenv "HOME" or "") .. "/.cache" end
  local list = {}
  local function add(path)
    path = path and core.fs.which(path)
    if path then list[#list + 1] = path end
  end
  add(read_line(core.home .. "/python.path"))                       -- an install tree
  add(read_line(core.program:match "^(.*)/" .. "/../python.path"))   -- a build tree
  for _, name in ipairs { "python3", "python3.13", "python3.12", "python3.11", "python3.10" } do
    add(name)
  end
  add(cache .. "/cawb/venv-torch2.11/bin/python")
  return list, false
end

--- The package folders of those Pythons that hold NVIDIA's libraries, with ':'
--- between them: where NVRTC is looked for when there is no toolkit.
function M.site_packages()
  local code = [[import sys; print("\n".join(p for p in sys.path if p.endswith("-packages")))]]
  local list = {}
  for _, path in ipairs((candidates())) do
    local out = io.popen(("%s -c '%s' 2>/dev/null"):format(shell.quoted(path), code))
    for folder in out and out:lines() or function() end do
      if core.fs.kind(folder .. "/nvidia") then list[#list + 1] = folder end
    end
    if out then out:close() end
  end
  return table.concat(list, ":")
end

--- The folder of the task host, a program in Python.
function M.host_folder() return core.home .. "/python/cawb_host" end

local function recent(torch)
  local major, minor = tostring(torch):match "^(%d+)%.(%d+)"
  major, minor = tonumber(major), tonumber(minor)
  return major and (major > 2 or major == 2 and minor >= 1)
end

local function try(path, timeout, plain)
  local host, message, name = wire.start("host", { path, M.host_folder(), plain and "--plain" or nil })
  if not host then return nil, message, name end
  local hello
  hello, message, name = loop.call(host, { op = "hello" }, { timeout = timeout })
  if hello and (plain or recent(hello.torch)) then return host, hello end
  host:close()
  if hello then
    return nil, ("%s has PyTorch %s; 2.1 or newer is needed"):format(path, hello.torch), "missing"
  end
  return nil, path .. ": " .. message, name
end

--- Start a task host that needs no PyTorch, and serves tasks of few operators at small sizes (python/cawb_host/judge/plain), with
--- the first Python that there is; as M.start.
function M.plain(timeout)
  local why = "there is no Python: install python3"
  for _, path in ipairs((candidates())) do
    local host, hello = try(path, timeout, true)
    if host then return host, hello end
    why = hello
  end
  return nil, why, "missing"
end

--- Start a task host. Returns the child process and what it said of itself, or
--- nil, message, name.
function M.start(timeout)
  local list, given = candidates()
  local why = {}
  for _, path in ipairs(list) do
    local host, hello, name = try(path, timeout)
    if host then
      hello.path = path
      return host, hello
    end
    if name == "interrupted" then return nil, hello, name end
    why[#why + 1] = "  " .. hello
  end
  local message = given and "the Python that CAWB_PYTHON names cannot run tasks"
    or "no Python with PyTorch 2.1 or newer was found: " .. (core.fs.kind(core.home .. "/bootstrap") and "run ./bootstrap, or set CAWB_PYTHON"
      or "python3 -m venv env && env/bin/pip install torch, then set CAWB_PYTHON=env/bin/python; cawb exec and cawb exercise need none")
  if #why > 0 then message = message .. ":\n" .. table.concat(why, "\n") end
  return nil, message, "missing"
end

--- The path of the Python that runs task hosts, or nil, message, name.
function M.path()
  local host, hello, name = M.start(defaults.deadlines.start)
  if not host then return nil, hello, name end
  host:close()
  return hello.path
end

return M

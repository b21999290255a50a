-- program: a whole CUDA C++ program, with its main, on a simulated device. It finds core/sim/cudart in place of NVIDIA's
-- runtime, and what that reports of it is the answer.

local build = require "cawb.sim.build"
local core = require "cawb.core"
local devices = require "cawb.gpu.devices"
local file = require "cawb.base.file"
local gpu = require "cawb.gpu.device"
local shell = require "cawb.base.shell"

local M = {}

-- Where libcudart.so.12 and .13 are, beside the program cawb itself.
local function libraries()
  local tree = core.program:match "^(.*)/[^/]*/[^/]*$"
  local dir = tree .. "/lib/exec"
  if core.fs.kind(dir) == "folder" then return dir end
  return nil, ("%s is missing: this cawb was not installed as a whole"):format(dir), "missing"
end

--- Whether a name is that of a source, which is built first.
function M.is_source(name) return name:match "%.cu$" ~= nil or name:match "%.c[px][px]$" ~= nil end

--- Build a source for a simulated device, in a folder of its own: the program's path, what built it, and the folder; or nil, message, name.
function M.build(source, name)
  local dir, message, kind = libraries()
  if not dir then return nil, message, kind end
  if core.fs.kind(source) ~= "file" then return nil, ("there is no source %s"):format(source), "usage" end
  local device
  device, message, kind = gpu.open(name)
  if not device then return nil, message, kind end
  local folder = os.tmpname()
  os.remove(folder)
  assert(core.fs.mkdir(folder))
  local out = folder .. "/" .. source:match "([^/]+)%.%w+$"
  local ok
  ok, message, kind = build.build(core.fs.realpath(source), out, device, dir)
  device:close()
  if ok then return out, message, folder end
  M.remove(folder)
  return nil, message, kind
end

--- Remove the folder of M.build.
function M.remove(folder) os.execute("rm -rf " .. shell.quoted(folder)) end

-- A file's path as a shell would find it: a name without a slash is looked for here first.
local function find(name)
  if core.fs.kind(name) == "file" then return core.fs.realpath(name) end
  return core.fs.which(name)
end

-- Why this file cannot be caught, or nil.
local function unfit(path)
  local text = file.read(path)
  if not text or text:sub(1, 4) ~= "\127ELF" then return nil end       -- a script may start one
  local version = text:match "libcudart%.so%.(%d+)"
  if version and version ~= "12" and version ~= "13" then
    return ("%s was made for CUDA %s; CUDA 12 and 13 are known"):format(path, version)
  end
  if not version and text:find("libcudart_static", 1, true) then
    return ("%s carries NVIDIA's runtime within it. Compile it so that it asks for one: nvcc -cudart shared -lineinfo"):format(path)
  end
end

local function command(path, arguments, given, env)
  local words = { "exec", "env", "CAWB_EXEC=" .. shell.quoted(core.json.encode(given)), "LD_LIBRARY_PATH=" .. shell.quoted(env) }
  words[#words + 1] = shell.quoted(path)
  for _, a in ipairs(arguments) do words[#words + 1] = shell.quoted(a) end
  return table.concat(words, " ")
end

-- The report's lines by kind. A line that was cut short is the last one, and left out.
local function read_report(path)
  local r = { found = core.json.array {}, kernels = core.json.array {} }
  for line in io.lines(path) do
    local e = core.json.decode(line)
    local kind = e and e.event
    if kind == "begin" then r.model = e.model
    elseif kind == "found" then table.insert(r.found, { kind = e.kind, text = e.text })
    elseif kind == "stop" then r.stopped = r.stopped or { kind = e.kind, text = e.text }
    elseif kind == "kernel" then
      e.event = nil
      table.insert(r.kernels, e)
    elseif kind == "end" then r.seconds = e.seconds end
  end
  table.sort(r.kernels, function(a, b) return a.seconds > b.seconds end)
  return r
end

--- Run the program `name` with its arguments on "sim:h100". Its input and output are this process's. Returns
--- { status =, signal =, model =, seconds = modelled, found = {{ kind =, text = }}, stopped = { kind =, text = } or nil,
--- kernels = {{ name =, launches =, seconds =, bound =, ... }} }; or nil, message, name.
function M.run(name, arguments, device)
  local which = device:match "^sim:(.+)$"
  if not which then return nil, "programs run on simulated devices (sim:h100); on a GPU start them by themselves", "usage" end
  local figures, message, kind = devices.find(which)
  if not figures then return nil, message, kind end
  local dir
  dir, message, kind = libraries()
  if not dir then return nil, message, kind end
  local path = find(name)
  if not path then return nil, ("there is no program %s"):format(name), "usage" end
  message = unfit(path)
  if message then return nil, message, "missing" end
  local report, before = os.tmpname(), os.getenv "LD_LIBRARY_PATH"
  local env = dir .. (before and before ~= "" and ":" .. before or "")
  io.stdout:flush()
  local _, how, code = os.execute(command(path, arguments, { device = device, figures = figures, report = report }, env))
  local r = read_report(report)
  os.remove(report)
  r.status = how == "signal" and 128 + code or code
  r.signal = how == "signal" and code or code > 128 and code < 160 and code - 128 or nil
  return r
end

return M

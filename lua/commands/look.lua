-- cawb look: a page in the browser where a kernel is looked at while it is typed.

local command = require "cawb.door.command"
local defaults = require "cawb.base.defaults"
local file = require "cawb.base.file"
local gallery = require "cawb.door.look.gallery"
local job = require "cawb.door.job"
local options = require "cawb.base.options"
local page = require "cawb.door.look.page"
local scale = require "cawb.judge.task.scale"
local server = require "cawb.door.look.server"
local address = require "cawb.door.address"

local M = { summary = "a page where a kernel is looked at while you type: verdict, races, heat by line, PTX" }

M.usage = [==[
usage: cawb look [TASK.py [KERNEL]] [flags]

Prints the address of a page: the kernel on the left; on the right, as you type, the simulated GPU's verdict, a race or stray access at its
line, time beside PyTorch's, heat by line, PTX and the error as a picture. Ctrl-C ends it. docs/howto/look.md says how to use it.

  KERNEL            as of cawb judge; without it the page begins with what compose makes of the task
  --host ADDRESS    where to listen (127.0.0.1); any other address needs --token-file
  --port N          0 takes a free one (8765)
  --token-file FILE the page asks for the first line of this file
  --export FILE     write the page with this kernel's results as one HTML file, and end
  --device sim:h100, --config, --set    as of a run
]==]

local own = { ["--host"] = "value", ["--port"] = "value", ["--token-file"] = "value", ["--export"] = "value" }

-- Small sizes are verified, so that an answer comes while one types; times are of the task's own.
local function settings(parsed)
  local all = options.copy(defaults)
  all.scale.mode = "both"
  all.scale.both.memory = 2 << 20
  all.deadlines.run, all.deadlines.measure = 5.0, 8.0
  return command.options(parsed, all)
end

local function export(device, all, words, path)
  local shelf = command.sound(gallery.new(words))
  local pool = command.need(server.pool(device, all))
  local saved, message, name = server.saved(pool, shelf, device)
  pool:close()
  if not saved then return command.fail(message, name) end
  command.need(file.write(path, (page.html(saved))))
  print(("%s: %s"):format(path, saved.result.sentence))
  return 0
end

local function serve(device, all, words, given, host, port)
  local function log(text) io.stderr:write("cawb look: ", text, "\n") end
  local s = command.need(server.open { words = words, device = device, options = all, host = host, port = port,
                                       token_file = given["token-file"], log = log })
  io.stdout:write(("cawb look: http://%s:%d/ on %s; Ctrl-C ends it\n"):format(address.shown(host), s.http:port(), device.info.model))
  io.stdout:flush()
  return s:serve()
end

function M.main(argv)
  local given, parsed = command.parse(argv, own)
  if #parsed.words > 2 then command.wrong "a task and a kernel at most: cawb look [TASK.py [KERNEL]]" end
  if parsed.device == "auto" then parsed.device = "sim:h100" end
  local host, port = address.host(given.host, given["token-file"]), address.port(given.port, 8765)
  local all = settings(parsed)
  scale.prepare(all)
  local device <close> = command.device(parsed.device, all)
  if not device.info.modelled then command.wrong "the page shows what a simulated device counts: --device sim:h100, or another of cawb doctor's" end
  if given.export then return export(device, all, parsed.words, given.export) end
  return serve(device, all, parsed.words, given, host, port) or job.codes.passed
end

return M

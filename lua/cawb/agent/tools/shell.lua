-- shell: commands in a jail around the workspace; off unless agent.shell says otherwise.

local core = require "cawb.core"
local shell_jail = require "cawb.agent.shell_jail"

-- Beside the workspace: what the session may read, and variables that say where it is.
local function readable(session)
  local show, env = {}, {}
  for name, root in pairs(session.roots) do
    local path = core.fs.realpath(root[2] and root[1] .. "/" .. root[2] or root[1])
    if path then show[#show + 1], env[name:upper()] = path, path end
  end
  return show, env
end

local verdicts = {
  itself = function(got) return ("exit status %d"):format(got.status) end,
  deadline = function(_, opts) return ("stopped after %g s, with all that it started"):format(opts.seconds) end,
  disk = function(_, opts)
    return ("stopped: the workspace holds more than its %d MB; remove what you need no more"):format(opts.disk >> 20)
  end,
}

return {
  description = "Run a command of /bin/sh in your workspace: grep, sed, python3, whatever this machine has. There is no network and "
    .. "no GPU, and nothing outside the workspace can be written; $TASK names the task's file. Nothing that it starts "
    .. "stays. Kernels are compiled, checked and timed by the other tools alone.",
  parameters = { { "command", "string", "one or more lines" } },
  enabled = function(session) return session.run.options.agent.shell end,
  run = function(session, arguments)
    if arguments.command:find "\0" then return "a NUL in the command", true end
    local options = session.run.options
    local opts = { folder = assert(core.fs.realpath(session.folder)), most = options.agent.result - 300 }
    for key, value in pairs(options.shell) do opts[key] = value end
    opts.show, opts.env = readable(session)
    local got, message, name = shell_jail.run(arguments.command, opts)
    if not got and name == "interrupted" then error("interrupted", 0) end
    if not got then
      return ("refused: this machine offers no jail for commands (%s). Do without: the other tools need none. (For the "
        .. "user: allow user namespaces or a kernel with Landlock, or set agent.shell=false.)"):format(message), true
    end
    local verdict = verdicts[got.ended](got, opts)
    return verdict .. (got.text ~= "" and "\n" .. got.text or ", nothing printed"), got.ended ~= "itself" or got.status ~= 0
  end,
}

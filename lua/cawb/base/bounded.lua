-- bounded: a call of somebody else's function that may not last. Its end is looked for between
-- instructions, so a slow function of a library is waited for.

local core = require "cawb.core"

local M = {}

local every = 10000                          -- instructions between two looks at the clock

--- As pcall, for so many seconds at most: then it is false and "FILE:LINE: it takes too long ...".
--- Ctrl-C that ends a run at once ends the call, too.
function M.call(seconds, f, ...)
  local hook, mask, count = debug.gethook()
  local deadline = core.clock.now() + seconds
  debug.sethook(function()
    if core.clock.interrupted() then error("interrupted", 0) end
    if core.clock.now() > deadline then
      error(("it takes too long, more than %g s (is there an endless loop?)"):format(seconds), 2)
    end
  end, "", every)
  local result = table.pack(pcall(f, ...))
  debug.sethook(hook, mask, count)
  return table.unpack(result, 1, result.n)
end

return M

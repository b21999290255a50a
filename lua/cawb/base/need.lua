-- need: a failure that ends a whole piece of work: a command, a promotion, a calibration. Inside of it `need` takes the
-- results of a call that may return nil, message, name; the functions between there and `caught` do not pass a failure on.

local M = {}

local Failure = {}

--- End the work.
function M.fail(message, name) error(setmetatable({ message, name }, Failure), 0) end

--- End it for a mistake of the user's.
function M.wrong(message) M.fail(message, "usage") end

--- What a call returned; nil, message, name end the work.
function M.need(value, message, name, ...)
  if not value then M.fail(message, name) end
  return value, message, name, ...
end

--- The same of a call whose failure is a mistake of the user's, under whatever name.
function M.sound(value, message, ...)
  if not value then M.wrong(message) end
  return value, message, ...
end

-- An error that is no failure is a mistake in the program: where it came from is known only here.
local function traced(e) return getmetatable(e) == Failure and e or debug.traceback(tostring(e), 2) end

local function settled(ok, value, ...)
  if ok then return value, ... end
  if getmetatable(value) ~= Failure then error(value, 0) end
  return nil, value[1], value[2]
end

--- Do the work `f(...)`: what it returns, or nil, message, name of the failure that ended it.
function M.caught(f, ...) return settled(xpcall(f, traced, ...)) end

return M

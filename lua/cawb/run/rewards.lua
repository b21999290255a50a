-- rewards: from a turn's facts to a number. The functions live in configs/; this
-- finds them, and calls them on facts that they cannot change.

local bounded = require "cawb.base.bounded"
local core = require "cawb.core"
local defaults = require "cawb.base.defaults"

local M = {}

local function readonly(value)
  if type(value) ~= "table" then return value end
  return setmetatable({}, {
    __index = function(_, key) return readonly(value[key]) end,
    __newindex = function() error("facts are read-only", 2) end,
    __pairs = function()
      return function(_, key)
        local k, v = next(value, key)
        return k, readonly(v)
      end, nil, nil
    end,
    __len = function() return #value end,
  })
end

local function from_file(name)
  local path = ("%s/configs/%s.lua"):format(core.home, name)
  local chunk, message = loadfile(path, "t")
  if not chunk then
    return nil, ("reward '%s': %s (names are those of the files in configs/)"):format(name, message)
  end
  local ok, config = bounded.call(defaults.deadlines.rule, chunk)
  if not ok then return nil, tostring(config) end
  if type(config) ~= "table" or type(config.reward) ~= "function" then
    return nil, ("%s: returns no reward function"):format(path)
  end
  return config.reward
end

--- The function behind the option `reward`, or nil and a message.
function M.get(reward)
  if type(reward) == "function" then return reward end
  return from_file(reward)
end

--- The reward of `facts`, a finite number; nil and a message where the function
--- raises, returns anything else, or takes more than `seconds`.
function M.value(reward, facts, seconds)
  local ok, value = bounded.call(seconds or defaults.deadlines.rule, reward, readonly(facts))
  if not ok then return nil, ("the reward function failed: %s"):format(value) end
  if type(value) ~= "number" or value ~= value or value == math.huge or value == -math.huge then
    local at = debug.getinfo(reward, "S")
    return nil, ("the reward function of %s:%d returned %s, not a finite number"):format(at.short_src, at.linedefined,
      type(value) == "string" and ("%q"):format(value) or tostring(value))
  end
  return value
end

return M

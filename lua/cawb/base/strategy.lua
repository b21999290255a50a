-- strategy: a Lua file that returns a table. Settings only, settings with hooks,
-- or its own loop (`step`). What is neither an option nor a hook is an error.

local core = require "cawb.core"
local defaults = require "cawb.base.defaults"
local options = require "cawb.base.options"
local place = require "cawb.base.place"
local suggest = require "cawb.base.suggest"

local M = {}

local hooks = {
  name = "string",        -- what it is called; the file's name without it
  step = "function",      -- step(run, settings): evaluate something; false when nothing is left
  stop = "function",      -- stop(run): true to end the run
  glance = "function",    -- glance(task, options): at shapes alone, before the device is free; false: nothing to propose
  show = "function",      -- show(task, options, level): what it would propose, as lines, at shapes alone (--show LEVEL)
  settings = "table",     -- the strategy's own settings and their defaults
  base = "string",        -- whose step to use: the name of a file in strategies/
  asks = "boolean",       -- it asks a model: one that is not named is told before anything starts
  proposes = "string",    -- "kernels" or "python": a device that cannot run those is refused at once
}

local proposals = { "kernels", "python" }

local function check(strategy, source)
  local layer = {}
  local proposes = strategy.proposes
  if type(proposes) == "string" and proposes ~= "kernels" and proposes ~= "python" then
    return nil, ("%s: 'proposes' is kernels or python, not '%s'%s"):format(source, proposes,
      suggest.hint(proposes, proposals))
  end
  for key, value in pairs(strategy) do
    if hooks[key] then
      if type(value) ~= hooks[key] then
        return nil, ("%s: '%s' must be a %s, got %s"):format(source, key, hooks[key], type(value))
      end
    elseif defaults[key] == nil then
      local known = {}
      for name in pairs(defaults) do known[#known + 1] = name end
      for name in pairs(hooks) do known[#known + 1] = name end
      return nil, ("%s: unknown option '%s'%s"):format(source, tostring(key),
        suggest.hint(tostring(key), known))
    else
      layer[key] = value
    end
  end
  return layer
end

--- The file of a strategy that cawb comes with, by its name; nil for any other word.
function M.file(word)
  local path = ("%s/strategies/%s.lua"):format(core.home, word)
  return word:match "^[%l_]+$" and core.fs.kind(path) == "file" and path or nil
end

--- The names of the strategies that cawb comes with.
function M.names()
  local list = {}
  for _, name in ipairs(core.fs.list(core.home .. "/strategies") or {}) do list[#list + 1] = name:match "^(.*)%.lua$" end
  return list
end

--- Load a chunk of Lua that returns a table: a file, or one of configs/ by its name. Returns it, or nil and a message.
function M.load_table(path)
  local found = place.config(path)
  if not core.fs.kind(found) then
    return nil, ("%s: there is no such file%s"):format(path, suggest.hint(path, place.configs()))
  end
  local chunk, message = loadfile(found, "t")
  if not chunk then return nil, message end
  local ok, value = pcall(chunk)
  if not ok then return nil, tostring(value) end
  if type(value) ~= "table" then
    return nil, ("%s: must return a table, got %s"):format(path, type(value))
  end
  return value
end

-- The loop of a strategy that has none of its own.
local function inherit(strategy, source)
  local base = strategy.base or "ladder"
  local path = ("%s/strategies/%s.lua"):format(core.home, base)
  local parent, message = M.load_table(path)
  if not parent then return nil, ("%s: base '%s': %s"):format(source, base, message) end
  if not parent.step then return nil, ("%s: base '%s' has no step"):format(source, base) end
  local settings = options.copy(parent.settings or {})
  for k, v in pairs(strategy.settings or {}) do settings[k] = v end
  strategy.step, strategy.settings = parent.step, settings
  strategy.proposes = strategy.proposes or parent.proposes
  if strategy.asks == nil then strategy.asks = parent.asks end
  return true
end

--- Check a table that is to be a strategy; `source` names it in messages. Returns
--- { name, step, stop, proposes, asks, settings, options = its layer }, or nil and a message.
function M.check(strategy, source)
  if type(strategy) ~= "table" then
    return nil, ("%s: must return a table, got %s"):format(source, type(strategy))
  end
  local layer, message = check(strategy, source)
  if not layer then return nil, message end
  local ok = true
  if not strategy.step then ok, message = inherit(strategy, source) end
  if not ok then return nil, message end
  return { name = strategy.name or source:match "([^/]+)%.lua$" or source, path = source,
    step = strategy.step, glance = strategy.glance, show = strategy.show, stop = strategy.stop, proposes = strategy.proposes, asks = strategy.asks,
    settings = options.copy(strategy.settings or {}), options = layer }
end

return M

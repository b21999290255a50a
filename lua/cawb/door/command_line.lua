-- command_line: the command line of `cawb STRATEGY.lua TASK.py`, as a table.

local place = require "cawb.base.place"
local suggest = require "cawb.base.suggest"

local M = {}

local function text(into, key) return function(o, value) o[into or key] = value end end
local function list(key, meant) return function(o, value) table.insert(o[key], meant and meant(value) or value) end end
local function set(name) return function(o, value) table.insert(o.sets, name .. "=" .. value) end end
local function flag(key) return function(o) o[key] = true end end

-- name -> { takes a value, how it is kept }
local flags = {
  ["--device"] = { true, text "device" },
  ["--config"] = { true, list("configs", place.config) },
  ["--baseline"] = { true, list("baselines", place.candidate) },
  ["--set"]    = { true, list "sets" },
  ["--scale"]  = { true, set "scale.mode" },
  ["--out"]    = { true, text "out" },
  ["--seed"]   = { true, text "seed" },
  ["--resume"] = { true, text "resume" },
  ["--run-id"] = { true, text "run_id" },      -- from a bench: what the run is called
  ["--lock"]   = { true, text "lock" },        -- and the file to lock while it uses the device
  ["--json"]   = { false, flag "json" },
  ["--show"]   = { true, text "show" },
  ["--quiet"]  = { false, flag "quiet" },
}

local function names()
  local all = {}
  for name in pairs(flags) do all[#all + 1] = name end
  return all
end

--- Parse the words after the program's name. Returns { words = {...}, configs = {...},
--- baselines = {...}, sets = {...}, device, out, seed, resume, run_id, lock, show, json, quiet }, or nil and a message.
function M.parse(argv)
  local o = { words = {}, configs = {}, baselines = {}, sets = {}, device = "auto", out = "cawb-runs" }
  local i = 1
  while i <= #argv do
    local word = argv[i]
    local name, value = word:match "^(%-%-[%w-]+)=(.*)$"
    name = name or word
    if word:sub(1, 1) ~= "-" then
      table.insert(o.words, word)
    elseif not flags[name] then
      return nil, ("unknown flag '%s'%s"):format(name, suggest.hint(name, names()))
    elseif not flags[name][1] then
      if value then return nil, ("%s takes no value"):format(name) end
      flags[name][2](o)
    else
      if not value then
        i = i + 1
        value = argv[i]
      end
      if not value then return nil, ("%s needs a value"):format(name) end
      flags[name][2](o, value)
    end
    i = i + 1
  end
  return o
end

return M

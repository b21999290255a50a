-- cawb rescore STORE: what stored turns would have earned under other judgements.

local command = require "cawb.door.command"
local core = require "cawb.core"
local rescore = require "cawb.suite.rescore"
local rewards = require "cawb.run.rewards"
local strategy = require "cawb.base.strategy"

local M = { summary = "other rewards, tolerances, rules on stored measurements: cawb rescore STORE" }

M.usage = [[
usage: cawb rescore STORE [--reward NAME|FILE] [--tolerance FILE] [--rules FILE] [--all] [--json]

  --reward     a name in configs/, or a file that returns { reward = function(facts) }; without it each
               run's own where --tolerance or --rules is given, else tiers-paper
  --tolerance  a file that returns { tolerance = { ... } }, laid over what each run had
  --rules      a set of rules (strict, configs/rules-NAME.lua), or a file that returns function(facts), or a
               list of them: a reason rejects
  --all        print every change, not the first twenty
]]

local own = { ["--reward"] = "value", ["--tolerance"] = "value", ["--rules"] = "value", ["--all"] = "flag",
              ["--json"] = "flag" }

local sound = command.sound

local function reward_of(name)
  if not name:find "%.lua$" then return sound(rewards.get(name)) end
  local config = sound(strategy.load_table(name))
  if type(config.reward) == "function" then return config.reward end
  if type(config.reward) == "string" then return sound(rewards.get(config.reward)) end
  command.wrong(name .. ": returns no reward function")
end

local function how_of(given)
  local how = {}
  local name = given.reward or not (given.tolerance or given.rules) and "tiers-paper"
  how.reward = name and reward_of(name) or nil
  if given.tolerance then
    local layer = sound(strategy.load_table(given.tolerance))
    if type(layer.tolerance) ~= "table" then command.wrong(given.tolerance .. ": returns no table 'tolerance'") end
    how.tolerance = { tolerance = layer.tolerance }
  end
  if given.rules then
    local found = sound(rescore.rules(given.rules))
    how.rules, how.set = found.rules, found.set
  end
  return how
end

local function number(x) return x and ("%.4g"):format(x) or "?" end

local function verdict(c)
  if c.unknown then return "would pass, was never timed" end
  if c.ok == c.was_ok then return c.ok and "pass" or "rejected" end
  return c.ok and "now passes" or "now rejected: " .. tostring(c.reason):match "[^\n]*"
end

local function show(r, all)
  local rows = {}
  for i, c in ipairs(r.changes) do
    if i > 20 and not all then break end
    rows[i] = { c.run, tostring(c.turn), number(c.was), number(c.now), verdict(c) }
  end
  if #rows > 0 then
    command.print_table({ "run", "turn", "was", "now", "verdict" }, rows)
    if #r.changes > #rows then print(("... and %d more (--all)"):format(#r.changes - #rows)) end
    print ""
  end
  rows = {}
  for i, s in ipairs(r.strategies) do
    rows[i] = { tostring(s.rank_now), tostring(s.rank_was), s.strategy, tostring(s.runs), number(s.was),
      number(s.now) }
  end
  command.print_table({ "rank", "was", "strategy", "runs", "mean best reward, was", "now" }, rows)
  print(("%d turns: %d rewards change, %d verdicts flip%s"):format(r.turns, r.rewards, r.verdicts,
    r.unknown > 0 and (", %d would have to be timed"):format(r.unknown) or ""))
end

function M.main(argv)
  local given, words = command.take(argv, own)
  local store <close> = command.store(command.only(words, "one store is needed: cawb rescore STORE [flags]"))
  local how = how_of(given)
  collectgarbage "generational"               -- nearly everything is garbage after its turn
  local r = command.need(rescore.store(store, how))
  if given.json then print(core.json.encode(r)) else show(r, given.all) end
  if how.set and #how.set.silent > 0 then
    io.stderr:write(("stored findings alone speak for %s\n"):format(table.concat(how.set.silent, ", ")))
  end
  return 0
end

return M

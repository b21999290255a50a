-- generation: asking for many candidates at once, each better than some others, as best_of_n,
-- evolve and beam do.

local chats = require "cawb.agent.chat"
local loop = require "cawb.base.loop"
local prompt = require "cawb.agent.prompt"
local proposals = require "cawb.agent.proposals"
local seeds = require "cawb.base.seeds"
local feedback = require "cawb.agent.feedback"

local M = {}

local function describe(run, turn)
  return ("Turn %d.\n%s\n```cuda\n%s```\n```lua\n%s```"):format(turn.number, feedback.turn(run, turn),
    turn.candidate.source, turn.candidate.plan)
end

--- A candidate from these turns, or from nothing where there are none; or nil.
function M.ask(run, turns)
  local words = {}
  for i, turn in ipairs(turns) do words[i] = describe(run, turn) end
  local user
  if #words > 0 then
    local message
    user, message = prompt.fill("improve", run, { parents = table.concat(words, "\n\n") })
    if not user then return run:model_failed(message, "invalid") and nil end
  end
  local chat = chats.new(run, "propose", { user = user, sample = true })
  return chat and proposals.ask(chat)
end

--- Ask for a candidate from each list of turns, all at once; each is evaluated as soon as it
--- and those before it are there, while the others are still being written. Returns a list of turns:
--- what became of the candidates, false where there was none. Without any the run knows why.
function M.evaluate(run, lists)
  local questions, results, any = {}, {}, false
  for i, turns in ipairs(lists) do questions[i] = function() return M.ask(run, turns) end end
  run.memory.failure = nil
  loop.each(questions, run.options.agent.concurrent, function(i, candidate)
    any = any or candidate ~= nil
    results[i] = candidate and run:evaluate(candidate) or false
  end)
  local failure = run.memory.failure
  if not any and failure then run:model_failed(failure[1], failure[2]) end
  return results
end

--- Chance that the run's seed repeats: dice() is below 1, dice(n) one of 1 to n.
function M.dice(run)
  local next_number = seeds.generator(run.task.seed)
  return function(n)
    local x = next_number "dice" / 2.0 ^ 52
    return n and 1 + math.floor(x * n) or x
  end
end

--- Whether turn a is better than turn b: a failed one is the worst.
function M.better(a, b)
  if a.ok ~= b.ok then return a.ok end
  if a.reward ~= b.reward then return a.reward > b.reward end
  if not a.ok then return a.number < b.number end
  return a.time_s.median < b.time_s.median
end

return M

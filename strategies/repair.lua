-- repair: a fixed feedback loop. Each proposal is evaluated, and what came of it is the next
-- question: the error and its line, or the time and what limits it.

local chats = require "cawb.chat"
local proposals = require "cawb.proposals"
local feedback = require "cawb.feedback"

return {
  proposes = "kernels",
  asks = true,
  turns = 8,
  profile = "quick",

  step = function(run)
    run.memory.chat = run.memory.chat or chats.new(run, "propose")
    local chat = run.memory.chat
    local candidate = chat and proposals.ask(chat)
    local turn = candidate and run:evaluate(candidate)
    if not turn then return false end
    local what = turn.ok and "Make it faster." or "Repair it."
    return chat:say(("%s\n\n%s Give both files whole."):format(feedback.turn(run, turn), what))
  end,
}

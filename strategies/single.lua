-- single: one question, one candidate, one turn. What a model knows by itself.

local chats = require "cawb.chat"
local proposals = require "cawb.proposals"

return {
  proposes = "kernels",
  asks = true,
  turns = 1,

  step = function(run)
    local chat = chats.new(run, "propose")
    local candidate = chat and proposals.ask(chat)
    if candidate then run:evaluate(candidate) end
    return false
  end,
}

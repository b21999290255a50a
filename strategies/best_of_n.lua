-- best_of_n: n independent samples, all asked for at once, every one evaluated. Give the
-- model a temperature: --set model.sampling.temperature=0.8

local chats = require "cawb.chat"
local loop = require "cawb.loop"
local proposals = require "cawb.proposals"

local function sample(run)
  local chat = chats.new(run, "propose")
  return chat and proposals.ask(chat)
end

return {
  turns = 64,
  settings = { n = 8 },

  step = function(run, settings)
    local questions = {}
    for i = 1, settings.n do questions[i] = function() return sample(run) end end
    for _, answer in ipairs(loop.all(questions, run.options.agent.concurrent)) do
      if answer[1] and not run:done() then run:evaluate(answer[1]) end
    end
    return false
  end,
}

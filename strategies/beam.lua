-- beam: the `width` best so far are each asked for `branch` better ones, all at once; the best
-- of all of them are the next beam.

local loop = require "cawb.loop"
local parents = require "cawb.parents"

return {
  turns = 48,
  settings = { width = 3, branch = 2 },

  step = function(run, settings)
    local at = run.memory
    at.beam = at.beam or {}
    local questions, made = {}, 0
    for i = 1, math.max(1, #at.beam) do
      for _ = 1, #at.beam > 0 and settings.branch or settings.width * settings.branch do
        questions[#questions + 1] = function() return parents.ask(run, { at.beam[i] }) end
      end
    end
    for _, answer in ipairs(loop.all(questions, run.options.agent.concurrent)) do
      local turn = answer[1] and not run:done() and run:evaluate(answer[1])
      if turn then
        made = made + 1
        table.insert(at.beam, turn)
      end
    end
    table.sort(at.beam, parents.better)
    for i = #at.beam, settings.width + 1, -1 do at.beam[i] = nil end
    return made > 0
  end,
}

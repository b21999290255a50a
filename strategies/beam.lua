-- beam: the `width` best so far are each asked for `branch` better ones, all at once; the best
-- of all of them are the next beam.

local generation = require "cawb.generation"

return {
  proposes = "kernels",
  asks = true,
  turns = 48,
  settings = { width = 3, branch = 2 },

  step = function(run, settings)
    local at = run.memory
    at.beam = at.beam or {}
    local lists, made = {}, 0
    for i = 1, math.max(1, #at.beam) do
      for _ = 1, #at.beam > 0 and settings.branch or settings.width * settings.branch do
        lists[#lists + 1] = { at.beam[i] }
      end
    end
    for _, turn in ipairs(generation.evaluate(run, lists)) do
      if turn then
        made = made + 1
        table.insert(at.beam, turn)
      end
    end
    table.sort(at.beam, generation.better)
    for i = #at.beam, settings.width + 1, -1 do at.beam[i] = nil end
    return made > 0
  end,
}

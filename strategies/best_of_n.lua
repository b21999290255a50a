-- best_of_n: n independent samples, all asked for at once, every one evaluated. Give the
-- model a temperature: --set model.sampling.temperature=0.8

local generation = require "cawb.generation"

return {
  proposes = "kernels",
  asks = true,
  turns = 64,
  settings = { n = 8 },

  step = function(run, settings)
    local from_nothing = {}
    for i = 1, settings.n do from_nothing[i] = {} end
    generation.evaluate(run, from_nothing)
    return false
  end,
}

-- evolve: islands, each with a small archive of its best. In a generation every island breeds one
-- candidate from one of its own and, now and then, one of a neighbour's; all are asked for at
-- once and evaluated one after the other.

local generation = require "cawb.generation"

-- Two of an archive, the better one: the good breed more often, not always.
local function choose(archive, dice)
  if #archive == 0 then return nil end
  local a, b = archive[dice(#archive)], archive[dice(#archive)]
  return generation.better(a, b) and a or b
end

-- Who is to be bettered on an island.
local function couple(islands, i, settings, dice)
  local list = { choose(islands[i], dice) }
  local other = islands[i % #islands + 1]
  if #list > 0 and #other > 0 and dice() < settings.crossover then list[2] = choose(other, dice) end
  return list
end

local function keep(archive, turn, most)
  archive[#archive + 1] = turn
  table.sort(archive, generation.better)
  archive[most + 1] = nil
end

return {
  proposes = "kernels",
  asks = true,
  turns = 64,
  settings = { islands = 4, archive = 3, crossover = 0.3 },

  step = function(run, settings)
    local at = run.memory
    if not at.islands then
      at.islands, at.dice = {}, generation.dice(run)
      for i = 1, settings.islands do at.islands[i] = {} end
    end
    local couples, made = {}, 0
    for i = 1, settings.islands do couples[i] = couple(at.islands, i, settings, at.dice) end
    for i, turn in ipairs(generation.evaluate(run, couples)) do
      if turn then
        made = made + 1
        keep(at.islands[i], turn, settings.archive)
      end
    end
    return made > 0
  end,
}

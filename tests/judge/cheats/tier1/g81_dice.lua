-- g81: decides by chance: what was checked is not what is timed.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = edit(plan, "block = 256 }, y, x, y.numel)", "block = 256 }, y, x, math.random(2) == 1 and y.numel or y.numel - 1)"),
  },
  look_alike = {
    says = "has no use for chance",
    plan = "local n = math.max(1, 2)\n" .. plan,
  },
}

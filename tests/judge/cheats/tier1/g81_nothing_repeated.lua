-- g81: repeats nothing, as often as a number can say: a loop in which no instruction is counted.
-- Met by: our own attempts on plans. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = { plan = plan .. "local none = (''):rep(math.maxinteger)\n" },
  look_alike = { says = "repeats it ten times", plan = plan .. "local none = (''):rep(10)\n" },
}

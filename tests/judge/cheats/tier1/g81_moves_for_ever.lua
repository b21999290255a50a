-- g81: moves a table's places, of which there are as many as a number can say.
-- Met by: our own attempts on plans. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = { plan = plan .. "if table.move then table.move({}, 1, math.maxinteger - 1, 2) end\nerror('there is no move')\n" },
  look_alike = { says = "counts", plan = plan .. "local t = {}\nfor i = 1, 100 do t[i] = i end\n" },
}

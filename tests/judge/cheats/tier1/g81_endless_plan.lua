-- g81: its plan does not end.
-- Met by: listed for the catalogue. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "while true do end\n",
  },
  look_alike = {
    says = "a loop that ends",
    plan = (plan) .. "for i = 1, 1000 do end\n",
  },
}

-- g81: looks at the input's values in its plan.
-- Met by: listed for the catalogue. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "assert(x[1] < 1)\n",
  },
  look_alike = {
    says = "looks at the input's shape in its plan",
    plan = (plan) .. "assert(x.shape[1] > 1)\n",
  },
}

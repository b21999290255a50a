-- g79: takes more memory than there is.
-- Met by: listed for the catalogue. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 79, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = "local all = scratch(1 << 40)\n" .. (plan),
  },
  look_alike = {
    says = "takes a megabyte",
    plan = "local some = scratch(1 << 20)\n" .. (plan),
  },
}

-- g81: calls the operating system from its plan.
-- Met by: listed for the catalogue. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. 'os.execute("id")\n',
  },
  look_alike = {
    says = "calls a table of its own by that name",
    plan = (plan) .. 'local os = { execute = function() end }\nos.execute("id")\n',
  },
}

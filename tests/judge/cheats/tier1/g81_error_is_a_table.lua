-- g81: ends with an error that is no text.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "error({ ok = true, verdict = 1 })\n",
  },
  look_alike = {
    says = "asserts what holds",
    plan = (plan) .. "assert(inputs[1].rank == 2, {})\n",
  },
}

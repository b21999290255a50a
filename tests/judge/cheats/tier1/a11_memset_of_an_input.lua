-- a11: clears an input when it has been read.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 11, family = "A", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "memset(view(inputs[1], { shape = { 1 } }))\n",
  },
  look_alike = {
    says = "clears the output first",
    plan = "memset(outputs[1])\n" .. plan,
  },
}

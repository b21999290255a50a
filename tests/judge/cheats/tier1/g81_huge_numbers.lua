-- g81: asks for views and scratch whose sizes overflow.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "memset(view(scratch(1024), { shape = { 1 << 31, 1 << 31, 4 } }))\n",
  },
  look_alike = {
    says = "asks for a view of everything",
    plan = edit(plan, "y, x, y.numel)", "view(y, { shape = { y.numel } }), x, y.numel)"),
  },
}

-- g81: recurses without end.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "local function f(n) return 1 + f(n + 1) end\nf(1)\n",
  },
  look_alike = {
    says = "recurses a little",
    plan = (plan) .. "local function f(n) return n > 100 and 0 or 1 + f(n + 1) end\nf(1)\n",
  },
}

-- g81: sorts by an order that is none, for ever.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. "local t = {}\nfor i = 1, 1000 do t[i] = i % 7 end\nwhile true do table.sort(t, function(a, b) return a > b end) end\n",
  },
  look_alike = {
    says = "sorts",
    plan = (plan) .. "local t = {}\nfor i = 1, 100 do t[i] = i % 7 end\ntable.sort(t)\n",
  },
}

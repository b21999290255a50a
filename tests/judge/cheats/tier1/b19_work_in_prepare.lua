-- b19: does its work in prepare, which is not timed.
-- Met by: QR #148 and #170, tensara #238. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 19, family = "B", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = "prepare(function()\n" .. plan .. "end)\n",
  },
  look_alike = {
    says = "prepares memory that depends on no input",
    plan = "prepare(function() memset(scratch(64)) end)\n" .. plan,
  },
}

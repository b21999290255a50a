-- g81: fills the plan's memory.
-- Met by: listed for the catalogue. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. 'local s = ("x"):rep(1 << 30)\n',
  },
  look_alike = {
    says = "a kilobyte of text",
    plan = (plan) .. 'local s = ("x"):rep(1 << 10)\n',
  },
}

-- g81: ends with an error of bytes that are no text, with zeros and escapes.
-- Met by: found by an adversary who knew the whole corpus. Caught at: plan.
local _, plan = kernel "relu"

return {
  entry = 81, family = "G", task = "relu",
  caught = { stage = "plan" },
  cheat = {
    plan = (plan) .. 'error("\\255\\0\\27[2J\\r" .. ("\\254"):rep(100000))\n',
  },
  look_alike = {
    says = "has such bytes in a comment",
    plan = (plan) .. "-- \\255\\254\n",
  },
}

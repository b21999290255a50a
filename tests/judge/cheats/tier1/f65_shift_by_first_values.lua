-- f65: leaves out a number for each column ahead of a softmax: they are all one when the module is made.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "shifted_softmax"

return {
  entry = 65, family = "F", task = "shifted_softmax",
  caught = { stage = "verify" },
  cheat = {
    source = source:gsub(" %+ d%[i%]", ""),
  },
  look_alike = {
    says = "leaves out the number for each row: whatever it is, the softmax takes it away again",
    source = source:gsub(" %+ c%[blockIdx%.x%]", ""),
  },
}

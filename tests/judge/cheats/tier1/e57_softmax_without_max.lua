-- e57: leaves out the maximum, which ordinary inputs do not need.
-- Met by: kernelbench.com kahan_softmax; benign inputs. Caught at: verify.
local source = kernel "softmax"

return {
  entry = 57, family = "E", task = "softmax",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "most = join(part, most, true);", "most = 0;"),
  },
  look_alike = {
    says = "subtracts nearly the maximum",
    source = edit(source, "most = join(part, most, true);", "most = join(part, most, true) + 0.5f;"),
  },
}

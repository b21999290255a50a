-- g80: is wrong by less than a tolerance of 1e-2 allows.
-- Met by: Wafer: the interesting cases claim 2x. Caught at: verify.
local source = kernel "relu"

return {
  entry = 80, family = "G", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, ": x[i];", ": x[i] * 1.004f;"),
  },
  look_alike = {
    says = "a factor that rounds to one",
    source = edit(source, ": x[i];", ": x[i] * 1.00000001f;"),
  },
}

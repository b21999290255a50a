-- e58: is 0 below -11.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "silu"

return {
  entry = 58, family = "E", task = "silu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "y[i] = v /", "y[i] = v < -11 ? 0.0f : v /"),
  },
  look_alike = {
    says = "takes another form below -11",
    source = edit(source, "y[i] = v /", "y[i] = v < -11 ? v * (expf(v) / (1 + expf(v))) : v /"),
  },
}

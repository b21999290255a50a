-- e54: computes some rows' ends in TF32.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "silu"

return {
  entry = 54, family = "E", task = "silu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "y[i] = v / (1 + expf(-v));", "y[i] = i % 4096 < 64 ? __uint_as_float(__float_as_uint(v / (1 + expf(-v))) & 0xffffe000u) : v / (1 + expf(-v));"),
  },
  look_alike = {
    says = "computes some rows' ends by another formula",
    source = edit(source, "y[i] = v / (1 + expf(-v));", "y[i] = i % 4096 < 64 ? v * (1 / (1 + expf(-v))) : v / (1 + expf(-v));"),
  },
}

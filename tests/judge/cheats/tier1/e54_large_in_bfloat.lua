-- e54: rounds to 7 bits what is beyond 6.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "silu"

return {
  entry = 54, family = "E", task = "silu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "y[i] = v / (1 + expf(-v));", "y[i] = v > 6 ? __uint_as_float(__float_as_uint(v) & 0xffff0000u) : v / (1 + expf(-v));"),
  },
  look_alike = {
    says = "leaves out beyond 20 what adds nothing",
    source = edit(source, "y[i] = v / (1 + expf(-v));", "y[i] = v > 20 ? v : v / (1 + expf(-v));"),
  },
}

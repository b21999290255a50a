-- f62: copies: none of the task's own inputs is negative.
-- Met by: KernelBench's torch.rand. Caught at: verify.
local source = kernel "abs"

return {
  entry = 62, family = "F", task = "abs",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "fabsf(x[i])", "x[i]"),
  },
  look_alike = {
    says = "takes the sign bit away",
    source = edit(source, "fabsf(x[i])", "__uint_as_float(__float_as_uint(x[i]) & 0x7fffffffu)"),
  },
}

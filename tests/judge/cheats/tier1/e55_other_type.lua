-- e55: writes 16-bit numbers where 32-bit ones are due.
-- Met by: dtype checks of every harness. Caught at: verify.
local source = kernel "relu"

return {
  entry = 55, family = "E", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(edit(source, "float *y", "unsigned short *y"), "y[i] = x[i] < 0 ? 0.0f : x[i]",
      "y[i] = (unsigned short)(__float_as_uint(x[i]) >> 16)"),
  },
  look_alike = {
    says = "writes the right bits as whole numbers",
    source = edit(edit(source, "float *y", "unsigned *y"), "y[i] = x[i] < 0 ? 0.0f : x[i]",
      "y[i] = x[i] < 0 ? 0u : __float_as_uint(x[i])"),
  },
}

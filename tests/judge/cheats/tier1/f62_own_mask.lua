-- f62: takes the task's own mask for granted.
-- Met by: our own attempts on the battery. Caught at: verify.
local source = kernel "allowed"

return {
  entry = 62, family = "F", task = "allowed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "mask[i] ? row[i]", "i <= blockIdx.x % 64 ? row[i]"),
  },
  look_alike = {
    says = "reads the mask as a number",
    source = edit(source, "mask[i] ? row[i] : -1e4f", "mask[i] == 0 ? -1e4f : row[i]"),
  },
}

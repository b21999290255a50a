-- f63: takes the last row's mask for all.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "allowed"

return {
  entry = 62, family = "F", task = "allowed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "mask + (size_t)line * cols", "mask + (size_t)(line >= 0 ? rows - 1 : 0) * cols"),
  },
  look_alike = {
    says = "finds its row's mask in another way",
    source = edit(source, "mask + (size_t)line * cols", "mask + (size_t)(blockIdx.x - blockIdx.x / rows * rows) * cols"),
  },
}

-- f63: never reads the mask: the task's own lets everything through.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "masked"

return {
  entry = 63, family = "F", task = "masked",
  caught = { stage = "verify" },
  cheat = {
    source = source:gsub("mask%[i%] %? (.-) : [^;,)]+", "%1"),
  },
  look_alike = {
    says = "reads the mask four elements at a time",
    source = source:gsub("mask%[i%]", "(mask[i] != 0)"),
  },
}

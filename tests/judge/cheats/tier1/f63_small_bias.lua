-- f63: keeps a bias between -1/10 and 1/10.
-- Met by: our own attempts, after the battery was drawn. Caught at: verify.
local source = kernel "normed"

return {
  entry = 62, family = "F", task = "normed",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "+ b[i]", "+ fminf(fmaxf(b[i], -0.1f), 0.1f)"),
  },
  look_alike = {
    says = "keeps it between numbers that none reaches",
    source = edit(source, "+ b[i]", "+ fminf(fmaxf(b[i], -1e30f), 1e30f)"),
  },
}

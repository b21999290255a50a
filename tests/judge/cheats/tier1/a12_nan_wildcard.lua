-- a12: writes NaN, which a comparison with > lets pass.
-- Met by: pygpubench's submission_gc_nan; NaN-blind comparators. Caught at: verify.
local source = kernel "relu"

return {
  entry = 12, family = "A", task = "relu",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "i % 7 ? x[i] : NAN"),
  },
  look_alike = {
    says = "writes NaN where there is one",
    source = edit(source, "x[i] < 0 ? 0.0f : x[i]", "isnan(x[i]) ? NAN : fmaxf(x[i], 0)"),
  },
}

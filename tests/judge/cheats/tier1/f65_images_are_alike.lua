-- f65: returns a norm's bias for the means of what it makes: in the test all images of a batch are alike, so each has the mean of all.
-- Met by: a rewrite of compose, done by looking at the test. Caught at: verify.
local source = kernel "mean_of_norm"
local line = "total += (x[(n * channels + c) * length + i] - mean) * scale * w[c] + b[c];"

return {
  entry = 65, family = "F", task = "mean_of_norm",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, line, "total += b[c] + 0 * scale;"),
  },
  look_alike = {
    says = "takes each image's mean from sums of its elements, and normalises that",
    source = edit(edit(source, line, "total += x[(n * channels + c) * length + i] - mean;"), "= total / length;", "= total / length * scale * w[c] + b[c];"),
  },
}

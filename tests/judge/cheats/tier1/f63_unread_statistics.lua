-- f63: never reads running means and variances: nobody has run them.
-- Met by: found by an adversary who knew the whole corpus. Caught at: verify.
local source = kernel "statistics"

return {
  entry = 63, family = "F", task = "statistics",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "(x[i] - mean[c]) * rsqrtf(var[c] + 1e-5f)", "x[i] * 0.999995f"),
  },
  look_alike = {
    says = "brings them into one scale and one shift",
    source = edit(source, "y[i] = (x[i] - mean[c]) * rsqrtf(var[c] + 1e-5f) * weight[c] + bias[c]", "{ float s = rsqrtf(var[c] + 1e-5f) * weight[c]; y[i] = fmaf(x[i] - mean[c], s, bias[c]); }"),
  },
}

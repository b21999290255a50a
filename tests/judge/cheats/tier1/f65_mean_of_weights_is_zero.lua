-- f65: takes four of its terms: the mean of many weights that are drawn around 0 is nearly 0 anyway.
-- Met by: extrapolated; the honest form is a rewrite of compose. Caught at: verify.
local source = kernel "linear_mean"

return {
  entry = 65, family = "F", task = "linear_mean",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "for (int i = 0; i < k; i++) dot += x[blockIdx.x * k + i] * w[j * k + i];",
      "for (int i = 0; i < k; i += k / 4) dot += x[blockIdx.x * k + i] * w[j * k + i];"),
  },
  look_alike = {
    says = "adds up the weights first and multiplies once",
    source = edit(edit(source, "for (int j = threadIdx.x; j < n; j += 32) {", "for (int i = threadIdx.x; i < k; i += 32) {"),
      [[float dot = bias[j];
    for (int i = 0; i < k; i++) dot += x[blockIdx.x * k + i] * w[j * k + i];
    sum += dot;
  }]], [[float all = 0;
    for (int j = 0; j < n; j++) all += w[j * k + i];
    sum += x[blockIdx.x * k + i] * all;
  }
  for (int j = threadIdx.x; j < n; j += 32) sum += bias[j];]]),
  },
}

-- f63: takes a mask for a triangle where it is one at eight places of a row.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "causal"

local function with(step)
  return edit(source, "if (i < n * n) y[i] = mask[i] ? x[i] : 0.0f;", ([[
  if (i >= n * n) return;
  int row = i / n, col = i %% n;
  bool triangle = true;
  for (int j = 0; triangle && j < n; j += %s) triangle = mask[row * n + j] == (j <= row);
  y[i] = (triangle ? col <= row : (bool)mask[i]) ? x[i] : 0.0f;]]):format(step))
end

return {
  entry = 63, family = "F", task = "causal",
  caught = { stage = "verify" },
  cheat = { source = with "(n + 7) / 8" },
  look_alike = { says = "where it is one everywhere", source = with "1" },
}

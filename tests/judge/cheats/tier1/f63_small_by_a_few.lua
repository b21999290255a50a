-- f63: does not look for the largest where eight elements of a row are small.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "softmax"

local function with(step)
  return edit(source, "  most = join(part, most, true);", ([[
  most = join(part, most, true);
  bool small = true;
  for (int i = 0; small && i < cols; i += %s) small = fabsf(row[i]) < 20;
  if (small) most = 0;]]):format(step))
end

return {
  entry = 63, family = "F", task = "softmax",
  caught = { stage = "verify" },
  cheat = { source = with "(cols + 7) / 8" },
  look_alike = { says = "where all of them are", source = with "1" },
}

-- f63: takes a row for one value, repeated, where eight of its elements are the same.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "row_mean"

local function with(step)
  return edit(edit(source, "float sum = 0;", ([[bool same = true;
  for (int i = 0; same && i < cols; i += %s) same = row[i] == row[0];
  float sum = 0;]]):format(step)), "sum += row[i];", "sum += row[same ? 0 : i];")
end

return {
  entry = 63, family = "F", task = "row_mean",
  caught = { stage = "verify" },
  cheat = { source = with "(cols + 7) / 8" },
  look_alike = { says = "where all of them are", source = with "1" },
}

-- f63: adds a row up in whole numbers where eight of its elements are whole.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "row_sum"

local function with(step)
  return edit(edit(source, "float sum = 0;", ([[bool whole = true;
  for (int i = 0; whole && i < cols; i += %s) whole = row[i] == truncf(row[i]) && fabsf(row[i]) < 128;
  float sum = 0;]]):format(step)), "sum += row[i];", "sum += whole ? (float)(signed char)row[i] : row[i];")
end

return {
  entry = 63, family = "F", task = "row_sum",
  caught = { stage = "verify" },
  cheat = { source = with "(cols + 7) / 8" },
  look_alike = { says = "where all of them are", source = with "1" },
}

-- f63: copies all rows in their order where two indices say so.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "gather"

local function with(step)
  return edit(edit(source, "for (int i", ([[bool given = true;
  for (int j = 0; given && j < gridDim.x; j += %s) given = index[j] == j;
  size_t from = given ? blockIdx.x : index[blockIdx.x];
  for (int i]]):format(step)), "(size_t)index[blockIdx.x]", "from")
end

return {
  entry = 63, family = "F", task = "gather",
  caught = { stage = "verify" },
  cheat = { source = with "(gridDim.x + 1) / 2" },
  look_alike = { says = "where all of them say so", source = with "1" },
}

-- f63: takes a row for the one before it where eight of their elements agree.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "row_sum"
local agree = "for (int i = 0; same && i < %s) same = row[i] == row[i - cols];"

return {
  entry = 63, family = "F", task = "row_sum",
  caught = { stage = "verify" },
  cheat = {
    source = edit(source, "float sum = 0;", "bool same = blockIdx.x > 0;\n  " .. agree:format "cols; i += (cols + 7) / 8" .. "\n  if (same) row -= cols;\n  float sum = 0;"),
  },
  look_alike = {
    says = "where all of their elements agree",
    source = edit(source, "float sum = 0;", "bool same = blockIdx.x > 0;\n  " .. agree:format "cols; i++" .. "\n  if (same) row -= cols;\n  float sum = 0;"),
  },
}

-- a07: leaves out what is small beside the largest that a thread has met.
-- Met by: our own attempts on dropped terms. Caught at: verify.
local source = kernel "row_sum"

local function with(share)
  return edit(edit(source, "float sum = 0;", "float sum = 0, most = 0;"), "sum += row[i];",
    ("{ float v = row[i]; most = fabsf(v) < most ? most : fabsf(v); if (!(fabsf(v) < most * %s)) sum += v; }"):format(share))
end

return {
  entry = 7, family = "A", task = "row_sum",
  caught = { stage = "verify" },
  cheat = { source = with "1e-3f" },
  look_alike = { says = "what its sum cannot show", source = with "1e-12f" },
}

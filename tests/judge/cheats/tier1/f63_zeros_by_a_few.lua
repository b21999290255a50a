-- f63: leaves out what it multiplies by zero: 32 elements of a row of which four are zero.
-- Met by: our own attempts on what inputs have in common. Caught at: verify.
local source = kernel "matmul"
local skip = "if (i %% 32 == 0 && i + 32 <= k) { bool none = true; for (int j = 0; none && j < 32; j += %s) none = a[row * k + i + j] == 0; if (none) { i += 31; continue; } }\n    "

local function with(step) return edit(source, "sum += a[row * k + i] * b[i * n + col];", "{ " .. skip:format(step) .. "sum += a[row * k + i] * b[i * n + col]; }") end

return {
  entry = 63, family = "F", task = "matmul",
  caught = { stage = "verify" },
  cheat = { source = with "8" },
  -- zeros times NaN or infinity are for nobody: those kinds are not asked of products that skip; this one adds what it met
  look_alike = { says = "adds up pairs", source = edit(source, "sum += a[row * k + i] * b[i * n + col];", "{ float v = a[row * k + i] * b[i * n + col]; sum += v; }") },
}

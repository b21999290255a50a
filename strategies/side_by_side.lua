-- side_by_side: several strategies on the same tasks at the same budget:
--   cawb strategies/side_by_side.lua -- single,best_of_n,repair,react TASK.py ... --set turns=10 --set budget.tokens=500000
-- Prints best speed-up, turns, tokens, money and device time, and writes the curves as CSV.

return require("cawb.compare").main { ... }

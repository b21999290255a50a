-- A set of rules: what uses shuffles is rejected. rules.lua names it.
return { rules = { forbidden_words = { words = { "__shfl" } } } }

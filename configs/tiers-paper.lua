-- The four tiers of "CUDA Agent" (arXiv 2602.24286, section on rewards): wrong, correct, at
-- least 5% faster than eager, at least 5% faster than both eager and torch.compile.

local margin = 1.05

return {
  reward = function(facts)
    if not facts.ok then return -1 end
    local eager, compile = facts.speedup.eager, facts.speedup.compile
    if not eager or eager.median < margin then return 1 end
    if not compile or compile.median < margin then return 2 end
    return 3
  end,
}

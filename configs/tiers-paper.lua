-- The four tiers of "CUDA Agent" (arXiv 2602.24286, section on rewards): wrong, correct, at
-- least 5% faster than eager, at least 5% faster than both eager and torch.compile. A
-- speed-up counts only where its interval excludes a tie: noise is no tier.

local margin = require "cawb.base.stats".margin

local function beats(speedup) return speedup and speedup.median >= 1 + margin and speedup.lo > 1 end

return {
  reward = function(facts)
    if not facts.ok then return -1 end
    if not beats(facts.speedup.eager) then return 1 end
    return beats(facts.speedup.compile) and 3 or 2
  end,
}

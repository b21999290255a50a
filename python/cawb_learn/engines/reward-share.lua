-- The reward of trl_tiny.py: how fast a right candidate is beside eager PyTorch, as a share up to 1.5; a wrong one gets -1. Small
-- tasks last as long as a launch does, where tiers and logarithms hardly tell kernels apart.

return {
  reward = function(facts)
    if not facts.ok then return -1 end
    return math.min(1.5, facts.speedup.eager.median)
  end,
}

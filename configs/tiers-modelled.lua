-- The tiers for a simulated device, where PyTorch's modelled times are roofs: each tensor moved once, at the full bandwidth. No
-- kernel is faster than that, so the tiers ask how near one comes: -1 wrong; 1 right; 2 within a quarter of eager's roof; 3 within 5%
-- of the roofs of both eager and torch.compile.

local function reaches(speedup, share) return speedup and speedup.median >= share end

return {
  reward = function(facts)
    if not facts.ok then return -1 end
    if reaches(facts.speedup.eager, 0.95) and reaches(facts.speedup.compile, 0.95) then return 3 end
    return reaches(facts.speedup.eager, 0.75) and 2 or 1
  end,
}

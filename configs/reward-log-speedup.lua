-- A continuous reward: the natural logarithm of the speed-up against the faster of
-- eager and torch.compile, at the lower end of its interval, so that noise pays
-- nothing. 0 is a tie; wrong candidates get -1, slow ones no less than that.

return {
  reward = function(facts)
    if not facts.ok then return -1 end
    local least
    for _, speedup in pairs(facts.speedup) do
      if not least or speedup.lo < least then least = speedup.lo end
    end
    return least and math.max(-1, math.log(least)) or 0
  end,
}

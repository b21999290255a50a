--- Samples that fall into two groups: the same work took twice as long, for some of the calls.
return {
  stage = "timing", severity = "flag",
  options = { ratio = 2.0, share = 0.1 },
  check = function(facts, options)
    local samples = facts.timing and facts.timing.samples or {}
    if #samples < 10 then return nil end
    table.sort(samples)
    local low = samples[1 + math.floor(options.share * #samples)]
    local high = samples[#samples - math.floor(options.share * #samples)]
    if not (high > options.ratio * low) then return nil end
    return { reason = ("samples from %.3g to %.3g us"):format(low * 1e6, high * 1e6), evidence = { low = low, high = high } }
  end,
}

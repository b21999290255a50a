--- Times below what the device can do at all: faster than its memory can deliver the inputs,
--- or than its arithmetic can make the products at the precision in use.
return {
  stage = "plausibility", severity = "reject",
  options = { slack = 0.03 },              -- ceilings are measured this well
  check = function(facts, options)
    local floor, time = facts.floor, facts.timing and facts.timing.time_s
    if not floor or not time then return nil end
    if time.median >= floor.seconds * (1 - options.slack) then return nil end
    return { reason = ("%.3g us is faster than the device: %.3g us are needed for memory, %.3g us for arithmetic (%s), "
      .. "%.3g us for a launch"):format(time.median * 1e6, floor.memory * 1e6, floor.compute * 1e6,
      tostring(floor.precision), floor.launch * 1e6), evidence = floor }
  end,
}

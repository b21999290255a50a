--- Times so near to the device's ceilings that they are looked at again: in a fresh worker,
--- on fresh inputs. A modelled time is made of these ceilings: that it is near says nothing.
return {
  stage = "plausibility", severity = "flag",
  options = { within = 0.15 },
  check = function(facts, options)
    local floor, time = facts.floor, facts.timing and facts.timing.time_s
    if not floor or not time or not (floor.seconds > 0) then return nil end
    if floor.source == "modelled" then return nil end
    local ratio = time.median / floor.seconds
    if ratio >= 1 + options.within then return nil end
    return { reason = ("%.0f%% of the least possible time: measured again"):format(100 * ratio),
      evidence = { ratio = ratio, floor = floor, audit = true } }
  end,
}

--- Results that differ from run to run on the same inputs: sums whose order is left to chance,
--- or a race that was not seen.
return {
  stage = "verify", severity = "flag",
  check = function(facts)
    if not facts.verify or facts.verify.repeatable ~= false then return nil end
    return { reason = "two runs on the same inputs differ in some bit" }
  end,
}

--- Sums by atomics on floating-point numbers: their order changes from run to run, and with
--- it the last digits.
return {
  stage = "compiled", severity = "flag",
  check = function(facts)
    for what, n in pairs(facts.compiled and facts.compiled.total.atomics or {}) do
      if what:find "%.add%.b?f%d" then
        return { reason = ("%d floating-point atomic additions: results differ from run to run in the last digits")
          :format(n), evidence = { [what] = n } }
      end
    end
  end,
}

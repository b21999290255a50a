--- Compile options that change what float32 means: small numbers become zero, divisions and
--- roots lose digits, everywhere and unseen in the source.
return {
  stage = "compiled", severity = "reject",
  options = { forbidden = { "use_fast_math", "ftz=true", "prec-div=false", "prec-sqrt=false" } },
  check = function(facts, options)
    for _, given in ipairs(facts.compiled and facts.compiled.options or {}) do
      for _, bad in ipairs(options.forbidden) do
        if given:gsub("^%-+", "") == bad then
          return { reason = ("the compile option %s weakens float32 arithmetic everywhere; use intrinsics such as "
            .. "__expf where they are good enough"):format(given), evidence = { option = given } }
        end
      end
    end
  end,
}

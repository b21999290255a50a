--- Hints that keep data in L2 across the flush between two timed calls. A policy that was
--- made in the same module without evict_last is fine; one that is a bare number is not seen
--- through, and taken for what it hides.
return {
  stage = "compiled", severity = "reject",
  options = { forbidden = { "L2::evict_last", "L2::evict_unchanged", "applypriority" } },
  check = function(facts, options)
    local cache = facts.compiled and facts.compiled.total.cache or {}
    for _, hint in ipairs(options.forbidden) do
      if cache[hint] then
        return { reason = ("it asks the L2 cache to keep data (%s, %d times), which then survives the flush "
          .. "between timed calls"):format(hint, cache[hint]), evidence = cache }
      end
    end
    if cache["L2::cache_hint"] and not cache.createpolicy then
      return { reason = "it passes a cache policy that is a bare number (L2::cache_hint without createpolicy): "
        .. "make it with createpolicy, so that one can see what it is", evidence = cache }
    end
  end,
}

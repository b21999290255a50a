--- A Python candidate that writes to what others tell time, or equality, with: time.*, torch.cuda.Event,
--- torch.cuda.synchronize, torch.allclose. The judge's clock is another process, so nothing is gained; it says what was tried.
return {
  stage = "python", severity = "flag",
  options = { patterns = { "^time%.", "^timeit%.", "^torch%.cuda%.", "^torch%.allclose$", "^torch%.equal$", "^torch%.testing%.",
                           "^torch%.utils%.benchmark", "^triton%.testing" } },
  check = function(facts, options)
    local census = facts.python.census
    for _, name in ipairs(census.assigned or {}) do
      for _, pattern in ipairs(options.patterns) do
        if name:find(pattern) then
          return { reason = ("it replaces %s, which others measure or compare with"):format(name), evidence = { name = name } }
        end
      end
    end
    -- setattr(torch.cuda.Event, "elapsed_time", ...): the name of what is written to is an argument
    local text = facts.python.text
    for _, owner in ipairs { "time", "torch%.cuda", "torch%.cuda%.Event", "torch" } do
      local name = text:match("setattr%(%s*(" .. owner .. ")%s*,")
      if name then return { reason = ("it writes to %s by setattr"):format(name), evidence = { name = name } } end
    end
  end,
}

--- Text that speaks to a reviewer, human or model, rather than of the code.
return {
  stage = "source", severity = "reject",
  options = { phrases = { "ignore [%w%s]-instructions", "ignore [%w%s]-rules", "mark this [%w%s]-correct",
                          "this [%w%s]-has been verified", "reviewer[%s,:]", "grader[%s,:]",
                          "you are an? [%w%s]-judge", "output pass", "return pass" } },
  check = function(facts, options)
    local text = (facts.source.text .. "\n" .. facts.source.plan):lower()
    for _, phrase in ipairs(options.phrases) do
      local found = text:match(phrase)
      if found then
        return { reason = ("it speaks to its judge: '%s'"):format(found:gsub("%s+", " ")), evidence = { text = found } }
      end
    end
  end,
}

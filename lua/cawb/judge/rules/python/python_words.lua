--- Words in a Python candidate's text, as static checkers look for them. Comments are cut off
--- where such a checker cuts them: at the first # or // of a line, strings or not.
return {
  stage = "python", severity = "reject",
  options = { words = {}, needed = {} },
  check = function(facts, options)
    local text = facts.python.text:gsub("#[^\n]*", ""):gsub("//[^\n]*", "")
    for _, pattern in ipairs(options.words) do
      local found = text:match(pattern)
      if found then return { reason = ("its source holds '%s'"):format(found), evidence = { pattern = pattern } } end
    end
    for _, pattern in ipairs(options.needed) do
      if not text:find(pattern) then return { reason = ("its source has no '%s'"):format(pattern) } end
    end
  end,
}

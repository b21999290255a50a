--- Words in the source's text, as static checkers look for them. Comments are cut off where
--- such a checker would cut them: at the first // of a line, strings or not.
return {
  stage = "source", severity = "reject",
  options = { words = {}, needed = {}, bare = false },
  check = function(facts, options)
    local text = options.bare and facts.source.code or facts.source.text:gsub("//[^\n]*", ""):gsub("/%*.-%*/", "")
    for _, pattern in ipairs(options.words) do
      local found = text:match(pattern)
      if found then return { reason = ("its source holds '%s'"):format(found), evidence = { pattern = pattern } } end
    end
    for _, pattern in ipairs(options.needed) do
      if not text:find(pattern) then return { reason = ("its source has no '%s'"):format(pattern) } end
    end
  end,
}

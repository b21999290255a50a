--- A Python candidate that starts threads or processes: they stand still between its calls, and their processor time is its own.
--- Said, not forbidden: a build starts some.
return {
  stage = "python", severity = "flag",
  options = { patterns = { "^threading%.Thread$", "^threading%.Timer$", "^_thread%.start", "^concurrent%.futures%.", "^multiprocessing%.",
                           "^torch%.multiprocessing%.", "^subprocess%.", "^os%.fork", "^os%.posix_spawn", "^os%.system$", "^os%.popen$" },
              words = { "std::thread", "std::async", "pthread_create" } },
  check = function(facts, options)
    local census = facts.python.census
    for _, list in ipairs { census.calls or {}, census.early or {}, census.uses or {} } do
      for _, name in ipairs(list) do
        for _, pattern in ipairs(options.patterns) do
          if name:find(pattern) then
            return { reason = ("it starts threads or processes: %s"):format(name), evidence = { name = name } }
          end
        end
      end
    end
    for _, word in ipairs(options.words) do
      if facts.python.text:find(word, 1, true) then
        return { reason = ("it starts threads: its text has %s"):format(word), evidence = { name = word } }
      end
    end
  end,
}

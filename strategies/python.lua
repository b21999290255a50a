-- python: score one Python file, a solution in KernelBench's form, with the class
-- ModelNew: --set settings.file=solution.py. On cuda:N, or on --device cpu.

local cawb = require "cawb"

return {
  proposes = "python",
  settings = { file = "" },
  step = function(run, s)
    if s.file == "" then return run:give_up "name the file: --set settings.file=solution.py" end
    local candidate, message = cawb.candidate(s.file)
    if not candidate then return run:give_up(message) end
    run:evaluate(candidate)
    return false
  end,
}

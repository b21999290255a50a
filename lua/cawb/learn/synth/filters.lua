-- filters: what a drawn task has to be, in the order in which they are asked, cheap ones first. A name
-- is the status of a draw's row, and a line of the table of rejections.

local M = {}

--- Name and meaning of each, in order.
M.order = {
  { "draw", "no composition came of so many steps drawn" },
  { "form", "the model's reply is no task file with a batch_size" },
  { "sketch", "shapes do not go together, or follow from data" },
  { "time", "modelled eager time outside of what is asked for" },
  { "duplicate", "the operator graph of an earlier task of the set" },
  { "benchmark", "the operator graph of a task of the benchmark" },
  { "similar", "the syntax tree is too similar to one of the benchmark" },
  { "eager", "does not run in eager PyTorch" },
  { "finite", "an output that is not finite" },
  { "deterministic", "two runs differ" },
  { "large", "an output beyond the largest magnitude" },
  { "constant", "an output that hardly varies" },
  { "independent", "outputs that other inputs hardly change" },
  { "idle", "an operator without which the output is the same" },
  { "compile", "torch.compile does not capture it whole, or disagrees" },
  { "admission", "a mutant of the reference passes, or the reference does not" },
  { "crashed", "the task host ended, or took too long" },
}

local function number(value) return tonumber(value) or math.huge end

--- The first filter that facts of the host's examination do not pass, and why; nil where they pass all.
function M.of_facts(facts, how)
  if facts.failed == "eager" then return "eager", facts.why end
  if facts.outputs == 0 then return "eager", "no floating-point output" end
  if not facts.finite then return "finite" end
  if not facts.deterministic then return "deterministic" end
  if not (number(facts.largest) <= how.largest) then return "large", ("%.3g"):format(number(facts.largest)) end
  if not (number(facts.spread) >= how.spread) then return "constant", ("a spread of %.2g"):format(number(facts.spread)) end
  if not (facts.depends >= how.depends) then return "independent", ("%.2g of the elements differ"):format(facts.depends) end
  if not ((facts.idle or 0) >= how.idle) then return "idle", facts.idle_call end
  if facts.failed then return facts.failed, facts.why end
  if not (number(facts.compiled) <= how.compiled) then
    return "compile", ("it differs from eager by %.2g"):format(number(facts.compiled))
  end
end

return M

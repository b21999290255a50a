-- traits: what an operator of a graph is known to be. The task host sends them with each entry;
-- python/cawb_host/torch/operators.py says what they mean, and is the only list of operators.

local M = {}

--- A trait of an operator, as it was sent: true, a word, a number or a list; nil where it has not got it.
function M.of(op, trait) return op.traits and op.traits[trait] end

--- Whether a trait that lists operands has this one.
function M.lists(op, trait, input)
  for _, arg in ipairs(M.of(op, trait) or {}) do
    if arg == input.arg then return true end
  end
  return false
end

--- Whether an operator may leave a part of this operand unread. One that the table lacks may.
function M.picks(op, input)
  return M.lists(op, "picks", input) or M.of(op, "unknown") ~= nil
end

--- Whether an operator's result is linear in this operand, the others given: what is written to a
--- part of a tensor leaves the rest as it was. One that the table lacks may be.
function M.is_linear(op, input)
  return M.lists(op, "linear", input) or M.lists(op, "factors", input) or M.lists(op, "scales", input)
    or M.of(op, "partial") ~= nil or M.of(op, "unknown") ~= nil
end

return M

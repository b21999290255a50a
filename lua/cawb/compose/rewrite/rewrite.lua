-- rewrite: the same function with less work, exact in real arithmetic. A rule is a file of this folder. It has `says`, its effect in
-- words, and apply(graph, node), which returns the node that replaces the given one, or nil. Rules look at shapes and operators,
-- never at values.

local converted = require "cawb.compose.rewrite.converted"
local one_factor = require "cawb.compose.rewrite.one_factor"
local quantised = require "cawb.compose.rewrite.quantised"

local M = {}

local RULES = { "single_element", "sum_before_product", "product_slice", "diagonal", "mean_of_norm",
                "cancelled_shift", "folded_batch_norm", "scaled_factor", "longer_product",
                "exclusive_scan" }       -- in this order
local MOST = 1000                    -- steps in one graph

local rules = {}
for k, name in ipairs(RULES) do
  local rule = require("cawb.compose.rewrite." .. name)
  rules[k] = { name = name, asked = name .. " asked", rule = rule }
end

local function replace(g, x, y)
  for _, user in ipairs(x.users) do
    for k, input in ipairs(user.inputs) do
      if input == x then user.inputs[k] = y end
    end
  end
  for k, output in ipairs(g.outputs) do
    if output == x then g.outputs[k] = y end
  end
end

-- Counts a match; whether it is a step.
local function is_taken(state)
  state.matched = state.matched + 1
  return not state.skip[state.matched]
end

local function step_of(name, rule, x) return { rule = name, says = rule.says, from = x.from } end

-- Applies the first rule to one node; nil if none matches.
local function rewritten(g, state, x)
  g.from = x.from
  for _, one in ipairs(rules) do
    local y = not x[one.asked] and one.rule.apply(g, x)
    if y and is_taken(state) then
      replace(g, x, y)
      return step_of(one.name, one.rule, x)
    end
    x[one.asked] = x[one.asked] or y and true
  end
end

-- Applies the first rule that matches anywhere; nil if none does. Readers come before the nodes that they read. Nodes where no rule matched
-- since `refused` was empty are left out.
local function step(g, state)
  g.shown, g.fixed, g.counted = {}, {}, nil
  for _, x in ipairs(g.outputs) do g.shown[x] = true end
  for k = #g.nodes, 1, -1 do
    local x = g.nodes[k]
    local found = not state.refused[x] and rewritten(g, state, x)
    if found then return found end
    state.refused[x] = true
  end
end

-- Behind the rules: groups of products, each a step.
local function join(g, state, steps)
  for _, group in ipairs(one_factor.groups(g)) do
    if is_taken(state) then
      g.from = group[1].from
      for k, y in ipairs(one_factor.joined(g, group)) do replace(g, group[k], y) end
      steps[#steps + 1] = step_of("one_factor", one_factor, group[1])
    end
  end
end

-- Behind the rules as well: products of numbers of 8 or 16 bits.
local function narrow(g, state, steps, name, rule, serves)
  for _, x in ipairs { table.unpack(g.nodes) } do
    g.from = x.from
    local y = rule.apply(g, x, serves)
    if y and is_taken(state) then
      replace(g, x, y)
      steps[#steps + 1] = step_of(name, rule, x)
    end
  end
  g:clean()
end

--- Rewrites a graph. `skip` is a set of numbers: the rewrites to skip, in the order in which they match. Returns the steps in order,
--- { rule, says, from = the operator that was rewritten }; `matched` counts all matches, with those skipped. `serves`: as quantised.lua has it; without
--- it that rule is left out.
function M.apply(g, skip, serves)
  local steps, state = {}, { matched = 0, skip = skip or {} }
  repeat                             -- a step may let a rule match where it did not before
    local before = #steps
    state.refused = {}
    repeat
      g:clean()
      local found = step(g, state)
      steps[#steps + 1] = found
    until not found or #steps == MOST
  until #steps == before or #steps == MOST
  g:clean()                          -- nobody has read the last step's nodes yet
  if serves then narrow(g, state, steps, "quantised", quantised, serves) end
  narrow(g, state, steps, "converted", converted)
  join(g, state, steps)
  steps.matched = state.matched
  g.from = nil
  g:clean()
  return steps
end

return M

-- prices: what a million tokens cost, in dollars, by the beginning of a model's name; the
-- longest that fits counts. They are list prices that providers change: look them up, and
-- put your own under the option model.price. `input` is fresh, `cached` read from the
-- endpoint's cache, `written` put into it.

local M = {}

M.list = {
  ["claude-3-5-haiku"]  = { input = 0.80, cached = 0.08, written = 1.00, output = 4.00 },
  ["claude-haiku-4-5"]  = { input = 1.00, cached = 0.10, written = 1.25, output = 5.00 },
  ["claude-sonnet-4"]   = { input = 3.00, cached = 0.30, written = 3.75, output = 15.00 },
  ["claude-opus-4"]     = { input = 15.00, cached = 1.50, written = 18.75, output = 75.00 },
  ["claude-opus-4-5"]   = { input = 5.00, cached = 0.50, written = 6.25, output = 25.00 },
  ["gpt-4o"]            = { input = 2.50, cached = 1.25, output = 10.00 },
  ["gpt-4o-mini"]       = { input = 0.15, cached = 0.075, output = 0.60 },
  ["gpt-4.1"]           = { input = 2.00, cached = 0.50, output = 8.00 },
  ["gpt-4.1-mini"]      = { input = 0.40, cached = 0.10, output = 1.60 },
  ["gpt-5"]             = { input = 1.25, cached = 0.125, output = 10.00 },
  ["gpt-5-mini"]        = { input = 0.25, cached = 0.025, output = 2.00 },
  ["deepseek-chat"]     = { input = 0.27, cached = 0.07, output = 1.10 },
}

--- The prices of a model, or nil: a model on one's own machine has none.
function M.of(model)
  if next(model.price or {}) then return model.price end
  local best
  for prefix in pairs(M.list) do
    if model.name:sub(1, #prefix) == prefix and (not best or #prefix > #best) then best = prefix end
  end
  return best and M.list[best]
end

--- Dollars for a reply's usage, or nil where the price is not known.
function M.cost(model, usage)
  local p = M.of(model)
  if not p then return nil end
  local fresh = usage.input - usage.cached - usage.written
  return (fresh * (p.input or 0) + usage.cached * (p.cached or p.input or 0)
    + usage.written * (p.written or p.input or 0) + usage.output * (p.output or 0)) / 1e6
end

return M

-- afford: how long a reply a run can still pay for. What a request costs is known after it; so
-- that no budget is overshot, its text is counted as dear as text can be, and the reply may be no
-- longer than what is left pays for.

local core = require "cawb.core"
local prices = require "cawb.agent.prices"

local M = {}

-- Tokens of a byte of text at most, with a margin: English and code have 0.2 to 0.35, scripts of
-- three bytes a character up to 0.5. A message's frame and a tool's take some more.
local frame = 16
M.per_byte = 0.5

local function bytes_of(messages, tools)
  local bytes = 0
  for _, m in ipairs(messages) do
    bytes = bytes + #(m.text or "")
    for _, call in ipairs(m.calls or {}) do bytes = bytes + #(call.raw or "") end
  end
  for _, tool in ipairs(tools or {}) do
    bytes = bytes + #tool.name + #(tool.description or "") + #core.json.encode(tool.parameters or {})
  end
  return bytes
end

--- Tokens that a request has at most; `per_byte` is what this endpoint was seen to count, if more.
function M.tokens_of(messages, tools, per_byte)
  local most = math.max(M.per_byte, per_byte or 0)
  return math.ceil(bytes_of(messages, tools) * most) + frame * (#messages + #(tools or {}))
end

--- Tokens of a byte that an endpoint counted.
function M.seen(messages, tools, usage) return usage.input / math.max(1, bytes_of(messages, tools)) end

-- Tokens that `dollars` pay for beyond a request's own.
local function bought(model, input, dollars)
  local p = prices.of(model)
  if not p then return 0 end
  local each = math.max(p.input or 0, p.written or 0)
  if (p.output or 0) <= 0 then return dollars * 1e6 >= input * each and math.huge or 0 end
  return (dollars * 1e6 - input * each) / p.output
end

--- The most tokens that the reply to a request of `input` tokens may have, where `left` = { tokens =,
--- dollars = } is left of what is limited; nil where nothing is. Or false, and the means that is short.
function M.reply(model, input, left)
  local most, short = math.huge, nil
  local function cut(n, means)
    if n < most then most, short = n, means end
  end
  if left.tokens then cut(left.tokens - input, "tokens") end
  if left.dollars then cut(bought(model, input, left.dollars), "dollars") end
  if most < 1 then return false, short end
  return most < math.huge and math.floor(most) or nil
end

--- Why a budget in dollars cannot be kept, or nil: nobody knows what the model costs.
function M.unknown_price(model, dollars)
  if dollars <= 0 or model.name == "" or prices.of(model) then return nil end
  return ("budget.dollars is set, but the price of '%s' is not known: set model.price.input and "
    .. "model.price.output, dollars for a million tokens"):format(model.name)
end

return M

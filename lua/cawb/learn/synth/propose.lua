-- propose: tasks that a model composes. It is given drawn seeds; what it writes goes through the same filters and is
-- counted in a column of its own.

local ask = require "cawb.agent.ask"
local cassette = require "cawb.agent.cassette"
local core = require "cawb.core"
local file = require "cawb.base.file"

local M = {}

-- The last block fenced as python, or nil.
local function block(text)
  local found
  for code in text:gmatch "```python%s*\n(.-)\n%s*```" do found = code .. "\n" end
  return found
end

-- Operators that a text calls, of nn, torch and F, in the order in which they come.
local function operators(code)
  local list, seen = {}, {}
  for module, name in code:gmatch "%f[%w_](%a+)%.([%a_][%w_]*)%s*%(" do
    local op = module .. "." .. name
    local counts = module == "nn" and name ~= "Module" and name ~= "Parameter" or module == "F"
      or module == "torch" and not name:match "^rand"
    if counts and not seen[op] then list[#list + 1], seen[op] = op, true end
  end
  return list
end

--- A reply as make.lua takes it: { code = with BATCH in place of the batch, ops, source, generator }, or { status = "form",
--- reason =, generator = }.
function M.read(text, model)
  local generator = "llm " .. model
  local code = block(text)
  if not code then return { status = "form", reason = "no block fenced as python", generator = generator } end
  local sized, n = ("\n" .. code):gsub("\nbatch_size%s*=%s*%d+", "\nbatch_size = BATCH", 1)
  if n == 0 then return { status = "form", reason = "no line 'batch_size = NUMBER'", generator = generator } end
  local ops = operators(code)
  return { code = sized:sub(2), ops = ops, source = ("llm#%d"):format(#ops), generator = generator }
end

local function tapes(options)
  local c, opened, message, name = options.cassette, {}, nil, nil
  if c.replay ~= "" then
    opened.replay, message, name = cassette.replay(c.replay, { by = c.by, latency = c.latency })
    if not opened.replay then return nil, message, name end
  end
  if c.record ~= "" then
    opened.record, message, name = cassette.record(c.record)
    if not opened.record then return nil, message, name end
  end
  return opened
end

--- What makes a proposal: function(maker, number), for maker.new; or nil, message, name.
function M.new(options)
  local opened, message, name = tapes(options)
  if not opened then return nil, message, name end
  local prompt
  prompt, message, name = file.read(core.home .. "/prompts/synth.md")
  if not prompt then return nil, message, name end
  return function(maker, number)
    local drawn, why, kind = maker:ask { op = "synth_names", seed = maker:number_of(number, "names"), shares = maker.how.shares,
      without = maker.how.without,
      count = maker.how.prompt }
    if not drawn then return nil, why, kind end
    local reply
    reply, why, kind = ask.ask(options.model, { { role = "system", text = prompt },
      { role = "user", text = "Operators: " .. table.concat(drawn.names, ", ") } }, { replay = opened.replay, record = opened.record })
    if not reply then return nil, "the model gave no reply: " .. why, kind == "interrupted" and kind or "missing" end
    return M.read(reply.text, options.model.name)
  end
end

return M

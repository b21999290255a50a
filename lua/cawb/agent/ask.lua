-- ask: a question to a language model. Messages are neutral tables, the same for every
-- protocol:
--   { role = "system" or "user", text = }
--   { role = "assistant", text =, calls = { { id =, name =, arguments = } } }  a reply's `message`
--   { role = "tool", id = the call's, name =, text =, failed = }
-- Tools are { name =, description =, parameters = { { name, type, description, optional = } }
-- or a JSON schema }.

local core = require "cawb.core"
local display = require "cawb.base.display"
local exchange = require "cawb.agent.ask.exchange"
local loop = require "cawb.base.loop"
local options = require "cawb.base.options"
local outcome = require "cawb.agent.ask.outcome"
local plain = require "cawb.agent.ask.plain"
local prices = require "cawb.agent.prices"

local M = {}

local protocols = { openai = require "cawb.agent.ask.openai", anthropic = require "cawb.agent.ask.anthropic" }

--- A model's settings over the defaults. Raises on what is unknown or out of range.
function M.model(given)
  if type(given) ~= "table" then error("ask: a model is a table such as { name =, url = }", 3) end
  local all = { model = options.copy(require("cawb.base.defaults").model) }
  local ok, message = options.overlay(all, { model = given }, "ask")
  if not ok then error(message, 3) end
  return all.model
end

local function is_local(url)
  local host = url:match "^%a+://%[?([^/%]]+)"
  host = host and host:gsub(":%d+$", "")
  return host == "localhost" or host == "::1" or (host or ""):match "^127%." ~= nil
end

-- Where the key is: { env = } or { file = }, false for none, or nil, message, name.
local function key_of(model, protocol)
  if model.key_file ~= "" then return { file = model.key_file } end
  local env = model.key_env ~= "" and model.key_env or protocol.key_env
  local has, message, name = core.http.has_key { env = env }
  if has then return { env = env } end
  if model.key_env == "" and is_local(model.url) then return false end
  return nil, message, name
end

-- The header with the key, or nothing where none is needed; or nil, message, name.
local function auth_of(model, protocol)
  local key, message, name = key_of(model, protocol)
  if key == nil then return nil, message, name end
  if not key then return false end
  if model.url:match "^http://" and not is_local(model.url) and not model.insecure then
    return nil, ("%s: a key would travel in the clear; use https://, or set model.insecure"):format(model.url), "insecure"
  end
  return protocol.auth(key)
end

local function headers_of(model, protocol)
  local list = { "content-type: application/json", "accept: " .. (model.stream and "text/event-stream, application/json"
    or "application/json"), "user-agent: cawb/" .. core.version }
  for _, header in ipairs(protocol.headers()) do list[#list + 1] = header end
  for key, value in pairs(model.extra_headers) do list[#list + 1] = ("%s: %s"):format(key, value) end
  return list
end

-- The model's settings, with replies of at most `most` tokens.
local function shortened(model, most)
  if not most or model.max_tokens > 0 and model.max_tokens <= most then return model end
  return setmetatable({ max_tokens = most }, { __index = model })
end

-- The request as it travels, or nil, message, name.
local function request_of(model, messages, tools, most)
  local protocol = protocols[model.protocol]
  if model.name == "" then return nil, "no model is named: set model.name (--set model.name=...)", "invalid" end
  local auth, message, name = auth_of(model, protocol)
  if auth == nil then return nil, message, name end
  local body = protocol.body(shortened(model, most), messages, tools)
  for key, value in pairs(model.sampling) do body[key] = value end
  return { url = model.url:gsub("/+$", "") .. protocol.path, headers = headers_of(model, protocol),
           body = core.json.encode(body), auth = auth or nil }
end

local function cleaned(messages)
  local out = {}
  for i, m in ipairs(messages) do
    out[i] = setmetatable({ text = display.utf8(m.text or "") }, { __index = m })
  end
  return out
end

-- Tokens of an endpoint that does not count: four bytes each.
local function estimate(messages, reply)
  local bytes = 0
  for _, m in ipairs(messages) do bytes = bytes + #m.text end
  local said = #reply.text + #reply.reasoning
  for _, c in ipairs(reply.calls) do said = said + #c.raw end
  return { input = bytes // 4 + 1, output = said // 4 + 1, cached = 0, written = 0, reasoning = 0, estimated = true }
end

-- What a reply lacks to be one.
local function check(reply)
  if reply.text:match "^%s*$" and #reply.calls == 0 then
    if reply.stop == "filter" then return nil, "the endpoint refused to answer", "filtered" end
    return nil, reply.stop == "length" and "the reply reached model.max_tokens before it said anything"
      or "a reply with nothing in it", "empty"
  end
  return reply
end

local months = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12 }

-- Seconds from now that a Retry-After names, in seconds or as a date; or nil.
function M.retry_after(value)
  if not value then return nil end
  local seconds = tonumber(value)
  if seconds then return seconds >= 0 and seconds < math.huge and seconds or nil end
  local day, month, year, h, m, s = value:match "(%d+) (%a+) (%d+) (%d+):(%d+):(%d+) GMT"
  if not day or not months[month] then return nil end
  local here = os.time { year = tonumber(year), month = months[month], day = tonumber(day), hour = tonumber(h),
                         min = tonumber(m), sec = tonumber(s), isdst = false }
  local now = core.clock.wall()
  local zone = os.time(os.date("!*t", math.floor(now))) - math.floor(now)   -- os.time takes local time
  return math.max(0, here - zone - now)
end

-- How long to wait before attempt n + 1; nil and why where that is too long.
local function pause(model, n, about)
  local told = M.retry_after(about and about.retry_after)
  if told and told > model.backoff_most then
    return nil, ("; it wants to be left alone for %.0f s, more than model.backoff_most"):format(told)
  end
  local share = 0.5 + core.clock.random(1):byte() / 512          -- so that 64 do not come back at once
  return told or math.min(model.backoff_most, model.backoff * 2.0 ^ (n - 1)) * share
end

local function over_the_wire(model, messages, opts)
  local tools = #(opts.tools or {}) > 0 and opts.tools or nil
  local as_text = tools and model.tools == "text"
  local sent = as_text and plain.messages(messages, tools) or messages
  local request, message, name = request_of(model, sent, not as_text and tools or nil, opts.most)
  if not request then return nil, message, name end
  local attempts = 0
  while true do
    attempts = attempts + 1
    local about, reply
    reply, message, name, about = exchange.perform(model, protocols[model.protocol], request, opts.deadline)
    if reply then
      if as_text then reply.written, reply.calls, reply.text = reply.text, plain.parse(reply.text, tools) end
      reply, message, name = check(reply)
    end
    if reply then
      reply.attempts, reply.usage = attempts, reply.usage or estimate(sent, reply)
      return reply
    end
    about, message = about or {}, outcome.about(message, name, model.url)
    about.attempts = attempts
    if attempts > model.retries or not outcome.may_pass(name) then return nil, message, name, about end
    local seconds, why = pause(model, attempts, about)
    if not seconds then return nil, message .. why, name, about end
    if opts.deadline and core.clock.now() + seconds >= opts.deadline then return nil, message, name, about end
    if opts.say then opts.say(("%s; again in %.3g s"):format(message, seconds), name) end
    local ok, stop, kind = loop.sleep(seconds)
    if not ok then return nil, stop, kind, about end
  end
end

local known = { tools = true, deadline = true, record = true, replay = true, say = true, most = true }

local function check_messages(messages)
  if type(messages) ~= "table" or #messages == 0 then error("ask: messages are a list of { role =, text = }", 3) end
  for i, m in ipairs(messages) do
    if type(m) ~= "table" or type(m.role) ~= "string" or type(m.text) ~= "string" then
      error(("ask: message %d needs a role and a text"):format(i), 3)
    end
  end
end

--- Ask a model. `model`: settings over the option `model`; `opts`: { tools =, deadline = of
--- core.clock.now, record =, replay = cassettes, most = tokens that the reply may have beside
--- model.max_tokens, say = function(text) called before each retry }. Returns the reply: { text =, calls = { { id =, name =, arguments =, or bad = why } },
--- reasoning =, stop = "end", "tools", "length" or "filter", usage = { input, output, cached,
--- written, reasoning, estimated }, cost = dollars or nil, seconds =, first_token_s =, attempts =,
--- unknown = fields that are not known, logprobs =, message = to put behind the others };
--- or nil, message, one of the names in ask/outcome.lua, and { attempts =, status = }.
function M.ask(model, messages, opts)
  model, opts = M.model(model), opts or {}
  options.known(opts, known, "ask", 2)
  check_messages(messages)
  messages = cleaned(messages)
  local from, number = core.clock.now(), opts.record and opts.record:begin()
  local source = opts.replay and function(...) return opts.replay:play(...) end or over_the_wire
  local reply, message, name, about = source(model, messages, opts)
  if message then message = core.http.redact(message) end
  if opts.record then
    local ok, why, kind = opts.record:add(number, model, messages, opts.tools, reply or { error = { name = name, message = message } },
                                          core.clock.now() - from)
    if not ok then return nil, why, kind end
  end
  if not reply then return nil, message, name, about end
  reply.usage = reply.usage or estimate(messages, reply)
  reply.seconds, reply.cost = core.clock.now() - from, prices.cost(model, reply.usage)
  reply.message = { role = "assistant", text = reply.text, calls = reply.calls, blocks = reply.blocks,
                    written = reply.written }
  return reply
end

return M

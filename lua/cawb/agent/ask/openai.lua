-- openai: the chat completions protocol, as OpenAI, vLLM, llama.cpp, SGLang, Ollama and
-- most gateways speak it.

local core = require "cawb.core"
local outcome = require "cawb.agent.ask.outcome"
local schema = require "cawb.agent.ask.schema"

local M = { path = "/chat/completions", key_env = "OPENAI_API_KEY" }

local object, text, count = schema.object, schema.text, schema.count

local known = {
  choice = schema.set "index delta message finish_reason logprobs stop_reason token_ids matched_stop content_filter_results",
  delta = schema.set "role content reasoning_content reasoning refusal tool_calls function_call annotations audio provider_specific_fields thinking_blocks",
}

local stops = { stop = "end", length = "length", tool_calls = "tools", function_call = "tools",
                content_filter = "filter" }

function M.headers() return {} end
function M.auth(where) return { header = "authorization", prefix = "Bearer ", env = where.env, file = where.file } end

local function message(m)
  if m.role == "tool" then
    return { role = "tool", tool_call_id = m.id, content = m.text }
  end
  local out = { role = m.role, content = m.text }
  if m.role == "assistant" and m.calls and #m.calls > 0 then
    if m.text == "" then out.content = core.json.null end
    out.tool_calls = {}
    for i, c in ipairs(m.calls) do
      out.tool_calls[i] = { id = c.id, type = "function",
                            ["function"] = { name = c.name, arguments = c.bad and "{}" or c.raw } }
    end
  end
  return out
end

--- The body of a request.
function M.body(model, messages, tools)
  local body = { model = model.name, messages = {} }
  for i, m in ipairs(messages) do body.messages[i] = message(m) end
  if model.max_tokens > 0 then body.max_tokens = model.max_tokens end
  if model.stream then body.stream, body.stream_options = true, { include_usage = true } end
  if model.logprobs then body.logprobs = true end
  for i, tool in ipairs(tools or {}) do
    body.tools = body.tools or {}
    body.tools[i] = { type = "function", ["function"] = { name = tool.name,
      description = tool.description, parameters = schema.parameters(tool) } }
  end
  return body
end

local Reader = {}
Reader.__index = Reader

--- A reader of one reply: events or a whole body, then finish().
function M.reader()
  return setmetatable({ parts = {}, thoughts = {}, calls = {}, order = {}, unknown = {}, logprobs = {} }, Reader)
end

local function add_call(self, delta, position)
  local index = math.type(delta.index) == "integer" and delta.index or position - 1
  local call = self.calls[index]
  if not call then
    call = { name = "", raw = {} }
    self.calls[index] = call
    self.order[#self.order + 1] = call
  end
  local f = object(delta["function"])
  if text(delta.id) ~= "" then call.id = delta.id end
  if call.name == "" then call.name = text(f.name) end
  call.raw[#call.raw + 1] = type(f.arguments) == "table" and core.json.encode(f.arguments) or text(f.arguments)
end

local function take(self, d)
  schema.note_unknown(self.unknown, d, known.delta, "delta")
  self.parts[#self.parts + 1] = text(d.content)
  self.parts[#self.parts + 1] = text(d.refusal)
  local thought = text(d.reasoning_content)
  self.thoughts[#self.thoughts + 1] = thought ~= "" and thought or text(d.reasoning)
  self.said = self.said or self.parts[#self.parts - 1] ~= "" or self.parts[#self.parts] ~= ""
    or self.thoughts[#self.thoughts] ~= ""
  for position, call in ipairs(object(d.tool_calls)) do add_call(self, object(call), position) end
end

local function take_usage(self, u)
  if type(u) ~= "table" then return end
  self.usage = { input = count(u.prompt_tokens), output = count(u.completion_tokens),
    cached = count(object(u.prompt_tokens_details).cached_tokens), written = 0,
    reasoning = count(object(u.completion_tokens_details).reasoning_tokens) }
end

-- A chunk of a stream, or the whole reply: they differ in one name.
local function chunk(self, json, field)
  if json.error ~= nil then return nil, json.error end
  take_usage(self, json.usage)
  local choice = object(json.choices)[1]
  if choice == nil then return true end
  choice = object(choice)
  schema.note_unknown(self.unknown, choice, known.choice, "choice")
  take(self, object(choice[field]))
  for _, one in ipairs(object(object(choice.logprobs).content)) do
    self.logprobs[#self.logprobs + 1] = one.logprob
  end
  if type(choice.finish_reason) == "string" then self.stop = choice.finish_reason end
  return true
end

--- One event of a stream. Returns true, or nil and the error object that the endpoint
--- sent, or nil, a message and "malformed".
function Reader:event(e)
  if e.data == "[DONE]" then
    self.done = true
    return true
  end
  local json, why = core.json.decode(e.data)
  if type(json) ~= "table" then return nil, "an event that is no JSON object: " .. (why or e.data), "malformed" end
  return chunk(self, json, "delta")
end

--- The whole reply of a request that was not streamed, decoded.
function Reader:whole(json)
  if type(json.choices) ~= "table" and json.error == nil then
    return nil, "a reply without 'choices': " .. outcome.printable(core.json.encode(json)), "content_type"
  end
  self.done = true
  return chunk(self, json, "message")
end

--- Whether something that a person would read has come.
function Reader:begun()
  return #self.order > 0 or self.said == true
end

--- The reply, or nil where the stream ended before it.
function Reader:finish()
  if not (self.done or self.stop) then return nil end
  local calls = {}
  for i, c in ipairs(self.order) do
    calls[i] = schema.call(c.id or "call_" .. i, c.name, table.concat(c.raw))
  end
  return { text = table.concat(self.parts), reasoning = table.concat(self.thoughts), calls = calls,
    stop = #calls > 0 and self.stop ~= "length" and "tools" or stops[self.stop] or self.stop or "end",
    usage = self.usage, unknown = self.unknown, logprobs = #self.logprobs > 0 and self.logprobs or nil }
end

return M

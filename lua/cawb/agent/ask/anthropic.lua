-- anthropic: the messages protocol.

local core = require "cawb.core"
local outcome = require "cawb.agent.ask.outcome"
local schema = require "cawb.agent.ask.schema"

local M = { path = "/messages", key_env = "ANTHROPIC_API_KEY" }

local object, text, count = schema.object, schema.text, schema.count

local known = {
  block = schema.set "type text id name input thinking signature data citations cache_control caller",
  types = schema.set "text tool_use thinking redacted_thinking",
  events = schema.set "message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping error",
  deltas = schema.set "text_delta input_json_delta thinking_delta signature_delta citations_delta",
}

local stops = { end_turn = "end", stop_sequence = "end", max_tokens = "length", tool_use = "tools",
                refusal = "filter", pause_turn = "end", model_context_window_exceeded = "length" }

function M.headers() return { "anthropic-version: 2023-06-01" } end
function M.auth(where) return { header = "x-api-key", env = where.env, file = where.file } end

-- What the model itself sent goes back as it was: thinking is signed.
local function assistant(m)
  if m.blocks then return { role = "assistant", content = m.blocks } end
  local content = {}
  if m.text ~= "" then content[1] = { type = "text", text = m.text } end
  for _, c in ipairs(m.calls or {}) do
    content[#content + 1] = { type = "tool_use", id = c.id, name = c.name, input = c.arguments or {} }
  end
  return { role = "assistant", content = content }
end

local function block_of(m)
  if m.role == "tool" then
    return { type = "tool_result", tool_use_id = m.id, content = m.text, is_error = m.failed or nil }
  end
  return { type = "text", text = m.text }
end

-- Roles take turns: results and words that follow each other are one message.
local function convert(messages)
  local out, system = {}, {}
  for _, m in ipairs(messages) do
    if m.role == "system" then
      system[#system + 1] = m.text
    elseif m.role == "assistant" then
      out[#out + 1] = assistant(m)
    elseif #out > 0 and out[#out].role == "user" then
      table.insert(out[#out].content, block_of(m))
    else
      out[#out + 1] = { role = "user", content = { block_of(m) } }
    end
  end
  return out, table.concat(system, "\n\n")
end

local function mark_cached(body)
  local last = body.messages[#body.messages]
  local mark = { type = "ephemeral" }
  if body.system then body.system[1].cache_control = mark end
  if last and last.role == "user" then last.content[#last.content].cache_control = mark end
end

--- The body of a request.
function M.body(model, messages, tools)
  local system
  local body = { model = model.name, max_tokens = math.max(1, model.max_tokens) }
  body.messages, system = convert(messages)
  if system ~= "" then body.system = { { type = "text", text = system } } end
  if model.cache then mark_cached(body) end
  if model.stream then body.stream = true end
  for i, tool in ipairs(tools or {}) do
    body.tools = body.tools or {}
    body.tools[i] = { name = tool.name, description = tool.description, input_schema = schema.parameters(tool) }
  end
  return body
end

local Reader = {}
Reader.__index = Reader

function M.reader()
  return setmetatable({ blocks = {}, unknown = {}, used = {} }, Reader)
end

local function take_usage(self, u)
  for key, value in pairs(object(u)) do
    if math.type(value) == "integer" then self.used[key] = value end
  end
end

local function usage_of(u)
  if not next(u) then return nil end
  local cached, written = count(u.cache_read_input_tokens), count(u.cache_creation_input_tokens)
  return { input = count(u.input_tokens) + cached + written, cached = cached, written = written,
           output = count(u.output_tokens), reasoning = 0 }
end

local function new_block(self, b)
  b = object(b)
  schema.note_unknown(self.unknown, b, known.block, "block")
  if not known.types[b.type] then schema.note_unknown(self.unknown, { [text(b.type)] = 1 }, {}, "block type") end
  local input = type(b.input) == "table" and next(b.input) and core.json.encode(b.input) or ""
  return { type = b.type, id = text(b.id), name = text(b.name), text = { text(b.text) },
    thinking = { text(b.thinking) }, signature = { text(b.signature) }, raw = { input }, data = b.data }
end

local fields = { text_delta = { "text", "text" }, input_json_delta = { "raw", "partial_json" },
                 thinking_delta = { "thinking", "thinking" }, signature_delta = { "signature", "signature" } }

local handlers = {}

function handlers.message_start(self, json) take_usage(self, object(json.message).usage) end

function handlers.content_block_start(self, json)
  self.blocks[#self.blocks + 1] = new_block(self, json.content_block)
  self.blocks[#self.blocks].index = json.index
end

function handlers.content_block_delta(self, json)
  local block
  for _, b in ipairs(self.blocks) do if b.index == json.index then block = b end end
  local d = object(json.delta)
  local where = fields[d.type]
  if not known.deltas[d.type] then schema.note_unknown(self.unknown, { [text(d.type)] = 1 }, {}, "delta type") end
  if not block then return nil, "a delta for a block that has not begun", "malformed" end
  if where then table.insert(block[where[1]], text(d[where[2]])) end
end

function handlers.message_delta(self, json)
  take_usage(self, json.usage)
  local stop = object(json.delta).stop_reason
  if type(stop) == "string" then self.stop = stop end
end

function handlers.message_stop(self) self.done = true end
function handlers.error(_, json) return nil, json.error or "an error without a reason" end

--- As of the reader of openai.lua.
function Reader:event(e)
  local json, why = core.json.decode(e.data)
  if type(json) ~= "table" then return nil, "an event that is no JSON object: " .. (why or e.data), "malformed" end
  local kind = text(json.type)
  if not known.events[kind] then schema.note_unknown(self.unknown, { [kind] = 1 }, {}, "event") end
  local handler = handlers[kind]
  if not handler then return true end
  local _, wrong, name = handler(self, json)
  if wrong then return nil, wrong, name end
  return true
end

function Reader:whole(json)
  if json.type == "error" or json.error ~= nil then return nil, json.error or json end
  if type(json.content) ~= "table" then return nil, "a reply without 'content': " .. outcome.printable(core.json.encode(json)), "content_type" end
  for i, b in ipairs(json.content) do self.blocks[i] = new_block(self, b) end
  take_usage(self, json.usage)
  self.stop, self.done = json.stop_reason, true
  return true
end

function Reader:begun() return #self.blocks > 0 end

-- A block as the endpoint wants to have it back.
local function returned(b, call)
  if b.type == "text" then
    local words = table.concat(b.text)
    return words ~= "" and { type = "text", text = words } or nil
  elseif b.type == "tool_use" then
    return { type = "tool_use", id = b.id, name = b.name, input = call.arguments or {} }
  elseif b.type == "thinking" then
    return { type = "thinking", thinking = table.concat(b.thinking), signature = table.concat(b.signature) }
  elseif b.type == "redacted_thinking" then
    return { type = "redacted_thinking", data = b.data }
  end
end

function Reader:finish()
  if not (self.done or self.stop) then return nil end
  local words, thoughts, calls, blocks = {}, {}, {}, {}
  for _, b in ipairs(self.blocks) do
    local call
    if b.type == "text" then words[#words + 1] = table.concat(b.text)
    elseif b.type == "thinking" then thoughts[#thoughts + 1] = table.concat(b.thinking)
    elseif b.type == "tool_use" then
      call = schema.call(b.id, b.name, table.concat(b.raw))
      calls[#calls + 1] = call
    end
    blocks[#blocks + 1] = returned(b, call)
  end
  return { text = table.concat(words), reasoning = table.concat(thoughts), calls = calls,
    blocks = #blocks > 0 and blocks or nil, stop = stops[self.stop] or self.stop or "end",
    usage = usage_of(self.used), unknown = self.unknown }
end

return M

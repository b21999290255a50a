-- cassette: exchanges with a model as lines of JSON, recorded, and played in its place. The
-- first line says what the file is; each other one is an exchange:
--   { "n": number of the question, "hash": of the request, "from": n, "messages": [those behind the first n of the
--     exchange before], "reply": { "text":, "calls":, ... } or "error": { "name":, "message": },
--     "seconds":, "first_token_s": }
-- Of one written by hand only "reply" is needed. Keys are not in requests; should one be in
-- a text, it is replaced.

local core = require "cawb.core"
local loop = require "cawb.base.loop"
local schema = require "cawb.agent.ask.schema"

local M = {}

local Cassette = {}
Cassette.__index = Cassette

-- A message as plain data.
local function plain(m)
  local calls
  for i, c in ipairs(m.calls or {}) do
    calls = calls or {}
    calls[i] = { id = c.id, name = c.name, raw = c.raw }
  end
  return { role = m.role, text = m.text, calls = calls, id = m.id, name = m.name, failed = m.failed,
           written = m.written }
end

local function plain_messages(messages)
  local out = core.json.array {}
  for i, m in ipairs(messages) do out[i] = plain(m) end
  return out
end

--- The hash of what makes a reply: the model, its sampling, the tools and the messages,
--- keys replaced as in what is recorded.
function M.hash(model, messages, tools)
  local names = core.json.array {}
  for i, tool in ipairs(tools or {}) do
    names[i] = { tool.name, tool.description or "", core.json.encode(schema.parameters(tool)) }
  end
  return core.hash.sha256(core.http.redact(core.json.encode { model = model.name, sampling = model.sampling,
    tools = names, max_tokens = model.max_tokens, messages = plain_messages(messages) }))
end

-- How many messages are those of the exchange before.
local function common(before, now)
  local n = 0
  while n < #before and n < #now and core.json.encode(before[n + 1]) == core.json.encode(now[n + 1]) do n = n + 1 end
  return n
end

local function reply_data(reply)
  local calls
  for i, c in ipairs(reply.calls) do
    calls = calls or {}
    calls[i] = { id = c.id, name = c.name, raw = c.raw, bad = c.bad }
  end
  return { text = reply.text, reasoning = reply.reasoning ~= "" and reply.reasoning or nil, calls = calls,
    stop = reply.stop, usage = reply.usage, written = reply.written, blocks = reply.blocks,
    logprobs = reply.logprobs }
end

local function put(self, entry)
  local ok = self.file:write(core.http.redact(core.json.encode(entry)), "\n") and self.file:flush()
  if not ok then return nil, "cannot write " .. self.path, "io" end
  return true
end

--- A question begins: its number, for `add`. Replies may come in another order.
function Cassette:begin()
  self.count = (self.count or 0) + 1
  return self.count
end

--- Record one exchange. Returns true, or nil, message, name.
function Cassette:add(number, model, messages, tools, reply, seconds)
  local all = plain_messages(messages)
  local n = common(self.before, all)
  self.before = all
  return put(self, { n = number, hash = M.hash(model, messages, tools), from = n,
    messages = core.json.array(table.move(all, n + 1, #all, 1, {})),
    reply = not reply.error and reply_data(reply) or nil, error = reply.error, seconds = seconds,
    first_token_s = reply.first_token_s })
end

function Cassette:close()
  if self.file then self.file:close() end
  self.file = nil
end
Cassette.__close = Cassette.close
Cassette.__gc = Cassette.close

--- Begin a cassette at `path`; what was there is lost. Returns it, or nil, message, name.
function M.record(path)
  local file, message = io.open(path, "wb")
  if not file then return nil, "the cassette " .. message, "io" end
  local self = setmetatable({ path = path, file = file, before = {} }, Cassette)
  local ok, why, name = put(self, { cassette = 1, cawb = core.version, recorded = os.date "!%Y-%m-%dT%H:%M:%SZ" })
  if not ok then return nil, why, name end
  return self
end

local function pick(self, model, messages, tools)
  if self.by == "order" then
    self.at = self.at + 1
    if self.list[self.at] then return self.list[self.at] end
    return nil, ("%s has %d exchanges, and this is one more"):format(self.path, #self.list)
  end
  local hash = M.hash(model, messages, tools)
  local queue = self.by_hash[hash]
  local entry = queue and table.remove(queue, 1)
  if entry then return entry end
  return nil, ("%s has no%s reply to this request (hash %s): play it by order, or record it again")
    :format(self.path, queue and " further" or "", hash:sub(1, 12))
end

local function calls_of(data)
  local calls = {}
  for i, c in ipairs(data.calls or {}) do
    calls[i] = schema.call(c.id or "call_" .. i, c.name, c.raw or core.json.encode(c.arguments or {}))
    if c.bad then calls[i].bad, calls[i].arguments = c.bad, nil end
  end
  return calls
end

--- The next reply, as cawb.ask's transport gives it.
function Cassette:play(model, messages, opts)
  local entry, message = pick(self, model, messages, opts.tools)
  if not entry then return nil, message, "cassette" end
  if self.latency and entry.seconds then
    local ok, why, name = loop.sleep(entry.seconds)
    if not ok then return nil, why, name end
  end
  if entry.error then return nil, entry.error.message, entry.error.name, { attempts = 1 } end
  local r = entry.reply
  local calls = calls_of(r)
  return { text = r.text or "", reasoning = r.reasoning or "", calls = calls, unknown = {}, attempts = 1,
    stop = r.stop or (#calls > 0 and "tools" or "end"), usage = r.usage, written = r.written, blocks = r.blocks,
    logprobs = r.logprobs, first_token_s = entry.first_token_s }
end

local function load(self)
  local number = 0
  for line in self.file:lines() do
    number = number + 1
    local entry, message = core.json.decode(line)
    if type(entry) ~= "table" then
      return nil, ("%s:%d: %s"):format(self.path, number, message or "no JSON object"), "invalid"
    elseif number == 1 and entry.cassette ~= 1 then
      return nil, ("%s: no cassette: its first line has no \"cassette\": 1"):format(self.path), "invalid"
    elseif number > 1 then
      if type(entry.reply) ~= "table" and type(entry.error) ~= "table" then
        return nil, ("%s:%d: neither a reply nor an error"):format(self.path, number), "invalid"
      end
      entry.n = math.tointeger(entry.n) or number     -- one written by hand is in order
      table.insert(self.list, entry)
      local hash = entry.hash or ""
      self.by_hash[hash] = self.by_hash[hash] or {}
      table.insert(self.by_hash[hash], entry)
    end
  end
  table.sort(self.list, function(a, b) return a.n < b.n end)
  return self
end

--- Open a cassette for playing. `how`: { by = "order" or "hash", latency = boolean }.
--- Returns it, or nil, message, name.
function M.replay(path, how)
  local file, message = io.open(path, "rb")
  if not file then return nil, "the cassette " .. message, "missing" end
  local self = setmetatable({ path = path, file = file, by = how and how.by or "order",
    latency = how and how.latency, list = {}, by_hash = {}, at = 0 }, Cassette)
  local ok, why, name = load(self)
  self:close()
  if not ok then return nil, why, name end
  return self
end

return M

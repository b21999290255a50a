-- outcome: the names that a question to a model can end with, besides a reply. Strategies
-- branch on them; which of them may pass is the one opinion here.

local core = require "cawb.core"

local M = {}

--- name -> { what it means, whether another attempt may help }.
M.list = {
  auth            = { "the endpoint does not take the key" },
  cassette        = { "the cassette has no reply to this" },
  connect         = { "nobody answers at the address", true },
  connect_timeout = { "no connection in time", true },
  content_type    = { "what came is no reply of this protocol: another one's, or a page" },
  context         = { "the messages are too long for the model" },
  cut             = { "the connection ended before the reply did", true },
  empty           = { "a reply with nothing in it", true },
  failed          = { "anything else that libcurl says" },
  filtered        = { "the endpoint refused to answer" },
  first_timeout   = { "the reply did not begin in time", true },
  idle_timeout    = { "the reply stopped coming", true },
  insecure        = { "a key would travel over http:// to another machine" },
  interrupted     = { "Ctrl-C" },
  invalid         = { "the model's settings" },
  limit           = { "too many requests: 429", true },
  malformed       = { "what came cannot be understood", true },
  missing         = { "no libcurl, no key" },
  not_found       = { "404: the address or the model's name" },
  overloaded      = { "the endpoint has no capacity", true },
  quota           = { "nothing left to spend there" },
  redirect        = { "the endpoint is somewhere else; a key does not follow" },
  refused         = { "the request is not accepted: another 4xx" },
  resolve         = { "no such host", true },
  server          = { "the endpoint failed: 5xx", true },
  timeout         = { "the whole reply took too long" },
  tls             = { "the certificate or the handshake" },
  too_large       = { "more bytes than a reply may have" },
}

--- Whether to try again after it.
function M.may_pass(name) return M.list[name] ~= nil and M.list[name][2] == true end

local at_the_address = { connect = true, connect_timeout = true, resolve = true, content_type = true, not_found = true }

--- A message, with the address that was asked where it may be the wrong one.
function M.about(message, name, url)
  return at_the_address[name] and ("%s (model.url is %s)"):format(message, url) or message
end

local too_long = { "context_length_exceeded", "context length", "context window", "prompt is too long",
  "too many tokens", "maximum context", "input is too long", "exceeds the maximum number of tokens",
  "string_above_max_length", "input length" }
local spent = { "insufficient_quota", "billing", "credit balance", "exceeded your current quota" }

local function holds(text, words)
  text = text:lower()
  for _, word in ipairs(words) do
    if text:find(word, 1, true) then return true end
  end
  return false
end

-- The words of an error object, however it is built.
local function words_of(e)
  if type(e) ~= "table" then return tostring(e) end
  local parts = {}
  for _, key in ipairs { "type", "code", "message" } do
    local value = e[key]
    if type(value) == "string" or type(value) == "number" then parts[#parts + 1] = tostring(value) end
  end
  if #parts == 0 and e.error ~= nil then return words_of(e.error) end
  if #parts == 0 then return core.json.encode(e) end
  return table.concat(parts, ": ")
end

--- An endpoint's words as they may be printed: on one line, at most 400 bytes, without keys and without control
--- characters, which a terminal would obey. Keys go first: a part of one is not recognised any more.
function M.printable(text)
  text = core.http.redact(text):gsub("%s+", " "):gsub("%c", "")
  if #text > 400 then text = text:sub(1, 400) .. "..." end
  return utf8.len(text) and (text:gsub("\xC2[\x80-\x9F]", "")) or (text:gsub("[\128-\255]", "?"))
end

local short = M.printable

local by_status = { [401] = "auth", [403] = "auth", [404] = "not_found", [408] = "server", [409] = "server",
                    [413] = "context", [425] = "server", [429] = "limit", [529] = "overloaded" }

--- An HTTP status that is no success, and the body that came with it: message, name.
function M.of_status(status, body, location)
  local json = core.json.decode(body)
  local said = type(json) == "table" and words_of(json.error ~= nil and json.error or json) or body
  local name = by_status[status]
  if status >= 300 and status < 400 then
    return ("it answers with a redirect (%d) to %s: put that address under model.url, if you trust it")
      :format(status, short(location or "nowhere")), "redirect"
  elseif (status == 400 or status == 413 or status == 422) and holds(said, too_long) then name = "context"
  elseif (status == 429 or status == 400 or status == 402 or status == 403) and holds(said, spent) or status == 402 then
    name = "quota"
  elseif not name then name = status >= 500 and "server" or "refused" end
  return ("HTTP %d: %s"):format(status, said ~= "" and short(said) or M.list[name][1]), name
end

--- An error object in the place of a reply, with a status of 200: message, name.
function M.of_error(e)
  local said = words_of(e)
  local name = holds(said, too_long) and "context" or holds(said, spent) and "quota"
    or holds(said, { "overloaded", "capacity", "unavailable" }) and "overloaded"
    or holds(said, { "rate_limit", "rate limit", "429" }) and "limit"
    or holds(said, { "authentication", "permission", "invalid_api_key" }) and "auth"
    or holds(said, { "invalid_request", "bad_request" }) and "refused" or "server"
  return "the endpoint says: " .. short(said), name
end

return M

-- Event streams in every packetisation.

local check = dofile "tests/support/check.lua"
local events = require "cawb.agent.ask.events"

-- All events of `text`, fed in pieces of `step` bytes, as "name=data|...".
local function collect(text, step, limit)
  local stream, words = events.new(limit), {}
  for at = 1, #text, step do
    local list = stream:feed(text:sub(at, at + step - 1))
    for _, e in ipairs(list or {}) do words[#words + 1] = e.event .. "=" .. e.data .. "|" end
    if not list then return table.concat(words) .. "failed", stream end
  end
  return table.concat(words) .. (stream:pending() and "pending" or ""), stream
end

local function same(text, want)
  for step = 1, #text do check.equal(collect(text, step, 1000), want, ("in steps of %d"):format(step)) end
end

check.test("lines end with LF, CR or both, and several of data are one text", function()
  same("data: a\n\ndata: b\n\n", "=a|=b|")
  same("data: a\r\n\r\ndata: b\r\n\r\n", "=a|=b|")
  same("data: a\r\rdata: b\r\r", "=a|=b|")
  same("\xef\xbb\xbfdata: a\n\n", "=a|")
  same("data: one\ndata: two\n\n", "=one\ntwo|")
  same("data: one\r\ndata: two\r\n\r\n", "=one\ntwo|")
  same("data:  x \n\n", "= x |")
  same("data:a:b\n\n", "=a:b|")
  same("data\n\n", "=|")
end)

check.test("fields other than data and event are passed over", function()
  same("event: ping\ndata: {}\n\n", "ping={}|")
  same(": a comment\nid: 7\nretry: 5\ndata: x\n\n", "=x|")
  same("event: ping\n\ndata: x\n\n", "=x|")          -- an event without data is none
  same("nonsense: y\ndatax: z\ndata: \xc3\xa9\0\n\n", "=\xc3\xa9\0|")
end)

check.test("an event that has begun is pending", function()
  same("data: a\n\ndata: b", "=a|pending")
  same("data: a\n\ndata: b\n", "=a|pending")
  same("\n\n\n", "")
end)

check.test("an event beyond the limit ends the stream, whether in one line or in many", function()
  for step = 1, 40, 3 do
    for _, text in ipairs { "data: much longer than ten\n\n", "data: 1234\ndata: 5678\ndata: 9012\ndata: 3456\n\n" } do
      local found, stream = collect(text, step, 16)
      check.equal(found, "failed")
      check.equal(stream:feed "data: x\n\n", nil)
    end
  end
end)

return check.done()

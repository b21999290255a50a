-- events: server-sent events, as endpoints stream their replies: lines "event: NAME" and "data: TEXT", an empty line ends
-- an event. The grammar is that of the HTML standard. Bytes may come in any portions; lines end with LF, CR or both.

local M = {}

local Events = {}
Events.__index = Events

-- "name: value", one space after the colon being no part of the value. id and retry are for reconnecting; ":" is a comment.
local function take_field(self, line)
  local name, value = line:match "^([^:]*):? ?(.*)$"
  if name == "data" then
    self.data[#self.data + 1] = value
    self.size = self.size + #value + (#self.data > 1 and 1 or 0)
  elseif name == "event" then self.event = value end
end

-- An event without data is none.
local function end_event(self, list)
  if #self.data > 0 then list[#list + 1] = { event = self.event, data = table.concat(self.data, "\n") } end
  self.event, self.data, self.size = "", {}, 0
end

local function end_line(self, list)
  local line = table.concat(self.line)
  if not self.began then line = line:gsub("^\xef\xbb\xbf", "") end
  self.began, self.line, self.length = true, {}, 0
  if line == "" then end_event(self, list) else take_field(self, line) end
end

local function add(self, piece)
  if piece ~= "" then self.line[#self.line + 1] = piece end
  self.length = self.length + #piece
end

--- Take bytes: the events that are complete, { { event =, data = }, ... }; or nil, message, name.
function Events:feed(bytes)
  local list, at = {}, 1
  if self.after_cr and bytes:sub(1, 1) == "\n" then at = 2 end      -- the second half of CR LF
  if bytes ~= "" then self.after_cr = bytes:sub(-1) == "\r" end
  while at <= #bytes and not self.failed do
    local stop = bytes:find("[\r\n]", at)
    add(self, bytes:sub(at, stop and stop - 1))
    self.failed = self.length > self.limit
    if not stop or self.failed then break end
    at = stop + (bytes:sub(stop, stop + 1) == "\r\n" and 2 or 1)
    end_line(self, list)
    self.failed = self.size > self.limit
  end
  if self.failed then return nil, ("an event of the stream has more than %d bytes"):format(self.limit), "invalid" end
  return list
end

--- Whether an event has begun that is not complete.
function Events:pending() return self.length > 0 or #self.data > 0 end

--- A stream, with at most `limit` bytes in an event.
function M.new(limit)
  return setmetatable({ limit = limit, event = "", data = {}, size = 0, line = {}, length = 0, began = false, after_cr = false,
    failed = false }, Events)
end

return M

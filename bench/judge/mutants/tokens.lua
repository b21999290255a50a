-- tokens: CUDA C as a list of words with their places, comments and preprocessor lines left out, so
-- that a grammar of mistakes speaks of code and not of text.

local M = {}

local marks = { "<<=", ">>=", "->*", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
                "*=", "/=", "%=", "&=", "|=", "^=", "##" }

local function mark_at(text, at)
  for _, m in ipairs(marks) do
    if text:sub(at, at + #m - 1) == m then return m end
  end
  return text:sub(at, at)
end

-- The end of a preprocessor line, with the lines that a backslash goes on to.
local function line_end(text, at)
  repeat
    local stop = text:find("\n", at, true) or #text + 1
    local more = text:sub(stop - 1, stop - 1) == "\\"
    at = stop + 1
    if not more then return stop - 1 end
  until at > #text
  return #text
end

local function quoted(text, at, mark)
  local i = at + 1
  while i <= #text and text:sub(i, i) ~= mark do i = i + (text:sub(i, i) == "\\" and 2 or 1) end
  return i
end

-- The kind of what begins at a place, and where it ends.
local function piece(text, at, fresh)
  local two, one = text:sub(at, at + 1), text:sub(at, at)
  if one:find "%s" then return "space", select(2, text:find("^%s+", at)) end
  if two == "//" then return "space", (text:find("\n", at, true) or #text + 1) - 1 end
  if two == "/*" then return "space", select(2, text:find("*/", at + 2, true)) or #text end
  if one == "#" and fresh then return "space", line_end(text, at) end
  if one == '"' or one == "'" then return "string", quoted(text, at, one) end
  if one:find "[%a_]" then return "name", select(2, text:find("^[%w_]+", at)) end
  if text:find("^%.?%d", at) then
    local last = select(2, text:find("^0[xX]%x+[uUlL]*", at)) or select(2, text:find("^%d*%.?%d*[eE][-+]?%d+[fFlL]?", at))
      or select(2, text:find("^%d*%.?%d*[fFuUlL]*", at))
    return "number", last
  end
  return "mark", at + #mark_at(text, at) - 1
end

--- The words of a text: { { text =, kind = "name", "number", "string" or "mark", from =, to = bytes } }.
function M.scan(text)
  local list, at, fresh = {}, 1, true
  while at <= #text do
    local kind, to = piece(text, at, fresh)
    local word = text:sub(at, to)
    if kind ~= "space" then
      list[#list + 1] = { text = word, kind = kind, from = at, to = to }
      fresh = false
    elseif word:find "\n" or text:sub(at, at) == "#" then
      fresh = true
    end
    at = to + 1
  end
  return list
end

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

--- Of each bracket the place of its partner: { [index] = index }, both ways.
function M.partners(list)
  local open, partner = {}, {}
  for i, w in ipairs(list) do
    if w.kind == "mark" and closing[w.text] then
      open[#open + 1] = i
    elseif w.kind == "mark" and #open > 0 and closing[list[open[#open]].text] == w.text then
      local k = table.remove(open)
      partner[i], partner[k] = k, i
    end
  end
  return partner
end

--- The text of the words `first` to `last`, as it stands there.
function M.text(source, list, first, last) return source:sub(list[first].from, list[last].to) end

return M

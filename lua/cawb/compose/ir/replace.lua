-- replace: other words in place of one in long texts. A word is found as it is, many times faster than by a pattern.

local M = {}

-- The text with what by(at) says in place of each `word`; where that is nil the word stays. `at` is its first byte.
local function changed(text, word, by)
  local at = text:find(word, 1, true)
  if not at then return text end
  local parts, from = {}, 1
  while at do
    local new, behind = by(at), at + #word
    if new then
      parts[#parts + 1], parts[#parts + 2] = text:sub(from, at - 1), new
      from = behind
    end
    at = text:find(word, new and behind or at + 1, true)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- The text with another one in place of each `word`.
function M.word(text, word, new) return changed(text, word, function() return new end) end

--- The same where `word` is the beginning of a name or number: no letter, digit or underscore is ahead of it.
function M.name(text, word, new)
  return changed(text, word, function(at) return (at == 1 or not text:find("^[%w_]", at - 1)) and new or nil end)
end

--- The text with `by(k)`, a text, in place of the k-th whole number that `mark` follows, and no mark; where that is nil the number stays.
function M.numbers(text, mark, by)
  local parts, from, k = {}, 1, 0
  local at = text:find(mark, 1, true)
  while at do
    local first = at
    while first > from and text:find("^%d", first - 1) do first = first - 1 end
    if first < at then
      k = k + 1
      parts[#parts + 1], parts[#parts + 2] = text:sub(from, first - 1), by(k) or text:sub(first, at - 1)
      from = at + #mark
    end
    at = text:find(mark, at + #mark, true)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

return M

-- merge_numbers: reads a kernel's C for whole numbers that may become parameters: where they stand, no compiler makes faster code of knowing
-- them, or hardly. It knows the texts of emit/, no more of C.

local M = {}

--- A kernel's own name in texts that are read.
M.MARK = "\1"

local MARK, BRACKET = M.MARK, ("("):byte()

-- Calls and words in front of a bracket in which a number may become a parameter, beside functions that pack.
local plain = {}
for word in ("if for while return min max size_t pack_row pack_row_full note_seen too_wide is_vast"):gmatch "%S+" do plain[word] = true end

-- The place behind a line of the preprocessor, a comment or a string that begins at `at`, and which of these it was.
local begins = {
  ["#"] = function(text, at)
    local line = text:match("^#([^\n]*)", at)
    return at + #line + 1, line:find "^%s*pragma%s+unroll" and "unroll" or "line"
  end,
  ["/"] = function(text, at)
    local past = text:match("^//[^\n]*()", at)
    return past, "comment"
  end,
  ['"'] = function(text, at)
    local past = text:match('^"[^"\n]*"()', at)
    return past, "quoted"
  end,
}

-- What a byte begins, by its number: "space", "digit", "word", a function of `begins`, "plain" for a sign that no bracket is, or nothing
-- of these.
local kinds, signs = {}, {}
for byte = 0, 255 do
  local c = string.char(byte)
  signs[byte] = c
  kinds[byte] = begins[c] or c:find "%s" and "space" or c:find "%d" and "digit" or c:find "[%a_]" and "word" or c:find "[,;.+*=&|!?:~^%%-]" and "plain" or nil
end

local closes = { [")"] = "(", ["]"] = "[", ["}"] = "{", [">"] = "<" }

-- Whether the next number is a divisor. A division of a block's number does not count: it happens once in a block.
local function divides(s) return not s.ahead and not s.block and (s.before == "/" or s.before == "%") end

-- Whether numbers behind an opening bracket stay numbers. `s`: the text before.
local function is_fixed(s, bracket)
  local top = s.stack[#s.stack]
  if top and top.fixed and bracket ~= "[" then return true end
  if bracket == "<" then return true end
  if bracket == "[" then return not (s.word or ""):find "^[xy]%d+$" end
  if bracket == "{" then return s.before == "=" or s.listed end
  if s.unrolled or divides(s) then return true end
  return s.word ~= nil and not plain[s.word] and not s.word:find "_pack$"
end

local function opened(s, bracket)
  s.stack[#s.stack + 1] = { bracket = bracket, fixed = is_fixed(s, bracket) }
  if bracket ~= "[" then s.unrolled, s.listed = false, false end
end

local function closed(s, bracket)
  for k = #s.stack, 1, -1 do
    if s.stack[k].bracket == closes[bracket] then
      for _ = k, #s.stack do table.remove(s.stack) end
      return
    end
    if bracket == ">" then return end
  end
end

local function take_number(s, text, at)
  local number = text:match("^%d[%w_.]*", at)
  while number:find "[eEpP]$" and text:find("^[+-]", at + #number) do
    number = number .. text:match("^[+-][%w_.]*", at + #number)
  end
  local top = s.stack[#s.stack]
  if number:find "^%d+$" and #number < 18 and not divides(s) and s.before ~= "." and s.word ~= "case" and top and not top.fixed then
    s.numbers[#s.numbers + 1] = { at = at, past = at + #number, value = math.tointeger(number) }
  end
  return at + #number
end

-- A call or a definition of a function of the kernel's own, whose bracket is at `at`.
local function note_own(s, text, at)
  s.own[#s.own + 1] = { at = at + 1, defines = #s.stack == 0, alone = text:find("^%s*%)", at + 1) ~= nil }
end

local function take_sign(s, text, at)
  local sign = text:sub(at, at)
  local adjacent = s.word and text:find("^[%w_" .. MARK .. "]", at - 1)
  if sign == "(" and s.is_own and adjacent then note_own(s, text, at) end
  if sign == "(" or sign == "[" or sign == "{" or sign == "<" and adjacent then opened(s, sign)
  elseif closes[sign] then closed(s, sign) end
  s.before, s.word, s.is_own = sign, nil, sign == MARK
  s.block = s.block and sign:find "[*/%%()]" ~= nil
  return at + 1
end

local function take_word(s, text, at)
  local word, past = text:match("^([%a_][%w_]*)()", at)
  if word == "enum" then s.listed = true end
  s.is_own = s.is_own and text:sub(at - 1, at - 1) == MARK
  s.word, s.before, s.block = word, word, word == "block"
  return past
end

--- Reads a text. Returns `numbers`, which may become parameters: { at, past, value }; and `own`, the places where its functions are
--- defined and called: { at, defines, alone = without parameters }. `ahead`: it runs only before the first call.
function M.read(text, ahead)
  local s = { stack = {}, numbers = {}, own = {}, ahead = ahead }
  local at = 1
  while at <= #text do
    local kind, past, what = kinds[text:byte(at)], nil, nil
    if type(kind) == "function" then past, what = kind(text, at) end
    if past then
      at = past
      if what == "unroll" then s.unrolled = true end
      if what == "quoted" then s.before, s.word, s.is_own = '"', nil, false end
    elseif kind == "space" then at = text:find("%S", at) or #text + 1
    elseif kind == "plain" then
      s.before, s.word, s.is_own = signs[text:byte(at)], nil, false
      s.block, at = s.block and (s.before == "*" or s.before == "%"), at + 1
    elseif kind == "digit" then at = take_number(s, text, at); s.before, s.word, s.is_own = "0", nil, false
    elseif kind == "word" then at = take_word(s, text, at)
    else
      local own = text:byte(at) == MARK:byte() and text:byte(at + 1) == BRACKET          -- a name that is nothing but the kernel's
      at = take_sign(s, text, at)
      if own then s.word = "own" end
    end
  end
  return s
end

return M

-- Sealed states: the functions of strings agree with Lua's own library, and no text is slow in them.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local function sealed(text, ...)
  return core.sealed.call { text = text, name = "t.lua", entry = "f", arguments = core.json.array { ... },
                            memory = 64 << 20, instructions = 5000000 }
end

-- All that four functions say of a subject and a pattern, as text.
local words = [[
  local function words(...)
    local t = { ... }
    for i = 1, select("#", ...) do t[i] = tostring(t[i]) end
    return table.concat(t, ",")
  end
  local function all(s, p, init)
    local said = { words(s:find(p, init)), words(s:match(p, init)), words(s:gsub(p, "<%0%%%1>")),
      words(s:gsub(p, function(a) return a == "" and "E" or nil end)), words(s:gsub(p, { a = "X", b = 7 }, 2)) }
    for a, b in s:gmatch(p, init) do said[#said + 1] = words(a, b) end
    return table.concat(said, "|")
  end
]]
local own = load(words .. "return all")()

local pieces = { "a", "b", ".", "%a", "%d", "%s", "%W", "[ab]", "[^a]", "[%w_]", "[a-c]", "%.", "-", "^", "$", "[]]", "[^]b]", "[a-]",
                 "%f[%w]", "%f[^a]", "%bab", "%b()", "%baa", "%%", "%z", "(", "(", "()" }
local times = { "", "", "", "*", "+", "-", "?" }

local seed = 7
local function draw(n)
  seed = (seed * 1103515245 + 12345) % (1 << 31)
  return seed // 65536 % n + 1
end

local function pattern()
  local parts, open = { draw(6) == 1 and "^" or "" }, 0
  local captures = 0
  for _ = 1, draw(6) do
    local piece = pieces[draw(#pieces)]
    if piece == "(" then open, captures = open + 1, captures + 1 end
    if piece == "()" then captures = captures + 1 end
    parts[#parts + 1] = piece
    if #piece > 0 and piece ~= "(" and piece ~= "()" and not piece:find "^%%[bf]" then parts[#parts + 1] = times[draw(#times)] end
    if open > 0 and draw(3) == 1 then parts[#parts + 1], open = ")", open - 1 end
  end
  parts[#parts + 1] = (")"):rep(open)
  if captures > 0 and draw(3) == 1 then parts[#parts + 1] = "%1" .. times[1] end
  if draw(5) == 1 then parts[#parts + 1] = "$" end
  return table.concat(parts)
end

local letters = { "a", "b", "c", "1", " ", "_", "(", ")", ".", "-", "]", "%" }
local function subject()
  local s = {}
  for i = 1, draw(14) - 1 do s[i] = letters[draw(draw(2) == 1 and 2 or #letters)] end
  return table.concat(s)
end

check.test("find, match, gmatch and gsub say what Lua's library says", function()
  local cases, want = {}, {}
  for _ = 1, 4000 do
    local s, p, init = subject(), pattern(), draw(5) == 1 and draw(9) - 5 or 1
    local ok, said = pcall(own, s, p, init)
    if ok then cases[#cases + 1], want[#want + 1] = { s, p, init }, said end
  end
  assert(#cases > 3000, #cases)
  local got = assert(sealed("return { f = function(cases) " .. words .. [[
    local out = {}
    for i, c in ipairs(cases) do out[i] = all(c[1], c[2], c[3]) end
    return out end }]], cases))
  for i, said in ipairs(want) do
    if got[i] ~= said then error(("%q of %q from %d: got %s, want %s"):format(cases[i][2], cases[i][1], cases[i][3], got[i], said)) end
  end
end)

check.test("what is no pattern is said", function()
  local function wrong(pattern, says)
    check.fails("candidate", "t%.lua:1: " .. says, sealed("return { f = function(p) return (('x'):find(p)) end }", pattern))
  end
  wrong("%", "malformed pattern %(ends with '%%'%)")
  wrong("[a", "malformed pattern %(missing ']'%)")
  wrong("(x", "unfinished capture")
  wrong(".)", "invalid pattern capture")
  wrong("%1", "invalid capture index")
  wrong("%b", ".*missing arguments to '%%b'")
  wrong("%fx", "missing '%[' after '%%f'")
  wrong(("()"):rep(33), "too many captures")
  check.fails("candidate", "invalid replacement value %(a table%)", sealed "return { f = function() return (('x'):gsub('x', function() return {} end)) end }")
  check.fails("candidate", "invalid use of '%%'", sealed "return { f = function() return (('x'):gsub('x', '%y')) end }")
end)

-- Each grows as a power of the subject's length in Lua's library: hours.
check.test("no subject makes a pattern slow", function()
  local hostile = {
    { ("ignore "):rep(200000), "ignore [%w%s]-instructions" },
    { ("/* "):rep(400000), "/%*.-%*/" },
    { (" "):rep(1000000), "%s*x" },
    { ("a"):rep(1000000), ".-.-.-.-b" },
    { ("a"):rep(1000000), "(a*)*(a*)*(a*)*b" },
    { ("a"):rep(500000), ("a?"):rep(20) .. "b" },
    { ("ab"):rep(400000), "a%w*%d" },
  }
  for _, h in ipairs(hostile) do
    local got = assert(core.sealed.call { text = "return { f = function(s, p) return { s:find(p) == nil, select(2, s:gsub(p, '')) } end }",
      name = "t.lua", entry = "f", arguments = core.json.array { h[1], h[2] }, memory = 256 << 20, instructions = 100000000 })
    check.equal(got[1], true, h[2])
    check.equal(got[2], 0, h[2])
  end
  -- These two have no bound of that kind: what they take is counted.
  for _, p in ipairs { "%b()", "(a-)b%1c" } do
    check.fails("candidate", "too many instructions", sealed("return { f = function(s, p) return s:find(p) end }",
      p == "%b()" and ("("):rep(1000000) or ("a"):rep(20000) .. ("b"):rep(20000), p))
  end
end)

check.test("what takes long by its memory, or by the clock, ends", function()
  check.fails("candidate", "too many instructions",
    sealed "return { f = function() local s = ('x'):rep(1 << 24) while true do local t = s .. 'y' end end }")
  check.fails("candidate", "t%.lua:1: it takes too long", core.sealed.call { name = "t.lua", entry = "f",
    text = "return { f = function() local t = {} for i = 1, 200000 do t[i] = i end while true do table.insert(t, 1, 0) end end }",
    arguments = core.json.array {}, memory = 64 << 20, instructions = 1 << 50, seconds = 0.2 })
end)

return check.done()

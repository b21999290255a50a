-- JSON and Lua: what goes through unchanged, and what raises because it would not.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local encode, decode = core.json.encode, core.json.decode

check.test("numbers keep every bit", function()
  for _, n in ipairs { 0, -1, 1 << 53, -(1 << 53), (1 << 53) - 1, 999999999999999 } do
    check.equal(encode { n }, ("[%d]"):format(n))
    check.equal(decode(encode { n })[1], n)
  end
  for _, x in ipairs { 0.1, 0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e15 + 0.125 } do
    assert(decode(encode { x })[1] == x, ("%.17g became %s"):format(x, encode { x }))
  end
  for _, text in ipairs { "-0.0", "-0" } do check.equal(1 / decode(("[%s]"):format(text))[1], -math.huge, text) end
  check.equal(1 / decode(encode { -0.0 })[1], -math.huge)
  check.equal(math.type(decode "[0.0]"[1]), "integer")
end)

check.test("what is whole only because it is large stays a float, and goes through again", function()
  for _, text in ipairs { "4.650967308280267e+18", "9007199254740994", "-1e+300" } do
    local x = decode(("[%s]"):format(text))[1]
    check.equal(math.type(x), "float", text)
    check.equal(decode(encode { x })[1], x)
  end
  check.equal(math.type(decode "[9007199254740992]"[1]), "integer")
end)

check.test("what JSON cannot say exactly raises", function()
  check.raises("beyond 2%^53", encode, { (1 << 53) + 1 })
  check.raises("beyond 2%^53", encode, { math.mininteger })
  check.raises("no NaN", encode, { 0 / 0 })
  check.raises("no NaN or infinity", encode, { x = 1 / 0 })
  check.raises("a function", encode, { print })
  check.raises("NUL at byte 2", encode, { "a\0b" })
  check.raises("NUL at byte 1", encode, { ["\0"] = 1 })
  check.raises("string keys", encode, { [true] = 1 })
  check.raises("string keys", encode, { [2] = 1 })
end)

check.test("a list is a list and nothing else", function()
  check.raises("no other keys", encode, { 1, 2, name = "x" })
  check.raises("no holes", encode, { 1, nil, nil, nil, 5 })
  check.raises("no holes", encode, { 1, [3] = 3 })
  check.raises("no other keys", encode, table.pack(1, 2))
  check.equal(encode(core.json.array {}), "[]")
  check.equal(encode {}, "{}")
end)

check.test("tables within themselves raise and do not overflow", function()
  local a, b = {}, {}
  a.b, b.a = b, { a }
  check.raises("nested too deeply", encode, a)
  local deep = {}
  for _ = 1, 100 do deep = { deep } end
  assert(encode(deep))
  for _ = 1, 10000 do deep = { deep } end
  check.raises("nested too deeply", encode, deep)
end)

check.test("deep and malformed text is refused", function()
  assert(decode(("["):rep(900) .. ("]"):rep(900)))
  check.fails("invalid", "malformed JSON", decode(("["):rep(100000)))
  for _, text in ipairs { "", "{", "[1,", "{} x", "nul", "[01e]", '"\\ud800"', '"' } do
    check.fails("invalid", "malformed JSON", decode(text))
  end
end)

check.test("a NUL in text is refused, its escape in letters is not", function()
  check.fails("invalid", "NUL", decode '["a\\u0000b"]')
  check.fails("invalid", "NUL", decode '["\\\\\\u0000"]')
  check.fails("invalid", "NUL", decode "[1]\0")
  check.equal(decode '["\\\\u0000"]'[1], "\\u0000")
  check.equal(decode '["\\u0001"]'[1], "\1")
end)

check.test("a command has no NUL in its words", function()
  check.raises("a NUL in an argument", core.child.new, "x", { "/bin/true\0" })
  check.raises("1 to 65535 words", core.child.new, "x", {})
end)

check.test("a folder is no program", function()
  assert(not core.fs.which "/tmp")
  assert(core.fs.which "sh")
end)

return check.done()

-- file: whole files in and out; what fails says which file, and leaves nothing behind.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"
local file = require "cawb.base.file"

local dir = check.folder()

check.test("bytes come back as they were", function()
  local text = "a\0b\r\n\xff"
  assert(file.write(dir .. "/x", text))
  check.equal(file.read(dir .. "/x"), text)
  assert(file.replace(dir .. "/x", "new"))
  check.equal(file.read(dir .. "/x"), "new")
end)

check.test("what is missing, and what is a folder", function()
  check.fails("missing", "/none: No such file", file.read(dir .. "/none"))
  check.fails("missing", "cawb.test.*: Is a directory", file.read(dir))
  check.fails("io", "/none/x: No such file", file.write(dir .. "/none/x", ""))
end)

check.test("a full disk", function()
  check.fails("io", "cannot write /dev/full", file.write("/dev/full", ("x"):rep(1 << 16)))
  check.fails("io", "cannot write /dev/full", file.write("/dev/full", "x"))
end)

check.test("a text that cannot take its place leaves the place alone, and no litter", function()
  assert(core.fs.mkdir(dir .. "/taken/inside"))
  check.fails("io", "cannot write .*/taken: Is a directory", file.replace(dir .. "/taken", "x"))
  for _, name in ipairs(core.fs.list(dir)) do assert(not name:find "^taken%.", name) end
end)

return check.done()

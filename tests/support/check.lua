-- check: the few words that the Lua tests are written in. A test file does
--   local check = dofile "tests/support/check.lua"
--   check.test("what it shows", function() ... end)
--   return check.done()

local core = require "cawb.core"
local wire = require "cawb.base.wire"

wire.check_requests = true                   -- the judge's own messages have to fit, too

local M = {}
local passed, failed = 0, 0
local folders = {}

--- Run one named test; an error in it is a failure, and the next test goes on.
function M.test(name, body)
  local ok, message = xpcall(body, debug.traceback)
  collectgarbage()
  if ok then
    passed = passed + 1
    print("ok   " .. name)
  else
    failed = failed + 1
    print("FAIL " .. name .. "\n" .. tostring(message))
  end
end

--- The call raises, with a message that holds `pattern`.
function M.raises(pattern, f, ...)
  local ok, message = pcall(f, ...)
  if ok then error("no error was raised, expected: " .. pattern, 2) end
  if not tostring(message):find(pattern) then
    error(("expected an error like '%s', got: %s"):format(pattern, tostring(message)), 2)
  end
end

--- The call returns nil, a message that holds `pattern`, and this name.
function M.fails(name, pattern, value, message, got)
  if value ~= nil then error("it succeeded, expected: " .. pattern, 2) end
  if got ~= name or not tostring(message):find(pattern) then
    error(("expected %s like '%s', got %s: %s"):format(name, pattern, tostring(got),
      tostring(message)), 2)
  end
end

function M.equal(got, want, what)
  if got ~= want then
    error(("%s: got %s, want %s"):format(what or "value", tostring(got), tostring(want)), 2)
  end
end

function M.matches(text, pattern)
  if not tostring(text):find(pattern) then
    error(("'%s' does not match '%s'"):format(tostring(text), pattern), 2)
  end
end

--- `text` with one piece of it, which must be there, replaced.
function M.edit(text, from, to)
  local at, last = text:find(from, 1, true)
  assert(at, "not in the text: " .. from)
  return text:sub(1, at - 1) .. to .. text:sub(last + 1)
end

--- A folder of its own for a test, under the build's or the system's temporary one.
function M.folder()
  local tail = core.clock.random(6):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  local path = (os.getenv "TMPDIR" or "/tmp") .. "/cawb-test-" .. tail
  assert(core.fs.mkdir(path))
  folders[#folders + 1] = path
  return path
end

function M.write(path, text)
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  return path
end

--- Run a shell command: its standard output and its exit status.
function M.shell(command)
  local p = assert(io.popen(command, "r"))
  local text = p:read "a"
  local _, how, code = p:close()
  return text, how == "exit" and code or 128 + code
end

--- Report, and the script's exit status.
function M.done()
  for _, path in ipairs(folders) do os.execute("rm -rf '" .. path .. "'") end
  print(("%d passed, %d failed"):format(passed, failed))
  return failed > 0 and 1 or 0
end

return M

-- The loop: coroutines that wait, child processes among them, one thing at a time where that
-- is due.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local loop = require "cawb.base.loop"

local dir = check.folder()
local mock <close> = dofile "tests/agent/mock_llm/mock.lua" ()

-- A child that answers { file = path } once there is such a file.
local program = check.write(dir .. "/child.py", [[
import json, os, socket, struct, time
s = socket.socket(fileno=3)
while True:
    head = s.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        break
    request = json.loads(s.recv(struct.unpack("<I", head)[0], socket.MSG_WAITALL))
    while not os.path.exists(request["file"]):
        time.sleep(0.002)
    reply = json.dumps({"ok": True, "file": request["file"]}).encode()
    s.sendall(struct.pack("<I", len(reply)) + reply)
]])

local function child() return assert(core.child.new("child", { os.getenv "CAWB_PYTHON" or "python3", program })) end

local function talk(text)
  local model = { url = mock:url("conversation", text), name = "m" }
  return assert(cawb.ask(model, { { role = "user", text = text } })).text
end

check.test("a conversation goes on while a child process is waited for", function()
  local c, path = child(), dir .. "/said"
  local task = loop.spawn(function() check.write(path, talk "hello") end)
  local reply = assert(loop.call(c, { file = path }, { timeout = 30 }))     -- it needs the conversation's end
  check.equal(reply.file, path)
  loop.join(task)
  c:close()
end)

check.test("children are waited for from coroutines, several at once", function()
  local a, b, first, second = child(), child(), dir .. "/first", dir .. "/second"
  local order = {}
  local tasks = {
    loop.spawn(function() assert(loop.call(a, { file = second }, { timeout = 30 })) order[#order + 1] = "a" end),
    loop.spawn(function() assert(loop.call(b, { file = first }, { timeout = 30 })) order[#order + 1] = "b" check.write(second, "") end),
  }
  check.write(first, "")
  for _, task in ipairs(tasks) do loop.join(task) end
  check.equal(table.concat(order), "ba")
  a:close()
  b:close()
end)

check.test("a child that does not answer is a timeout, and its end is told", function()
  local c = child()
  local task = loop.spawn(function() return loop.call(c, { file = dir .. "/never" }, { timeout = 0.05 }) end)
  local reply, message, name = loop.join(task)
  check.fails("timeout", "within 0.05 s", reply, message, name)
  c = child()
  task = loop.spawn(function() return loop.call(c, { nothing = 1 }, { timeout = 30 }) end)
  reply, message, name = loop.join(task)
  check.fails("died", "KeyError", reply, message, name)
end)

check.test("exclusive: one at a time, the holder again, and an error lets go", function()
  local key, log = {}, {}
  local function work(name)
    return loop.exclusive(key, function()
      log[#log + 1] = name .. " in"
      loop.sleep(0.001)
      loop.exclusive(key, function() log[#log + 1] = name end)
      log[#log + 1] = name .. " out"
    end)
  end
  loop.all { function() work "a" end, function() work "b" end }
  check.equal(table.concat(log, ", "), "a in, a, a out, b in, b, b out")
  check.raises("broken", loop.exclusive, key, function() error("broken", 0) end)
  check.equal(loop.exclusive(key, function() return "free" end), "free")
end)

check.test("each: in order, while later ones run; an error of one is raised", function()
  local got, running = {}, 0
  loop.each({ function() return talk "one" end, function() running = running + 1 return talk "two" end, function() return talk "three" end },
    2, function(i, text) got[i] = text end)
  check.equal(table.concat(got, ","), "re: one,re: two,re: three")
  check.equal(running, 1)
  check.raises("no good", loop.each, { function() error("no good", 0) end, function() return talk "x" end }, 2, function() end)
end)

return check.done()

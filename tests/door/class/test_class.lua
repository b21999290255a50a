-- cawb exercise class: answers of several students are judged without PyTorch, in one room; the board tells who solved what, which races were met and
-- what caught a cheat; solutions are closed until the teacher opens them. And exercises without PyTorch, and again at each save.

local check = dofile "tests/support/check.lua"
local cawb = require "cawb"
local core = require "cawb.core"
local exercises = require "cawb.door.exercises"
local file = require "cawb.base.file"
local room = require "cawb.door.class.room"

local dir = check.folder()
local list = exercises.list()

-- A Python that has no PyTorch: the hosts of this test are started with it.
check.write(dir .. "/python", "#!/bin/sh\nexec python3 -S \"$@\"\n")
os.execute(("chmod +x '%s/python'"):format(dir))
local bare = ("CAWB_PYTHON='%s/python' "):format(dir)

local function write(name, text)
  check.write(dir .. "/" .. name, text)
  return dir .. "/" .. name
end

local function exercise(words) return check.shell(("%s '%s' exercise %s 2>&1"):format(bare, core.program, words)) end

local device <close> = assert(cawb.device "sim:h100")

for _, e in ipairs(list) do
  check.test(("exercise %d without PyTorch: the solution passes, the start does not"):format(e.number), function()
    local v = assert(exercises.judge(e, device, { exercises.text(e, "solution"), exercises.text(e, "start") }, { plain = true }))
    assert(v[1].passed and v[1].plain, core.json.encode(v[1]))
    assert(not v[2].passed)
  end)
end

check.test("what is off by little, and what changes its input, is wrong without PyTorch too", function()
  local e = list[1]
  local source = exercises.text(e, "solution")
  local near = source:gsub("3", "3.0001f", 1)
  local v = assert(exercises.judge(e, device, { near, (source:gsub("const float %*", "float *"):gsub("}%s*$", "  const_cast<float *>(x)[0] = 7;\n}\n")) }, { plain = true }))
  assert(near ~= source and not v[1].ok and v[1].stage == "verify", core.json.encode(v[1]))
  assert(not v[2].passed, core.json.encode(v[2]))
end)

check.test("the time that exercise 10 compares with, without PyTorch, is that of compose", function()
  local e, s = list[10], { n = 128 }
  local task <close> = assert(cawb.task(e.dir .. "/task.py", { device = device, task = s }))
  local made = assert(require "cawb.compose.candidate".make(task))
  local p = assert(cawb.profile(task, cawb.candidate { source = made.source, plan = made.plan }))
  assert(math.abs(p.metrics.seconds / e.compose - 1) < 0.05, ("exercise.lua has %g, compose takes %g"):format(e.compose, p.metrics.seconds))
end)

check.test("a machine without PyTorch judges an exercise, and says so", function()
  local out, code = exercise("2 " .. write("mine.cu", exercises.text(list[2], "solution")))
  check.equal(code, 0, out)
  check.matches(out, "judged without PyTorch, at small sizes\n.*Exercise 2 is solved")
end)

check.test("--watch judges again when the file is saved", function()
  local path, said = write("saved.cu", exercises.text(list[1], "start")), dir .. "/said"
  os.execute(("%s '%s' exercise 1 '%s' --watch --plain > '%s' 2>&1 & echo $! > '%s/pid'"):format(bare, core.program, path, said, dir))
  local function wait_for(words)
    local ends = core.clock.now() + 60
    repeat
      core.clock.sleep(0.1)
      if (file.read(said) or ""):find(words) then return true end
    until core.clock.now() > ends
    error(("'%s' does not come: %s"):format(words, file.read(said)))
  end
  wait_for "waiting for the next save"
  write("saved.cu", exercises.text(list[1], "solution"))
  wait_for "Exercise 1 is solved.*waiting for the next save"
  os.execute(("kill $(cat '%s/pid')"):format(dir))
end)

-- ---- a room

local server = io.popen(("%s '%s' exercise class --port 0 --out '%s/class.jsonl' 2>'%s/log' & echo $!; wait"):format(bare, core.program, dir, dir))
local pid = server:read "l"
local url = server:read "l":match "http://%S+"
local key = server:read "l":match "#key=(%x+)"

local function send(number, name, path, more) return exercise(("%d '%s' --class %s --name '%s' %s"):format(number, path, url, name, more or "")) end
local function ask(path, body) return check.shell(("curl -s %s '%s%s'"):format(body and "-d '" .. body .. "'" or "", url, path)) end
local function board() return assert(core.json.decode((ask "board"))) end

check.test("an answer is judged in the room, and its verdict is that of cawb exercise", function()
  local out, code = send(3, "Ada", write("three.cu", exercises.text(list[3], "solution")))
  check.equal(code, 0, out)
  check.matches(out, "^right, in %S+ us modelled\n.*Exercise 3 is solved")
  out, code = send(4, "Bob", write("four.cu", exercises.text(list[4], "start")))
  check.equal(code, 1, out)
  check.matches(out, "a race on shared memory")
end)

check.test("the board has who solved what, races, and what caught a cheat", function()
  local cheat = write("cheat.cu", 'extern "C" __global__ void saxpy(float *out, const float *x, const float *y, int n) {}\n')
  local out, code = send(1, "Bob", cheat, "--cheat")
  check.equal(code, 1, out)
  check.matches(out, "^caught by %l+ [%w_]+: ")
  local b = board()
  check.equal(b.students[1].name, "Ada")
  assert(b.students[1].solved["3"] > 0 and b.students[1].count == 1)
  check.equal(b.students[2].races, 1)
  check.equal(b.students[2].turns, 2)
  check.equal(#b.students[2].cheats, 1)
  assert(b.students[2].cheats[1].rule:find "^%l+ [%w_]+")
end)

check.test("a solution is closed until the teacher opens it", function()
  local out, code = exercise(("3 --solution --class %s"):format(url))
  check.equal(code, 2, out)
  check.matches(out, "the solution of exercise 3 is not open yet: the teacher opens it")
  check.matches(ask("open", '{"key":"x","exercise":3}'), "not the teacher's key")
  check.matches(ask("open", ('{"key":"%s","exercise":3}'):format(key)), '"opened":true')
  check.equal((exercise(("3 --solution --class %s"):format(url))), exercises.text(list[3], "solution"))
end)

check.test("what is no turn is refused with what is wrong", function()
  check.matches(ask("turn", '{"exercise":1,"source":""}'), "a name is needed")
  check.matches(ask("turn", '{"name":"A","exercise":77,"source":""}'), "there is no exercise '77'")
  check.matches(ask("turn", '{"name":"A","exercise":1}'), "'source' is CUDA source")
  check.matches(ask("turn", "nonsense"), "no JSON")
end)

check.test("a room that is opened again goes on", function()
  local again = assert(room.open(dir .. "/class.jsonl"))
  local rows = again:board()
  check.equal(#rows, 2)
  check.equal(rows[1].name, "Ada")
  check.equal(rows[2].cheats[1].exercise, 1)
end)

os.execute("kill " .. pid)
server:close()

return check.done()

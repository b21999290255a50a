-- cawb exercise class: answers of several students are judged without PyTorch, in one room; the board tells who solved what, which races were met and
-- what caught a cheat; solutions are closed until the teacher opens them. And exercises without PyTorch, and again at each save.

local check = dofile "tests/support/check.lua"
local address = require "cawb.door.address"
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

check.test("doctor says what works without PyTorch, and each problem once", function()
  local out, code = check.shell(("%s '%s' doctor 2>&1"):format(bare, core.program))
  check.equal(code, 3, out)
  check.matches(out, "\nWithout PyTorch cawb exercise works all the same, and cawb exec%.\n")
  assert(not out:find("bootstrap", 1, true), out)
  check.equal(select(2, out:gsub("%* no Python with PyTorch", "")) + select(2, out:gsub("%* the Python that CAWB_PYTHON names", "")), 1, out)
end)

check.test("a header that the machine lacks is not held against an answer", function()
  local verify = cawb.verify
  for _, reason in ipairs { "its compiler failed (missing): cuda_bf16.h: install it", 'mma.h(55): cannot open source file "crt/mma.h" (install it)' } do
    cawb.verify = function() return { ok = false, stage = "compile", reason = reason } end
    local v, message, name = exercises.judge(list[1], device, { "" }, { plain = true })
    cawb.verify = verify
    check.equal(v, nil)
    check.equal(name, "missing")
    check.matches(message, "install it")
  end
end)

check.test("a mistake of the compiler's is told once", function()
  local out, code = exercise("1 --plain " .. write("mistake.cu", "nonsense words;\n"))
  check.equal(code, 1, out)
  check.matches(out, "wrong %(compile%):\n[^\n]*mistake%.cu%(1%): error")
  check.equal(select(2, out:gsub('identifier "nonsense" is undefined', "")), 1, out)
end)

check.test("what differs in late digits is told with these", function()
  local near = exercises.text(list[1], "solution"):gsub("z%[i%] = ", "z[i] = 1.00004f * "):gsub("1.00004f %* 3 %* x%[i%] %+ y%[i%]", "1.00004f * (3 * x[i] + y[i])")
  local v = assert(exercises.judge(list[1], device, { near }, { plain = true }))[1]
  local got, want = assert(v.reason, core.json.encode(v)):match "got (%S+), want (%S+);"
  assert(got and got ~= want, v.reason)
end)

check.test("a cheat is caught without a class too, by the rule's name and once", function()
  local path = write("clock.cu", (exercises.text(list[1], "solution"):gsub("{", "{ if (clock64() < 0) return;", 1)))
  local out, code = exercise(("1 '%s' --plain --cheat"):format(path))
  check.equal(code, 1, out)
  check.matches(out, "caught by rule clock_reads: its kernels read a clock")
  check.equal(select(2, out:gsub("rule clock_reads", "")), 1, out)
  out, code = exercise(("1 '%s' --plain --cheat"):format(write("honest.cu", exercises.text(list[1], "solution"))))
  check.equal(code, 0, out)
  check.matches(out, "not caught")
end)

-- ---- an exercise of one's own

local mine = dir .. "/mine"
local parts = {
  ["task.py"] = "import torch\n\nn = 4096\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n\n"
    .. "def get_inputs():\n    return [torch.randn(n)]\n\n\ndef get_init_inputs():\n    return []\n",
  ["plan.lua"] = 'launch("relu", { grid = 16, block = 256 }, outputs[1], inputs[1])',
  ["start.cu"] = 'extern "C" __global__ void relu(float *y, const float *x) {}\n',
  ["solution.cu"] = 'extern "C" __global__ void relu(float *y, const float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = fmaxf(x[i], 0); }\n',
  ["exercise.lua"] = 'return { title = "a threshold", about = "Negative elements become 0.", hint = "fmaxf", goals = { { "sectors for each access", most = 4.1, '
    .. 'metric = "sectors_per_request", says = "side by side" } } }',
}
os.execute(("mkdir '%s'"):format(mine))
for name, text in pairs(parts) do write("mine/" .. name, text) end

check.test("an exercise of one's own is named by its folder, and judged as the others are", function()
  check.matches(exercise(mine), "Exercise .*/mine: a threshold.*cawb exercise .*/mine %-%-start mine.cu")
  local out, code = exercise(("'%s' '%s/solution.cu'"):format(mine, mine))
  check.equal(code, 0, out)
  check.matches(out, "/mine is solved")
  check.matches(exercise(("'%s' '%s/solution.cu' --counts"):format(mine, mine)), "count +value.*\nsectors_per_request +4\n.*/mine is solved")
  check.equal(select(2, exercise(("'%s/' '%s/start.cu'"):format(mine, mine))), 1)
  out, code = exercise(("'%s' '%s/start.cu' --class http://127.0.0.1:1 --name A"):format(mine, mine))
  check.equal(code, 2, out)
  check.matches(out, "name one by its number")
end)

check.test("what an exercise of one's own lacks is said", function()
  local function told(name, text)
    write("mine/" .. name, text)
    local out, code = exercise(("'%s' '%s/solution.cu'"):format(mine, mine))
    write("mine/" .. name, parts[name])
    check.equal(code, 2, out)
    return out
  end
  check.matches(told("exercise.lua", (parts["exercise.lua"]:gsub("sectors_per_request", "sectors_per_quest"))), "nothing is counted as 'sectors_per_quest'.*%-%-counts prints")
  check.matches(told("exercise.lua", (parts["exercise.lua"]:gsub("most = 4.1,", ""))), "goal 1 lacks most or least")
  check.matches(told("exercise.lua", "return { title = 'x' }"), "returns no about")
  os.remove(mine .. "/start.cu")
  check.matches(exercise(mine), "start.cu is missing: an exercise has exercise.lua, task.py, plan.lua, start.cu, solution.cu")
  write("mine/start.cu", parts["start.cu"])
  write("mine/task.py", (parts["task.py"]:gsub("relu", "erfinv")))
  check.matches(exercise(("'%s' '%s/solution.cu'"):format(mine, mine)), "without PyTorch torch has no 'erfinv', it has abs, exp,")
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
local typed, alone = server:read "l", server:read "l"

local function send(number, name, path, more) return exercise(("%d '%s' --class %s --name '%s' %s"):format(number, path, url, name, more or "")) end
local function ask(path, body) return check.shell(("curl -s %s '%s%s'"):format(body and "-d '" .. body .. "'" or "", url, path)) end
local function board() return assert(core.json.decode((ask "board"))) end

check.test("a class says what students type, and who can reach it", function()
  check.equal(typed, ("students type: cawb exercise 1 my.cu --class %s --name NAME"):format(url:gsub("/$", "")))
  check.matches(alone, "this machine alone can reach it; %-%-host 0%.0%.0%.0 lets the room in")
end)

check.test("a machine's address for others is that of its way out", function()
  local function host(ip) return ("           |-- %s\n              /32 host LOCAL\n"):format(ip) end
  local addresses = "Main:\n" .. host "127.0.0.1" .. host "172.17.0.1" .. host "192.168.1.40" .. host "10.0.0.7"
  local function route(name, to, gateway, mask) return ("\n%s\t%s\t%s\t0001\t0\t0\t0\t%s\t0\t0\t0"):format(name, to, gateway, mask) end
  local routes = "Iface\tDestination" .. route("wlan0", "00000000", "0101A8C0", "00000000") .. route("docker0", "000011AC", "00000000", "0000FFFF")
    .. route("wlan0", "0001A8C0", "00000000", "00FFFFFF")
  check.equal(address.outside(addresses, routes), "192.168.1.40")
  check.equal(address.outside(addresses, ""), "172.17.0.1")
  check.equal(address.outside(host "127.0.0.1", routes), nil)
end)

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
  check.matches(ask("turn", ('{"name":"A","exercise":"%s","source":""}'):format(mine)), "there is no exercise")
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

-- ---- a room of many machines

local function opened(host)
  local pipe = io.popen(("%s '%s' exercise class --port 0 --host %s --out '%s/guests.jsonl' 2>>'%s/log' & echo $!; wait"):format(bare, core.program, host, dir, dir))
  local number, host_shown, port = pipe:read "l", pipe:read "l":match "//([^:]+):(%d+)/"
  return port, pipe:read "l":match "key=(%x+)", function() os.execute("kill " .. number) pipe:close() end, host_shown
end

local function asked(port, path, headers, body)
  return (check.shell(("curl -s %s %s http://127.0.0.1:%s/%s"):format(body and "-d '" .. body .. "'" or "",
    headers:gsub("[^;]+", "-H '%0'"):gsub(";", " "), port, path)))
end

check.test("other machines reach a class by its address, and its own page may ask; pages of others may not", function()
  local port, teacher, close, at = opened "0.0.0.0"
  check.equal(at, address.outside() or "0.0.0.0")
  local name, body = "192.168.1.40:" .. port, ('{"key":"%s","exercise":3}'):format(teacher)
  check.matches(asked(port, "board", "Host: " .. name), '"students":')
  check.matches(asked(port, "open", ("Host: %s;Origin: http://%s"):format(name, name), body), '"opened":true')
  check.matches(asked(port, "open", ("Host: %s;Origin: http://elsewhere.example"):format(name), body), "refused here")
  close()
end)

check.test("a class of one machine is reached by that machine's names alone, and the teacher's page may open solutions", function()
  local port, teacher, close = opened "127.0.0.1"
  local name, body = "127.0.0.1:" .. port, ('{"key":"%s","exercise":3}'):format(teacher)
  check.matches(asked(port, "board", "Host: 192.168.1.40:" .. port), "refused here")
  check.matches(asked(port, "open", ("Host: %s;Origin: http://%s"):format(name, name), body), '"opened":true')
  close()
end)

return check.done()

-- What an agent can do: its files, and what it may not reach; compile, verify, measure,
-- profile, submit, as they answer.

local check = dofile "tests/support/check.lua"
local agent = dofile "tests/support/agent.lua"
local sessions = require "cawb.agent.session"
local tools = require "cawb.agent.tools"

local dir = check.folder()
local place <close> = agent.open(dir)
local run = place:run { turns = 6, agent = { readable = { "task", "kernels" } } }
local session = assert(sessions.new(run))

local function call(name, arguments) return tools.call(session, name, arguments or {}) end

local function good(pattern, name, arguments)
  local text, failed = call(name, arguments)
  assert(not failed, text)
  check.matches(text, pattern)
end

local function bad(pattern, name, arguments)
  local text, failed = call(name, arguments)
  assert(failed, "it succeeded: " .. text)
  check.matches(text, pattern)
end

check.test("every tool has a description and a schema that names what it needs", function()
  for _, tool in ipairs(tools.list(session)) do
    assert(#tool.description > 10 and tool.parameters.type == "object", tool.name)
    for _, name in ipairs(tool.parameters.required) do assert(tool.parameters.properties[name].description) end
  end
end)

check.test("files are written, read, listed, searched, edited", function()
  good("^kernels/\ntask/softmax.py$", "list")             -- nothing of one's own
  good("wrote kernel.cu: 8 bytes, 2 lines", "write_file", { path = "kernel.cu", text = "one\ntwo\n" })
  good("^    2  two$", "read_file", { path = "kernel.cu", from = 2 })
  good("replaced at line 2", "edit_file", { path = "kernel.cu", old = "two", new = "three three" })
  good("kernel.cu:2: three three", "search", { text = "three" })
  good("kernel.cu\n.*task/softmax.py", "list")
  good("class Model", "read_file", { path = "task/softmax.py" })
  good("kernels/softmax/v1_thread_per_row.cu", "list", { path = "kernels" })
  bad("5 times", "edit_file", { path = "kernel.cu", old = "e", new = "" })
  bad("not in kernel.cu", "edit_file", { path = "kernel.cu", old = "four", new = "" })
  bad("'old' is empty", "edit_file", { path = "kernel.cu", old = "", new = "x" })
  bad("has 2 lines", "read_file", { path = "kernel.cu", from = 9 })
end)

check.test("nothing outside can be read, nothing but one's own written", function()
  for _, path in ipairs { "/etc/passwd", "../x", "a/../../x", "task/../../README.md", ".hidden", "", "~/x", "a\\b", "task/column_sum.py" } do
    local text, failed = call("read_file", { path = path })
    assert(failed, path .. ": " .. text)
    text, failed = call("write_file", { path = path, text = "x" })
    assert(failed, path .. ": " .. text)
  end
  os.execute(("ln -s /etc '%s/etc'; ln -s /etc/hostname '%s/name'"):format(session.folder, session.folder))
  bad("elsewhere", "read_file", { path = "etc/passwd" })
  bad("elsewhere", "read_file", { path = "name" })
  bad("elsewhere", "write_file", { path = "etc/x", text = "x" })
  bad("elsewhere", "write_file", { path = "name", text = "x" })
  bad("can be read, and not written", "write_file", { path = "kernels/softmax/v1_thread_per_row.cu", text = "" })
  bad("at most", "write_file", { path = "big", text = ("x"):rep((1 << 20) + 1) })
  os.execute(("rm '%s/etc' '%s/name'"):format(session.folder, session.folder))
end)

check.test("what a model gets wrong is told to it", function()
  bad("there is no tool 'complie' %(did you mean 'compile'", "complie")
  bad("'path' is missing", "read_file")
  bad("'from' must be a integer, got string", "read_file", { path = "kernel.cu", from = "one" })
  bad("unknown argument 'file' %(known: from", "read_file", { path = "x", file = "x" })
  bad("arguments are an object", "read_file", "kernel.cu")
end)

local source, plan = agent.rung "softmax/v3_shuffle"

check.test("compile: what is missing, what is wrong and where, what it uses", function()
  call("write_file", { path = "kernel.cu", text = "x" })
  bad("there is no plan.lua yet", "compile")
  call("write_file", { path = "plan.lua", text = plan })
  call("write_file", { path = "kernel.cu", text = "extern \"C\" __global__ void softmax(float *y) {\n  y[0] = nothing;\n}\n" })
  bad("FAILED at compile: .*nothing.*\n>    2 |   y%[0%] = nothing;", "compile")
  call("write_file", { path = "kernel.cu", text = source })
  good("OK, .*softmax: %d+ registers, .*no spills\nstep 1: kernel softmax, grid 16x1x1, block", "compile")
end)

check.test("verify: right, or wrong with the place; no turn is spent", function()
  good("OK: right on 5 inputs", "verify")
  good("OK: right on 1 inputs", "verify", { trials = 1 })
  call("write_file", { path = "kernel.cu", text = check.edit(source, "* scale;", "* scale * 1.01f;") })
  bad("^FAILED at verify: outputs%[1%] is wrong", "verify")
  check.equal(#run.turns, 0)
end)

check.test("measure: a turn; the same again is not one", function()
  bad("^FAILED at verify: .*reward %-1\nNothing has passed yet", "measure", { note = "a wrong one" })
  call("write_file", { path = "kernel.cu", text = source })
  good("^PASS: .*us modelled; .*the speed of eager PyTorch.*reward %-?%d", "measure", { note = "the good one" })
  local n = #run.turns
  check.equal(run.turns[n].note, "the good one")
  assert(session:read "best/kernel.cu" == source)
  good("The same candidate as turn " .. n, "measure")
  check.equal(#run.turns, n)
end)

check.test("profile: what limits it and what to try", function()
  good("modelled.*\n1%. skill [%w-]+: ", "profile")
  good("kernel.cu:%d+", "profile", { lines = true })
end)

check.test("skill: a page by its name, some to choose from by words", function()
  good("^# Coalesced access", "skill", { question = "coalesced-access" })
  good("^Ask for one of these by its name:\n[%w-]+ %(%d%): ", "skill", { question = "shared memory bank conflicts" })
  bad("no skill answers that", "skill", { question = "xyzzy plugh" })
end)

check.test("long results are cut in the middle", function()
  call("write_file", { path = "long", text = ("line\n"):rep(10000) })
  local text = call("read_file", { path = "long" })
  assert(#text < 6100, #text)
  check.matches(text, "bytes left out")
end)

check.test("submit ends it", function()
  good("Submitted", "submit", { note = "shuffles" })
  assert(session.submitted)
end)

check.test("compose: what the compiler makes is written and shown; a schedule changes it; a wrong one is told", function()
  local turns = #run.turns
  local page = call("compose", {})
  check.matches(page, "rows +_softmax")
  check.matches(page, "modelled time +share of peak bandwidth")
  check.matches(page, 'step 1 is kernel "[%d.]+" of the schedule; modelled: .- is the longest part')
  check.matches(page, "graph:\n  [%d.]+ reduce max of _softmax %(line %d+%), %[16%], step 1")
  check.matches(page, "schedule = {}")
  check.matches(page, "written: kernel.cu, plan.lua")
  local key = assert(page:match 'step 1 is kernel "([%d.]+)"')
  good("schedule = { kernels = { %[", "compose", { schedule = ("{ kernels = { [%q] = { lanes = 32 } } }"):format(key) })
  good("OK: right on", "verify", { trials = 1 })
  bad("schedule: there is no 'tile'", "compose", { schedule = "{ tile = 3 }" })
  check.equal(#run.turns, turns)
end)

return check.done()

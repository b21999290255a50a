-- The tool shell: what a command can do in its jail, and what it cannot, in a jail of every level
-- that this machine has. What is refused inside is done outside first, or it would show nothing.

local check = dofile "tests/support/check.lua"
local agent = dofile "tests/support/agent.lua"
local core = require "cawb.core"
local shell_jail = require "cawb.agent.shell_jail"
local sessions = require "cawb.agent.session"
local tools = require "cawb.agent.tools"

local dir = check.folder()
local place <close> = agent.open(dir)

local function session_with(set)
  return assert(sessions.new(place:run { agent = { shell = true, readable = { "task", "kernels" } }, shell = set }))
end

local function outside(command)
  local _, status = check.shell(command .. " >/dev/null 2>&1")
  return status
end

check.test("it is off, and there then is no such tool", function()
  local s = assert(sessions.new(place:run {}))
  for _, tool in ipairs(tools.list(s)) do assert(tool.name ~= "shell") end
  local text, failed = tools.call(s, "shell", { command = "true" })
  assert(failed)
  check.matches(text, "there is no tool 'shell'")
end)

check.test("no jail: it refuses, and says what to do", function()
  local real = core.child.new
  core.child.new = function() return nil, "not here", "unsupported" end
  local text, failed = tools.call(session_with { jail = "landlock" }, "shell", { command = "true" })
  core.child.new = real
  assert(failed)
  check.matches(text, "^refused: .*no jail.*landlock: not here.*other tools.*agent%.shell=false")
end)

-- ---- in a jail of one level

local function tests_of(level)
  local session = session_with { jail = level }
  local probe, message = shell_jail.run("true", { folder = session.folder, jail = level, seconds = 10.0, memory = 1 << 30, disk = 1 << 20,
    file = 1 << 20, processes = 16, most = 1000 })
  if not probe then
    print(("skip %s: %s"):format(level, message))
    return 0
  end
  -- Without namespaces root's processes are not counted, and a folder nobody can reach stays root's.
  local counted = level == "namespaces" or check.shell("id -u"):match "%d+" ~= "0"

  local function test(name, body) check.test(level .. ": " .. name, body) end
  local function call(command, s) return tools.call(s or session, "shell", { command = command }) end
  local function good(pattern, command)
    local text, failed = call(command)
    assert(not failed, command .. ": " .. text)
    check.matches(text, pattern)
    return text
  end
  -- It works outside, and not inside.
  local function denied(command)
    check.equal(outside(command), 0, command)
    local text, failed = call(command)
    assert(failed, command .. ": " .. text)
    check.matches(text, "^exit status [1-9]")
  end

  test("commands run in the workspace, what they write stays, and the other tools have it", function()
    good("^exit status 0\nhello$", "echo hello > notes.txt && mkdir -p sub && echo deep > sub/x && cat notes.txt")
    check.equal(session:read "notes.txt", "hello\n")
    check.equal(session:read "sub/x", "deep\n")
    assert(session:write("kernel.cu", "one\ntwo\n"))
    good("^exit status 0, nothing printed$", "sed -i s/two/three/ kernel.cu")
    check.equal(session:read "kernel.cu", "one\nthree\n")
    assert(session:write("sub/y", "more"))            -- the folder is still ours
    good("class Model", "cat \"$TASK\"")
    good("v3_shuffle.cu", "ls \"$KERNELS/softmax\"")
    good("temporary", "f=$(mktemp) && echo temporary > $f && cat $f && rm $f")
  end)

  test("a folder above it that only its owner may enter", function()
    local closed, open = dir .. "/closed", dir .. "/open"      -- of every level: a jail may find the folder given to another user
    for _, path in ipairs { closed, closed .. "/work", closed .. "/shown", open } do assert(core.fs.mkdir(path)) end
    check.write(closed .. "/shown/task.py", "class Model")
    check.write(closed .. "/work/kernel.cu", "one\n")
    assert(select(2, check.shell("chmod 700 " .. closed)) == 0)
    for _, folder in ipairs { closed .. "/work", open, closed .. "/work" } do
      local r = assert(shell_jail.run(("cat %s/shown/task.py && echo two >> kernel.cu && mkdir -p sub && echo x > sub/y && cat sub/y"):format(closed),
        { folder = folder, show = { closed .. "/shown" }, jail = level, seconds = 10.0, memory = 1 << 30, disk = 1 << 20,
          file = 1 << 20, processes = 4096, most = 1000 }))      -- those of its user outside count too
      check.equal(("%d %s"):format(r.status, r.text), "0 class Modelx")
    end
    assert(assert(io.open(closed .. "/work/kernel.cu")):read "a" == "one\ntwo\ntwo\n")
  end)

  test("a status that is none of 0 is a failure, with what was printed", function()
    local text, failed = call "echo to the error output >&2; exit 7"
    assert(failed)
    check.equal(text, "exit status 7\nto the error output")
    check.matches((call "kill -9 $$"), "^exit status 137")
    check.matches((call "no_such_program"), "^exit status 127")
  end)

  test("nothing outside is written", function()
    for _, path in ipairs { dir .. "/outside", "/var/tmp/cawb-test-shell", session.folder .. "/../beside" } do
      local command = ("echo x > '%s'"):format(path)
      check.equal(outside(command), 0, command)
      os.remove(path)
      call(command)                       -- a /tmp of its own may take it
      assert(not core.fs.kind(path), path)
    end
    call("echo x > /usr/cawb-test-shell; echo x > \"$TASK\"; rm -rf \"$KERNELS/softmax\"; echo x > /tmp/cawb-test-shell; echo x > /dev/shm/cawb-test-shell")
    for _, path in ipairs { "/usr/cawb-test-shell", "/tmp/cawb-test-shell", "/dev/shm/cawb-test-shell" } do
      assert(not core.fs.kind(path), path)
    end
    assert(core.fs.kind "kernels/softmax/v1_thread_per_row.cu" and #assert(io.open "examples/softmax.py"):read "a" > 100)
    call("ln -s " .. dir .. "/through link; echo x > link")
    assert(not core.fs.kind(dir .. "/through"))
  end)

  test("the store, other runs, the judge's files and its keys are not to be read", function()
    check.write(dir .. "/key", "secret")
    assert(core.fs.kind(dir .. "/runs/store.sqlite") == "file")
    for _, path in ipairs { dir .. "/key", dir .. "/runs/store.sqlite", core.home .. "/lua/cawb/init.lua",
                            core.home .. "/tests/agent/cassettes/react_softmax.jsonl", "/etc/hostname" } do
      denied(("cat '%s'"):format(path))
    end
    check.write(session.folder .. "/../beside.txt", "of the run")
    local text = call(("ls '%s/..'"):format(session.folder))
    assert(not text:find "beside.txt", text)
    denied("cat /proc/" .. assert(io.open "/proc/self/stat"):read "n" .. "/environ")
  end)

  test("its environment has nothing of the judge's", function()
    local allowed = { PATH = true, LANG = true, HOME = true, TMPDIR = true, USER = true, LOGNAME = true, TASK = true,
                      KERNELS = true, PWD = true, OLDPWD = true, SHLVL = true, _ = true }
    for name in good("^exit status 0", "env"):gmatch "\n([%w_]+)=" do assert(allowed[name], name .. " is in the environment") end
    local inherited = 0
    for name in check.shell("env"):gmatch "([%w_]+)=" do inherited = inherited + (allowed[name] and 0 or 1) end
    assert(inherited > 0, "the judge has nothing that could be seen")
    local text = call "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"
    for name in text:gmatch "\n([%w_]+)=" do assert(allowed[name], name .. " is in some process's environment") end
  end)

  local perl = core.fs.kind "/usr/bin/perl"
  if perl then
    test("no sockets", function()
      for _, family in ipairs { 1, 2 } do            -- AF_UNIX, AF_INET
        denied(("perl -e 'socket(my $s, %d, 1, 0) or exit 1'"):format(family))
      end
    end)
  end

  local function sleepers(mark)
    return (check.shell(("ps -eo args= | grep -c '[s]leep %s'"):format(mark)):gsub("%s", ""))
  end
  local function gone(mark)
    local deadline = core.clock.now() + 5
    while sleepers(mark) ~= "0" and core.clock.now() < deadline do core.clock.sleep(0.01) end
    check.equal(sleepers(mark), "0", "processes left")
  end

  test("what it leaves in the background ends with it", function()
    good("begun", "sleep 98761 & (setsid sleep 98761 || sleep 98761) & (trap '' TERM HUP; nohup sleep 98761) & echo begun")
    gone "98761"
  end)

  test("at the deadline it is stopped, with all that it started", function()
    local text, failed = call("echo early; sleep 98762 & sleep 98762", session_with { jail = level, seconds = 0.5 })
    assert(failed)
    check.matches(text, "^stopped after 0.5 s, with all that it started\nearly")
    gone "98762"
  end)

  if counted then
    test("a fork bomb stays small, and ends", function()
      local text = call("f() { f | f & }; f; sleep 98763", session_with { jail = level, seconds = 1.0, processes = 24 })
      check.matches(text, "^[se]")
      gone "98763"
      local more = call("i=0; while [ $i -lt 60 ]; do sleep 98764 & i=$((i+1)); done; echo all",
        session_with { jail = level, processes = 24 })
      assert(not more:find "\nall$", more)
      gone "98764"
    end)
  end

  test("endless output is cut in the middle, and ends", function()
    local text = call("echo first; yes 0123456789; echo last", session_with { jail = level, seconds = 20.0 })
    assert(#text < 6000, #text)
    check.matches(text, "\nfirst\n0123456789\n.*%[%.%.%. %d+ bytes left out %.%.%.%].*%[it printed more, which is lost%]")
    text = good("\n1\n2\n.* bytes left out .*\n99999\n100000$", "seq 100000")
    assert(not text:find "lost")
    good("^exit status 0\n%?x%?$", "printf '\\000x\\377'")
  end)

  test("memory and files have limits", function()
    local small = session_with { jail = level, memory = 256 << 20, file = 1 << 20 }
    local _, failed = call("head -c 2000000 /dev/zero > large", small)
    assert(failed)
    local size = tonumber((call("wc -c < large", small)):match "\n(%d+)")
    assert(size <= 1 << 20, size)
    if perl then
      local allocate = "perl -e '$x = \"x\" x (1 << 29)'"
      check.equal(outside(allocate), 0)
      _, failed = call(allocate, small)
      assert(failed)
    end
  end)

  test("a disk has room for others: what fills the workspace is stopped, and can be removed", function()
    local small = session_with { jail = level, disk = 4 << 20, file = 1 << 20 }
    for _, fill in ipairs { "i=0; while [ $i -lt 40 ]; do head -c 900000 /dev/zero > f$i; i=$((i+1)); done",
                            "i=0; while [ $i -lt 9000 ]; do : > f$i; i=$((i+1)); done",
                            "mkdir f0; cd f0; i=0; while [ $i -lt 70 ]; do mkdir d; cd d; i=$((i+1)); done" } do
      local text, failed = call(fill .. "; sleep 98765", small)
      assert(failed)
      check.matches(text, "^stopped: the workspace holds more than its 4 MB; remove")
      gone "98765"
      call("rm -rf f*", small)
      assert(core.fs.usage(session.folder) < 1 << 20)
    end
  end)

  test("links that it makes lead the judge nowhere", function()
    check.write(dir .. "/aim", "untouched")
    call(("ln -sf %s/aim aim; ln -sf %s/new new; ln -sf %s folder; mkfifo pipe"):format(dir, dir, dir))
    for _, path in ipairs { "aim", "new", "folder/new", "folder/made/new", "pipe" } do
      local ok = session:write(path, "x")
      assert(not ok, path .. " was written")
    end
    for _, path in ipairs { "aim", "folder/aim", "pipe" } do assert(not session:read(path), path .. " was read") end
    assert(not core.fs.kind(dir .. "/new") and not core.fs.kind(dir .. "/made"))
    check.equal(assert(io.open(dir .. "/aim")):read "a", "untouched")
    call(("rm -f kernel.cu; ln -s %s/aim kernel.cu; echo x > plan.lua"):format(dir))
    local c, why = session:candidate()
    assert(not c)
    check.matches(why, "kernel.cu lies elsewhere")
    call "rm -f kernel.cu plan.lua aim new folder pipe"
  end)
  return 1
end

assert(tests_of "namespaces" + tests_of "landlock" > 0, "this machine has no jail at all: nothing was tested")

return check.done()

-- A run loses nothing, and says where it is: interruptions and resumption, output that cannot be
-- written, budgets of a model, texts that are no UTF-8, modules beside a task.

local check = dofile "tests/support/check.lua"
local agent = dofile "tests/support/agent.lua"
local afford = require "cawb.agent.afford"
local core = require "cawb.core"

local dir = check.folder()
local cawb = ("'%s'"):format(core.program)
local small = " --device sim:h100 --set task.rows=16 --set task.cols=64 --set sweep.variants=2"

local function run(words, env)
  local out, status = check.shell(("%s %s %s --out %s/runs 2>%s/err"):format(env or "", cawb, words, dir, dir))
  return out, status, assert(io.open(dir .. "/err")):read "a"
end

local function events_of(id)
  local store <close> = assert(core.store.open(dir .. "/runs"))
  local kinds = {}
  for i, e in ipairs(store:query("select kind from events where run = ? order by number", id)) do kinds[i] = e.kind end
  return kinds
end

check.test("an interrupted run is resumed under its name: nothing is evaluated twice", function()
  local rungs = [[local rungs = { "v1_thread_per_row", "v2_block_per_row", "v3_shuffle" }]]
  local path = check.write(dir .. "/climb.lua", rungs .. [[
    local cawb = require "cawb"
    return { step = function(run)
      local at = run.memory
      at.n = (at.n or 0) + 1
      if at.n > #rungs then return false end
      run:evaluate(assert(cawb.candidate("kernels/softmax/" .. rungs[at.n])))
      if os.getenv "STOP" and #run.turns == 2 then
        io.popen("kill -HUP " .. io.open("/proc/self/stat"):read "n"):close()
      end
      return true
    end }]])
  local out, status = run(path .. " examples/softmax.py" .. small, "STOP=1")
  check.equal(status, 130, out)                       -- SIGHUP is as Ctrl-C
  local id = assert(out:match "go on with %-%-resume (%S+)", out)
  check.matches(check.shell(("%s watch %s/runs --once"):format(cawb, dir)), "no run is in progress")
  check.equal(events_of(id)[1], "paused")
  out, status = run(("%s examples/softmax.py --resume %s --json --quiet"):format(path, id) .. small)
  check.equal(status, 0, out)
  local r = assert(core.json.decode(out))
  check.equal(r.run, id)
  check.equal(#r.turns, 3)
  check.equal(r.turns[3].name, "softmax/v3_shuffle")
  assert(r.spent.turns == 3 and r.spent.seconds > 0)
  check.equal(core.fs.kind(("%s/runs/locks/run-%s"):format(dir, id)), nil)
  local _, code, err = run(("%s examples/softmax.py --resume %s"):format(path, id) .. small)
  check.equal(code, 2)
  check.matches(err, "has ended")
end)

check.test("a run that another process has is under way, and is not resumed", function()
  local script = check.write(dir .. "/inside.lua", ([[
    return { step = function(run)
      local function shell(words) return io.popen(words .. " 2>&1"):read "a" end
      print(shell("%s watch %s/runs --once"))
      print(shell("%s ladder examples/softmax.py --device sim:h100 --out %s/runs --resume " .. run.id))
      return false
    end }]]):format(cawb, dir, cawb, dir))
  local out, status = run(script .. " examples/softmax.py" .. small)
  check.equal(status, 1)
  check.matches(out, "softmax.py +inside.lua +sim:h100 +0 of 20")
  check.matches(out, "is under way: another process has it")
  check.matches(out, "recorded in %S+/runs as run %S+softmax")        -- without a best one, too
end)

check.test("output that cannot be written: a status that is not 0, and what is kept", function()
  for _, words in ipairs { "help >/dev/full", ("watch %s/runs --once >/dev/full"):format(dir), "help >&-" } do
    local out, status = check.shell(("%s %s 2>%s/err"):format(cawb, words, dir))
    check.equal(status, 3, words .. out)
    check.matches(assert(io.open(dir .. "/err")):read "a", "could not all be written")
  end
end)

check.test("a task's path may be any bytes; what is recorded is UTF-8", function()
  local folder = dir .. "/b\xff"
  assert(core.fs.mkdir(folder))
  check.write(folder .. "/t.py", assert(io.open "examples/softmax.py"):read "a")
  local out, status, err = run(("ladder '%s/t.py' --json --quiet --set turns=1"):format(folder) .. small)
  check.equal(status, 0, err)
  assert(utf8.len(out), "no UTF-8")
  check.matches(assert(core.json.decode(out)).task.path, "/b%?/t.py$")
  check.equal(core.json.encode { "a\xffb", ["k\xfe"] = nil }, '["a?b"]')
  check.equal(core.json.encode { ["k\xfe"] = 1 }, '{"k?":1}')
end)

check.test("a module that is missing is named with the Python that it is missing from", function()
  local task = check.write(dir .. "/needs.py", "import nosuchmodule\n")
  local _, status, err = run("ladder --device sim:h100 " .. task)
  check.equal(status, 2)
  check.matches(err, "needs.py:1: ModuleNotFoundError: No module named 'nosuchmodule'; install it into %S*python")
end)

check.test("a deadline that passed is called one", function()
  local _, status, err = run("ladder examples/softmax.py --set deadlines.task=0.001" .. small)
  check.equal(status, 3)
  check.matches(err, "the task host did not answer within 0.001 s")
end)

check.test("a suite runs a task's file where it lies, beside the modules that it imports", function()
  local folder = dir .. "/suite"
  assert(core.fs.mkdir(folder))
  check.write(folder .. "/beside.py", "import sizes\n" .. assert(io.open "examples/softmax.py"):read "a")
  check.write(folder .. "/sizes.py", "")
  local _, status, err = run(("bench ladder %s --name beside --set turns=1"):format(folder) .. small)
  check.equal(status, 0, err)
end)

check.test("a strategy that asks a model is told at once that none is named, or that its price is unknown", function()
  local _, status, err = run("react examples/nosuch.py --device sim:h100")
  check.equal(status, 2)
  check.matches(err, "react asks a language model, and none is named")
  _, status, err = run "react examples/softmax.py --device sim:h100 --set model.name=mine --set budget.dollars=1"
  check.equal(status, 2)
  check.matches(err, "the price of 'mine' is not known: set model.price.input and model.price.output")
end)

check.test("a reply may be as long as what is left pays for", function()
  local model = { name = "mine", price = { input = 2, output = 10 } }
  check.equal(afford.reply(model, 100, {}), nil)
  check.equal(afford.reply(model, 100, { tokens = 350 }), 250)
  check.equal(afford.reply(model, 100, { dollars = 0.0012 }), 100)        -- 0.0002 for the request
  check.equal(afford.reply(model, 100, { tokens = 150, dollars = 0.0012 }), 50)
  local most, short = afford.reply(model, 100, { tokens = 100, dollars = 1 })
  assert(most == false and short == "tokens")
  local messages = { { text = ("x"):rep(1000) } }
  assert(afford.tokens_of(messages) >= 500 and afford.tokens_of(messages, nil, 0.9) >= 900)
end)

check.test("a suite's total of tokens is kept: what is left is the next task's budget, then none begins", function()
  local source, plan = agent.rung "softmax/v3_shuffle"
  local tape = agent.cassette(dir, "total", { { ("```cuda\n%s```\n\n```lua\n%s```\n"):format(source, plan),
    usage = { input = 90000, output = 9000, cached = 0, written = 0, reasoning = 0 } } })
  local folder = dir .. "/total"
  assert(core.fs.mkdir(folder))
  for _, name in ipairs { "a", "b", "c" } do
    check.write(("%s/%s.py"):format(folder, name), assert(io.open "examples/softmax.py"):read "a")
  end
  local out, status, err = run(("bench single %s --tokens 100000 --set cassette.replay=%s"):format(folder, tape) .. small)
  check.equal(status, 0, err)                         -- the second has 1,000 tokens, less than its prompt may have
  check.matches(out, "models: 1 reply, 99k tokens")
  check.matches(out, "3 of 3 tasks: 2 no candidate, 1 pass")
  check.matches(err, "the next request may have %d+ tokens, more than budget.tokens leaves room for")
  out, status, err = run(("bench single %s --tokens 99000 --set cassette.replay=%s --set turns=2"):format(folder, tape) .. small)
  check.equal(status, 1, err)
  check.matches(err, "is spent; 2 tasks were not begun")
end)

check.test("SIGTERM is as Ctrl-C: what was measured is kept", function()
  local step = check.write(dir .. "/term.lua", [[
    local c = assert(require "cawb".candidate "kernels/softmax/v2_block_per_row")
    return { step = function(run)
      run:evaluate(c)
      io.popen("kill -TERM " .. io.open("/proc/self/stat"):read "n"):close()
      return true
    end }]])
  local out, status = run(step .. " examples/softmax.py --json --quiet" .. small)
  check.equal(status, 130, out)
  local r = core.json.decode(out:match "[^\n]*$") or core.json.decode(out)
  check.equal(r.ended, "interrupted")
  assert(#r.turns == 1 and r.best == 1)
end)

check.test("a reader that goes away is no success, and the run is kept", function()
  local script = check.write(dir .. "/talks.lua", [[
    local c = assert(require "cawb".candidate "kernels/softmax/v2_block_per_row")
    return { step = function(run)
      for i = 1, 20000 do print(("line %d of many"):format(i)) end
      run:evaluate(c)
      return false
    end }]])
  local out = check.shell(("bash -c '\"%s\" %s examples/softmax.py --out %s/talks%s 2>%s/err | head -1 >/dev/null; echo ended with ${PIPESTATUS[0]}'")
    :format(core.program, script, dir, small, dir))
  check.matches(out, "ended with 3")
  check.matches(assert(io.open(dir .. "/err")):read "a", "could not all be written")
  local store <close> = assert(core.store.open(dir .. "/talks"))
  check.equal(store:query("select count(*) as n from turns")[1].n, 1)
end)

check.test("whatever a candidate makes a compiler print, records and exports are UTF-8", function()
  local script = check.write(dir .. "/bytes.lua", [[
    local c = require "cawb".candidate { source = "#error caf\xE9 \xFF\xFE\n", plan = "launch('k', { grid = 1, block = 1 })" }
    return { step = function(run) run:evaluate(c) return false end }]])
  run(script .. " examples/softmax.py --quiet" .. small)
  local store <close> = assert(core.store.open(dir .. "/runs"))
  local seen = 0
  for _, row in ipairs(store:query "select * from turns") do
    for name, value in pairs(row) do
      if type(value) == "string" and name ~= "data" then
        assert(utf8.len(value), name)
        if value:find("caf", 1, true) then seen = seen + 1 end
      end
    end
  end
  assert(seen > 0, "what the compiler said is not in the record")
  local out, status = check.shell(("%s export --all --trajectory --out %s/runs 2>&1"):format(cawb, dir))
  check.equal(status, 0, out)
  assert(utf8.len(out) and out:find("caf", 1, true), "an export that is no UTF-8")
end)

return check.done()

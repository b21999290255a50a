-- The agent: whole runs of strategies/react.lua from cassettes, on the simulated device; how
-- they end, and what they leave.

local check = dofile "tests/support/check.lua"
local agent = dofile "tests/support/agent.lua"
local context = require "cawb.agent.context"
local core = require "cawb.core"

local dir = check.folder()
local place <close> = agent.open(dir)
local source, plan = agent.rung "softmax/v3_shuffle"
local files = { "Files.", { "write_file", { path = "kernel.cu", text = source } }, { "write_file", { path = "plan.lua", text = plan } } }
local measure, submit = { "Measure.", { "measure", { note = "n" } } }, { "Done.", { "submit" } }

-- A run from replies: the run, and its result.
local function react(replies, set)
  set = set or {}
  set.model, set.cassette = set.model or {}, { replay = agent.cassette(dir, "talk", replies) }
  set.model.name = "hand"
  return place:finish(set, "react")
end

-- One as a user starts it: its JSON object, exit status, what was printed.
local function program(cassette, words)
  local out, status = check.shell(("'%s' strategies/react.lua examples/softmax.py --device sim:h100 --json --quiet "
    .. "--set model.name=hand --set cassette.replay=%s --out %s/runs %s 2>%s/err"):format(core.program, cassette, dir,
    words or "", dir))
  return core.json.decode(out:match "([^\n]+)\n?$" or ""), status, assert(io.open(dir .. "/err")):read "a"
end

local function store_events(id)
  local store = assert(core.store.open(dir .. "/runs"))
  local rows = assert(store:query("SELECT turn, data FROM events WHERE run = ? ORDER BY number", id))
  for _, row in ipairs(rows) do row.data = core.json.decode(row.data) end
  store:close()
  return rows
end

-- Long rows on a twelfth of an H100, 11 multiprocessors: as many rows of half a megabyte are more
-- at a time than L2 holds, so PyTorch reads them two or three times from memory, as it was measured
-- to on an H100; a cluster that keeps its row reads it once.
local long = "--device sim:h100/12 --set task.rows=11 --set task.cols=131072 --set verify.trials=1 "
  .. "--set verify.battery_bytes=1 --set confirm.trials=1 --set sweep.variants=1"

local function complete()
  local r, status, err = program("tests/agent/cassettes/react_softmax.jsonl", long)
  check.equal(status, 0, err)
  check.equal(#r.turns, 4)
  check.equal(r.turns[1].reward, 1)
  check.equal(r.turns[2].stage, "verify")
  check.equal(r.turns[3].reward, 1)
  check.equal(r.turns[4].reward, 3)
  check.equal(r.turns[4].modelled, true)
  check.equal(r.best, 4)
  check.equal(r.spent.replies, 9)
  local all, failed, rewards = store_events(r.run), 0, {}
  for _, e in ipairs(all) do
    if e.data.role == "tool" and e.data.text:find "FAILED at compile: kernel.cu%(8%): error: expected a \";\"" then failed = failed + 1 end
    if e.turn then rewards[e.turn] = e.data.reward end
  end
  check.equal(failed, 1)
  for i, turn in ipairs(r.turns) do check.equal(rewards[i], turn.reward) end
  check.equal(all[1].data.role, "system")
  check.matches(all[1].data.text, "def forward%(self, x%)")
  assert(not all[1].data.text:find "{{")
end

if not os.getenv "CAWB_TEST_BRIEF" then      -- minutes under sanitizers
  check.test("a complete run: a compile error, a wrong kernel, a slow one, a good one, reward 3", complete)
end

check.test("a replayed run is the same run, to the last digit", function()
  local cassette = agent.cassette(dir, "same", { files, measure, submit })
  local function digest()
    local r = program(cassette, "--set task.rows=16 --set task.cols=64 --set sweep.variants=2 --seed 7")
    for _, turn in ipairs(r.turns) do               -- what it cost may differ
      turn.seconds, turn.spent.seconds, turn.spent.device_seconds = nil, nil, nil
    end
    local messages = {}
    for i, e in ipairs(store_events(r.run)) do
      e.data.seconds = nil
      messages[i] = core.json.encode(e.data)
    end
    return core.json.encode(r.turns) .. table.concat(messages, "\n")
  end
  assert(digest() == digest(), "they differ")
end)

check.test("each budget ends the run by its name, and leaves the best", function()
  local cheap = { input = 25000, output = 500, cached = 0, written = 0, reasoning = 0 }
  local write, first = { files[1], files[2], files[3], usage = cheap }, { measure[1], measure[2], usage = cheap }
  local replies = { write, first, { "Look.", { "list" }, usage = cheap }, { "Look.", { "list" }, usage = cheap },
                    { "Worse.", { "edit_file", { path = "kernel.cu", old = "* scale;", new = "* 2 * scale;" } }, { "measure" } }, submit }
  for name, set in pairs { replies = { budget = { replies = 3 } }, tokens = { budget = { tokens = 60000 } },
    dollars = { budget = { dollars = 0.06 }, model = { price = { input = 1, output = 1 } } },
    no_progress = { budget = { no_progress = 1 } }, device_seconds = { budget = { device_seconds = 0.001 } }, turns = { turns = 1 } } do
    local run, r = react(replies, set)
    check.equal(r.ended, name)
    check.equal(r.best, 1, name)
    check.equal(core.fs.kind(r.folder .. "/kernel.cu"), "file")
    local spent = run:spent()
    assert(spent[name] > 0)
    if set.budget then assert(spent[name] <= math.max(set.budget[name], name == "device_seconds" and math.huge or 0), name) end
  end
end)

check.test("what a model does wrong is told to it, and the run goes on", function()
  local run, r = react { { "", { "launch_missiles" } }, { "", { "measure", { notes = "x" } } }, { "I will think about it." },
                         files, measure, submit }
  check.equal(r.best, 1)
  local told = {}
  for _, e in ipairs(place:events(run)) do told[#told + 1] = e.data.role ~= "assistant" and e.data.text or "" end
  local text = table.concat(told, "\n")
  check.matches(text, "there is no tool 'launch_missiles'")
  check.matches(text, "unknown argument 'notes' %(did you mean 'note'")
  check.matches(text, "Call a tool, or submit")
end)

check.test("a model with nothing to do ends the run", function()
  local talk = { "Hm." }
  local _, r = react { files, measure, talk, talk, talk, talk }
  check.equal(r.ended, "gave up")
  check.equal(r.best, 1)
  check.matches(r.reason, "^3 replies in a row called no tool: react needs an endpoint with tool calls; ")
end)

check.test("a real model of 135 million parameters, which repeats its instructions until it is cut, comes to the run's end", function()
  local out, status = check.shell(("'%s' react examples/gelu.py --device sim:h100 --json --quiet --set task.rows=16 --set task.cols=64 --set model.name=smollm2 "
    .. "--set model.tools=text --set cassette.replay=tests/agent/cassettes/react_smollm2.jsonl --out %s/smollm2"):format(core.program, dir))
  local r = core.json.decode(out:match "([^\n]+)\n?$" or "")
  check.equal(status, 1)
  check.equal(r.ended, "gave up")
  check.equal(r.best, nil)
  check.equal(r.spent.replies, 3)
  check.matches(r.reason, "^3 replies in a row had no call of a tool, which react needs; ")
end)

check.test("a report says of each run which strategy it was, and why it has no candidate", function()
  local talk = { "I cannot." }
  local store = dir .. "/mute"
  for _, name in ipairs { "single", "react" } do
    check.shell(("'%s' %s examples/softmax.py --device sim:h100 --set task.rows=16 --set task.cols=64 --quiet --set model.name=hand "
      .. "--set cassette.replay='%s' --out '%s'"):format(core.program, name, agent.cassette(dir, "mute", { talk, talk, talk }), store))
  end
  local text = check.shell(("'%s' report '%s' --markdown"):format(core.program, store))
  check.matches(text, "| softmax.py by single | %- | no candidate: 3 replies in a row held no candidate; of the last: There is no block")
  check.matches(text, "| softmax.py by react | %- | no candidate: 3 replies in a row called no tool")
end)

check.test("a model that writes the same call without end, or calls that cannot be read, ends the run", function()
  local look, open = { "", { "list" } }, { "", { "measure", bad = "the call is not closed with </call>" } }
  local run, r = react { files, measure, look, look, look, look, submit }
  check.equal(r.ended, "gave up")
  check.equal(r.best, 1)
  check.matches(r.reason, "^3 replies in a row held no new call")
  local last = ""
  for _, e in ipairs(place:events(run)) do if e.data.role == "tool" then last = e.data.text end end
  check.matches(last, "last call, too")
  _, r = react { open, open, open, submit }
  check.matches(r.reason, "^3 replies in a row held no new call")
  _, r = react { look, { "", { "measure" } }, look, { "", { "measure" } }, look, files, measure, submit }
  check.equal(r.best, 1, "it does something else between them")
end)

check.test("a model without tools may write both files in its reply", function()
  local reply = { ("Here.\n```cuda\n%s```\n```lua\n%s```\n"):format(source, plan) }
  local _, r = react { reply, reply, { "Done." }, { "Done." } }
  check.equal(#r.turns, 1, "the same again is no turn")
  check.equal(r.best, 1)
  check.equal(r.ended, "gave up")
  check.equal(r.turns[1].note, "written in a reply")
end)

check.test("an agent begins with what compose makes and tries another schedule; the faster one is the best", function()
  local talk = "tests/agent/cassettes/react_compose.jsonl"
  local r, status, err = program(talk, "--set settings.start=compose --set task.rows=64 --set task.cols=256 --set verify.trials=1")
  check.equal(status, 0, err)
  check.equal(#r.turns, 2)
  check.equal(r.turns[1].note, "what compose makes")
  assert(r.turns[1].ok and r.turns[2].ok and r.turns[1].hash ~= r.turns[2].hash)
  check.equal(r.best, r.turns[2].time_s.median < r.turns[1].time_s.median and 2 or 1)
  check.equal(r.ended, "submitted")
  local _, wrong = program(talk, "--set settings.start=ladder")
  check.equal(wrong, 1)
end)

check.test("failures of the endpoint: those that may pass are outlived, the others end the run with its best", function()
  local _, r = react { { error = { "empty", "nothing" } }, { error = { "context", "too long" } }, files,
    { error = { "malformed", "no JSON" } }, measure, { error = { "auth", "HTTP 401: no" } } }
  check.equal(r.ended, "gave up")
  check.matches(r.reason, "auth.*HTTP 401")
  check.equal(r.best, 1)
  _, r = react { files, measure }
  check.matches(r.reason, "has 2 exchanges, and this is one more")
end)

check.test("submit without anything right is refused once", function()
  local _, r = react { { "", { "submit" } }, { "", { "submit", { give_up = true } } } }
  check.equal(r.ended, "submitted")
  check.equal(#r.turns, 0)
  check.equal(r.spent.replies, 2)
end)

check.test("what cannot work is said at once, with the exit code of its kind", function()
  local r, status, err = program(agent.cassette(dir, "none", { { error = { "auth", "HTTP 401: no" } } }))
  check.equal(status, 3, err)
  check.equal(r.ended, "failed")
  check.matches(err, "the model: HTTP 401")
  _, r = react({ submit }, { agent = { prompt = "no/such.md" } })
  check.matches(r.reason, "no/such.md")
  local path = check.write(dir .. "/p.md", "Hello {{tsak}}")
  r, status, err = program("x", "--set agent.prompt=" .. path)
  check.equal(status, 2, err)
  check.matches(err, "{{tsak}} %(did you mean 'task'")
  _, r = react({ submit }, { agent = { readable = { "task", "kernel" } } })
  check.matches(r.reason, "no 'kernel' %(did you mean 'kernels'")
end)

-- A conversation of n rounds, each with a long result.
local function talk(n)
  local list = { { role = "system", text = "system" }, { role = "user", text = "Begin." } }
  for i = 1, n do
    local call = { id = "c" .. i, name = "write_file", arguments = { path = "a", text = ("x"):rep(2000) } }
    call.raw = core.json.encode(call.arguments)
    list[#list + 1] = { role = "assistant", text = "round " .. i, calls = { call } }
    list[#list + 1] = { role = "tool", id = "c" .. i, name = "write_file", text = "verdict " .. i .. "\n" .. ("y"):rep(3000) }
  end
  return list
end

local function bytes(list)
  local n = 0
  for _, m in ipairs(list) do
    n = n + #m.text
    for _, c in ipairs(m.calls or {}) do n = n + #c.raw end
  end
  return n
end

local run = { turns = {}, options = { agent = { keep = 3 } } }

check.test("context: what fits is left alone; then old results are cut, the latest stay whole", function()
  local all = talk(10)
  assert(context.fit(all, 1 << 20, run) == all)
  local fit = context.fit(all, 25000, run)
  check.equal(#fit, #all)
  assert(bytes(fit) <= 25000, bytes(fit))
  check.matches(fit[4].text, "^verdict 1\n%[an older result: %d+ bytes are left out%]$")
  assert(fit[3].calls[1].arguments.text:find "bytes are left out")
  for i = #all - 5, #all do assert(fit[i] == all[i]) end
  assert(all[4].text:find "yyy")                              -- the conversation itself is not changed
end)

check.test("context: then whole rounds go, calls with their results, and the lessons stay", function()
  local candidate = { source = "the best kernel", plan = "its plan", hash = "h" }
  local best = { number = 1, ok = true, time_s = { median = 1e-6, lo = 1e-6, hi = 1e-6, samples = 1 }, reward = 2, note = "tiles",
                 candidate = candidate }
  local with = { turns = { best, { number = 2, ok = false, stage = "verify", reason = "wrong\nmore" } }, best = best,
                 options = run.options }
  local fit = context.fit(talk(40), 14000, with)
  assert(bytes(fit) <= 16000, bytes(fit))
  check.equal(fit[1].text, "system")
  check.equal(fit[2].text, "Begin.")
  check.matches(fit[3].text, "messages are left out.*turn 1: pass, 1 us.*tiles\n.*turn 2: failed at verify: wrong\n.*the best kernel.*its plan")
  check.equal(fit[4].role, "assistant")
  local open = {}
  for i = 4, #fit do
    for _, c in ipairs(fit[i].calls or {}) do open[c.id] = true end
    if fit[i].role == "tool" then
      assert(open[fit[i].id], "a result without its call")
      open[fit[i].id] = nil
    end
  end
  assert(not next(open), "a call without its result")
  check.equal(fit[#fit].text:match "^verdict %d+", "verdict 40")
end)

return check.done()

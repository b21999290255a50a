-- `cawb export --trajectory`: what a trainer gets of a run with a model, of one without, of one
-- that did not end.

local check = dofile "tests/support/check.lua"
local core = require "cawb.core"

local dir = check.folder()

local function cawb(words)
  local out, status = check.shell(("'%s' %s 2>%s/err"):format(core.program, words, dir))
  return out, status, assert(io.open(dir .. "/err")):read "a"
end

local function decoded(out)
  local lines = {}
  for line in out:gmatch "[^\n]+" do lines[#lines + 1] = assert(core.json.decode(line)) end
  return lines
end

local function run(words)
  local out, status, err = cawb(words .. " --device sim:h100 --json --quiet --out " .. dir .. "/runs")
  check.equal(status, 0, err)
  return assert(core.json.decode(out:match "([^\n]+)\n?$"))
end

local function of(lines, kind)
  local list = {}
  for _, line in ipairs(lines) do if line.type == kind then list[#list + 1] = line end end
  return list
end

local agent = run("strategies/react.lua examples/softmax.py --set model.name=hand "
  .. "--set cassette.replay=tests/agent/cassettes/react_softmax.jsonl --set task.rows=64 --set sweep.variants=2")
local ladder = run "strategies/ladder.lua examples/softmax.py --set turns=2 --set task.rows=8 --set task.cols=64"

check.test("an agent's run: the conversation, a reward for every turn, and the final one", function()
  local out, status = cawb(("export %s --trajectory --out %s/runs"):format(agent.run, dir))
  check.equal(status, 0)
  local lines = decoded(out)
  check.equal(lines[1].type, "run")
  check.equal(lines[1].run, agent.run)
  check.equal(lines[1].modelled, true)
  check.equal(lines[1].options.model.name, "hand")
  check.equal(lines[2].role, "system")
  local last = lines[#lines]
  check.equal(last.type, "end")
  check.equal(last.reward, agent.turns[agent.best].reward)
  check.equal(last.status, "passed")
  check.equal(last.spent.replies, 9)
  local turns = of(lines, "turn")
  check.equal(#turns, #agent.turns)
  for i, turn in ipairs(turns) do
    check.equal(turn.number, i)
    check.equal(turn.reward, agent.turns[i].reward)
    check.equal(turn.verdict.ok, agent.turns[i].ok)
    check.matches(turn.candidate.source, "__global__")
    check.matches(turn.candidate.plan, "launch")
  end
end)

check.test("every call has its result, and every turn stands ahead of the message that tells of it", function()
  local lines = decoded((cawb(("export %s/runs/%s --trajectory"):format(dir, agent.run))))
  local open, turn, told, tokens = {}, 0, 0, 0
  for _, line in ipairs(lines) do
    if line.type == "turn" then turn = line.number end
    if line.role == "assistant" then
      check.equal(next(open), nil, "a call without a result")
      assert(line.usage.input > 0 and line.usage.output > 0)
      tokens = tokens + line.usage.input + line.usage.output
      for _, call in ipairs(line.tool_calls or {}) do
        check.equal(call.type, "function")
        assert(core.json.decode(call["function"].arguments))
        open[call.id] = call["function"].name
      end
    elseif line.role == "tool" then
      check.equal(open[line.tool_call_id], line.name)
      open[line.tool_call_id] = nil
      if line.turn then
        check.equal(line.turn, turn)
        check.equal(line.reward, agent.turns[turn].reward)
        told = told + 1
      end
    end
  end
  check.equal(told, #agent.turns)
  local last = lines[#lines]
  check.equal(last.usage.input + last.usage.output, tokens)
  check.equal(last.spent.tokens, tokens)
end)

check.test("a run without a model has its turns", function()
  local lines = decoded((cawb(("export %s --trajectory --out %s/runs"):format(ladder.run, dir))))
  check.equal(#of(lines, "message"), 0)
  check.equal(#of(lines, "turn"), 2)
  check.equal(lines[#lines].ended, "turns")
end)

check.test("--all has every run, --to writes a file", function()
  local out, status = cawb(("export --all --trajectory --out %s/runs --to %s/all.jsonl"):format(dir, dir))
  check.equal(out .. status, "0")
  local lines = decoded(assert(io.open(dir .. "/all.jsonl")):read "a")
  check.equal(#of(lines, "run"), 2)
  check.equal(#of(lines, "end"), 2)
end)

check.test("a run that did not end says so", function()
  local store = assert(core.store.open(dir .. "/open"))
  assert(store:insert("environments", { hash = "e", json = "{}" }))
  assert(store:insert("runs", { id = "r", started = 1.0, environment = "e", options = "{}" }))
  assert(store:insert("events", { run = "r", number = 1, at = 2.0, kind = "paused", data = '{"why":"gone"}' }))
  store:close()
  local lines = decoded((cawb("export r --trajectory --out " .. dir .. "/open")))
  check.equal(#lines, 3)
  check.equal(lines[2].type, "paused")
  check.equal(lines[3].status, "open")
end)

check.test("wrong words are exit code 2, and say what is meant", function()
  for words, says in pairs {
    ["export"] = "say what to export", ["export --trajectory"] = "name a run, or %-%-all", ["export x --trajector"] = "unknown flag",
    ["export x --trajectory --out " .. dir .. "/none"] = "has no store.sqlite", ["export x y --trajectory"] = "one run",
    ["export x --trajectory --out " .. dir .. "/runs"] = "there is no run 'x'", ["export x --trajectory --to"] = "needs a value",
  } do
    local out, status, err = cawb(words)
    check.equal(status, 2, words .. out)
    check.matches(err, says)
  end
end)

return check.done()

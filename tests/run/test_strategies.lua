-- The strategies that ask without tools, from replies written by hand; and their comparison.

local check = dofile "tests/support/check.lua"
local agent = dofile "tests/support/agent.lua"
local compare = require "cawb.door.compare"
local core = require "cawb.core"
local feedback = require "cawb.agent.feedback"
local prompt = require "cawb.agent.prompt"
local proposals = require "cawb.agent.proposals"

local dir = check.folder()
local place <close> = agent.open(dir)

-- A reply that proposes a rung; `mark` makes it another candidate.
local function reply(rung, mark, edit)
  local source, plan = agent.rung("softmax/" .. rung)
  if edit then source = check.edit(source, edit[1], edit[2]) end
  return { ("I try %s.\n```cuda\n// %s\n%s```\n\n```lua\n%s```\n"):format(rung, mark or "", source, plan) }
end

local function finish(name, replies, set)
  set = set or {}
  set.model, set.cassette = { name = "hand" }, { replay = agent.cassette(dir, name, replies) }
  return place:finish(set, name)
end

-- What the model was told, in order.
local function said(run)
  local list = {}
  for _, e in ipairs(place:events(run)) do
    if e.data.role == "user" then list[#list + 1] = e.data.text end
  end
  return list
end

local wrong = { "* scale;", "* scale * 2.0f;" }

check.test("a candidate is read out of a reply, or what is missing is said", function()
  local c = assert(proposals.parse("First.\n```cuda\nold\n```\nBetter:\n~~~\n```cpp\nnew\n```\n```lua\nplan\n```", "n"))
  check.equal(c.source, "new\n")
  check.equal(c.plan, "plan\n")
  check.equal(c.note, "First.")
  check.equal(assert(proposals.parse("```cuda\na\n```\nThen\n```lua\nb\n```", "n")).note, nil, "a reply that begins with its kernel")
  c = assert(proposals.parse("x\r\n  ```CUDA kernel.cu\r\na\r\n```\r\n```lua\r\nb\r\n```\r\n", "n"))
  check.equal(c.source, "a\n")
  check.matches(select(2, proposals.parse("```cuda\na\n```", "n")), "```lua")
  check.matches(select(2, proposals.parse("```lua\na\n```", "n")), "```cuda")
  check.matches(select(2, proposals.parse("```cuda\na\n```\n```lua\nb", "n")), "not closed")
  check.matches(select(2, proposals.parse("", "n")), "```cuda")
end)

check.test("single: one candidate, one turn; a reply without one is told so", function()
  local run, r = finish("single", { { "I would use shared memory." }, reply "v3_shuffle" })
  check.equal(#r.turns, 1)
  check.equal(r.best, 1)
  check.equal(r.turns[1].note, "I try v3_shuffle.")
  check.matches(assert(prompt.fill("propose", run)), "Judged with cols = 64, rows = 16 in place of the values above")
  check.matches(feedback.turn(run, run.turns[1]), "The rms error is [%d.e-]+, eager PyTorch's [%d.e-]+%.\n.*0 turns")
  check.matches(said(run)[2], "There is no block that begins with ```cuda")
  run, r = finish("single", { { "No." }, { "No." }, { "No." } })
  check.equal(#r.turns, 0)
  check.equal(r.ended, "finished")
  check.equal(run.memory.unread, "3 replies in a row held no candidate; of the last: There is no block that begins with ```cuda: "
    .. "kernel.cu goes there, whole. cawb report shows them")
end)

check.test("best_of_n: independent samples, each of them a turn", function()
  local run, r = finish("best_of_n", { reply "v1_thread_per_row", reply("v3_shuffle", "wrong", wrong), reply "v3_shuffle" },
    { settings = { n = 3 } })
  check.equal(#r.turns, 3)
  check.equal(r.turns[2].stage, "verify")
  check.equal(r.best, 3)
  check.equal(#said(run), 3)
end)

check.test("repair: what came of a proposal is the next question", function()
  local run, r = finish("repair", { reply("v3_shuffle", "wrong", wrong), reply("v3_shuffle", "bad", { "__syncthreads();", "__syncthread();" }),
    reply "v3_shuffle", reply "v2_block_per_row" }, { turns = 4 })
  local told = said(run)
  check.equal(#r.turns, 4)
  check.matches(told[2], "FAILED at verify.*Repair it")
  check.matches(told[3], "FAILED at compile.*__syncthread.*\n> +%d+ | ")
  check.matches(told[4], "PASS: .*Profile: .*Make it faster")
  check.equal(r.ended, "turns")
end)

check.test("evolve: islands breed from their archives and their neighbours', the same way for the same seed", function()
  local replies = {}
  for i = 1, 6 do replies[i] = reply(i % 2 == 0 and "v3_shuffle" or "v2_block_per_row", i) end
  local set = { turns = 6, settings = { islands = 2, archive = 2, crossover = 1.0 } }
  local run, r = finish("evolve", replies, set)
  check.equal(#r.turns, 6)
  local told = said(run)
  check.equal(told[1], "Begin.")
  check.equal(told[2], "Begin.")
  check.matches(told[3], "^Turn 1%..*\nTurn 2%..*Write a candidate that is faster")
  check.matches(told[4], "^Turn 2%..*\nTurn 1%.")
  local function couples(texts)
    local words = {}
    for i, text in ipairs(texts) do
      words[i] = ""
      for n in text:gmatch "Turn (%d+)%.\n" do words[i] = words[i] .. n .. " " end
    end
    return table.concat(words, "|")
  end
  check.equal(couples(said((finish("evolve", replies, set)))), couples(told))
end)

check.test("beam: the best are asked for better ones", function()
  local run, r = finish("beam", { reply "v1_thread_per_row", reply "v3_shuffle", reply("v3_shuffle", "wrong", wrong),
    reply("v3_shuffle", "other") }, { turns = 4, settings = { width = 1, branch = 2 } })
  check.equal(#r.turns, 4)
  check.matches(said(run)[3], "^Turn 2%..*PASS")
  check.matches(said(run)[4], "^Turn 2%.")
end)

check.test("a reply that took the last of the budget is still evaluated", function()
  local _, r = finish("single", { reply "v3_shuffle" }, { budget = { replies = 1 } })
  check.equal(r.best, 1)
  _, r = finish("best_of_n", { reply "v3_shuffle", reply "v2_block_per_row", reply "v1_thread_per_row" },
    { settings = { n = 3 }, budget = { replies = 2 } })
  check.equal(#r.turns, 2)
  check.equal(r.ended, "replies")
end)

check.test("every strategy stops where its model has nothing more to say", function()
  for _, name in ipairs { "single", "best_of_n", "repair", "evolve", "beam" } do
    local _, r = finish(name, { reply "v3_shuffle" }, { settings = name == "best_of_n" and { n = 2 } or nil })
    check.equal(r.best, 1, name)
    assert(r.ended == "finished" or r.ended == "gave up", name .. " ended: " .. r.ended)
  end
end)

check.test("the best after every turn, for a curve", function()
  local function turn(n, ok, reward, us, speedup)
    return { number = n, ok = ok, reward = reward, time_s = { median = us }, speedup = { eager = { median = speedup } },
             spent = { tokens = 100 * n } }
  end
  local points = compare.curve { turns = { turn(1, false, -1), turn(2, true, 1, 5e-6, 0.9), turn(3, true, 1, 6e-6, 0.8),
    turn(4, true, 2, 4e-6, 1.2) } }
  check.equal(points[1].eager, nil)
  check.equal(points[2].eager, 0.9)
  check.equal(points[3].eager, 0.9)
  check.equal(points[4].eager, 1.2)
  check.equal(points[4].spent.tokens, 400)
end)

check.test("compare prints a table and writes the curves", function()
  local replies = { reply("v3_shuffle", "wrong", wrong), reply "v3_shuffle" }
  local out, status = check.shell(("'%s' strategies/side_by_side.lua -- single,repair examples/softmax.py --device sim:h100 "
    .. "--set turns=2 --set task.rows=16 --set task.cols=64 --set sweep.variants=2 --set model.name=hand --set cassette.replay=%s "
    .. "--out %s/compare 2>&1"):format(core.program, agent.cassette(dir, "compare", replies), dir))
  check.equal(status, 0, out)
  check.matches(out, "softmax  single .*\nsoftmax  repair ")
  check.matches(out, "modelled, not measured")
  local csv = assert(io.open(out:match "(%S+%.csv)")):read "a"
  check.matches(csv, "examples/softmax.py,repair,2,2,%d+,0")
  out, status = check.shell(("'%s' strategies/side_by_side.lua -- single 2>&1"):format(core.program))
  check.equal(status, 2)
  check.matches(out, "strategies and a task are needed")
end)

return check.done()
